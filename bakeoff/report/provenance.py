"""What made a run, as names and texts: arms, options, environment. What was not set is told from what is not known."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from bakeoff.report import numbers
from bakeoff.report.arms import runtime
from bakeoff.report.results import ArmResult

Facts = tuple[tuple[str, str], ...]

NOT_SET = "not set"
"""An option that nobody gave: the runtime's or the suite's own default holds."""
NOT_STATED = "none stated"
"""Files and runtimes state some things and leave out others, such as the revision of a plain folder."""
NOT_KNOWN = "not known"


def about_arm(arm: ArmResult) -> Facts:
    """Return model, runtime, identity and settings of an arm, each once."""
    stated = arm.identity.get("runtime")
    names = dict.fromkeys((runtime(arm.backend), *([stated] if isinstance(stated, str) else [])))
    settings = arm.settings
    identity = {
        name: value
        for name, value in arm.identity.items()
        if name != "runtime" and (name not in settings or settings[name] != value)
    }
    return (
        ("model", arm.model),
        ("runtime", ", ".join(names)),
        *_flat(identity, "", NOT_STATED),
        *_flat(settings, "settings.", NOT_SET),
    )


def about_inputs(fingerprint: Mapping[str, Any]) -> Facts:
    """Return the inputs that make an arm's numbers."""
    return tuple(
        fact
        for name, value in fingerprint.items()
        for fact in _flat({name: value}, "", NOT_STATED if name.startswith("model.") else NOT_SET)
    )


def about_options(options: Mapping[str, Any]) -> Facts:
    """Return the options of a run; an empty list is an option that nobody gave."""
    return tuple(_flat({name: None if value == [] else value for name, value in options.items()}, "", NOT_SET))


def unset_last(facts: Facts) -> Facts:
    """Return the facts with the names of all that is not set gathered in a last one."""
    unset = ", ".join(name for name, value in facts if value == NOT_SET)
    return (*(fact for fact in facts if fact[1] != NOT_SET), *([(NOT_SET, unset)] if unset else []))


def about(values: Mapping[str, Any]) -> Facts:
    """Return nested values as dotted names and text, in the order they came."""
    return tuple(_flat(values, "", NOT_KNOWN))


def _flat(values: Mapping[str, Any], prefix: str, missing: str) -> Iterable[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.", missing)
        else:
            yield f"{prefix}{name}", missing if value is None else _told(name, value)


def _told(name: str, value: Any) -> str:
    if isinstance(value, int) and name.endswith("_bytes"):
        return numbers.memory(value)
    return numbers.count(value) if isinstance(value, int) and name == "parameters" else _plain(value)


def _plain(value: Any) -> str:
    match value:
        case None:
            return NOT_KNOWN
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(value).replace("-", numbers.MINUS)
        case list() | tuple():
            return ", ".join(_plain(item) for item in value) or "none"
        case dict():
            return "none"
        case _:
            return re.sub("^([0-9a-f]{64})$", lambda found: f"{numbers.short_hash(found[1])}…", str(value))
