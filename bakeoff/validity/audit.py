"""Does an answer depend on what else is in flight? The same samples alone and together, at temperature 0."""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

import msgspec

from bakeoff.backends import Backend
from bakeoff.errors import BackendError, UsageProblem
from bakeoff.files import write_atomically
from bakeoff.records import Output, Prompt
from bakeoff.runs import RunDirectory, pretty_json
from bakeoff.validity.sameness import ask, compare

Kept = TypeVar("Kept", bound=msgspec.Struct)

MAX_FLIPS: Final = 0.01
"""Share of changed answers above which prompts are asked one at a time."""

_LOOP: Final = re.compile(r"(.{1,40}?)\1{7,}\s*\S{0,40}$", re.DOTALL)
"""The end of a text that says one thing eight times or more."""


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """What `n` samples said alone and together with up to `concurrency` others.

    `flips` changed; `repeated` end in a loop and `empty` say nothing, alone and together; `failed` got no answer
    together. `dropped` says that the run went on with one prompt at a time.
    """

    arm: str
    n: int
    concurrency: int
    flips: int
    flipped: tuple[str, ...] = ()
    repeated: tuple[int, int] = (0, 0)
    empty: tuple[int, int] = (0, 0)
    failed: int = 0
    dropped: bool = False

    @property
    def is_safe(self) -> bool:
        """Whether at most `MAX_FLIPS` changed and none failed for being asked together."""
        return self.flips <= MAX_FLIPS * self.n and not self.failed

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        where = f" ({', '.join(self.flipped[:3])})" if self.flipped else ""
        rates = (
            f"{self.repeated[0]} and {self.repeated[1]} end in a loop, {self.empty[0]} and {self.empty[1]} are empty"
        )
        failed = f", {self.failed} got no answer together" if self.failed else ""
        text = (
            f"{self.arm}: {self.flips} of {self.n} answers change at temperature 0 when {self.concurrency} prompts are "
            f"in flight{where}{failed}; {rates}, alone and together"
        )
        return f"{text}; asked one at a time from here on" if self.dropped else text


def audit_arm(backend: Backend, arm: str, prompts: Mapping[str, Prompt], concurrency: int) -> Audit:
    """Ask `prompts` one after the other, then `concurrency` at a time, and return what changed.

    A sample that gets no answer alone says nothing of company and is left out of `n`.
    """
    greedy = {
        name: msgspec.structs.replace(prompt, sampling=msgspec.structs.replace(prompt.sampling, temperature=0.0))
        for name, prompt in prompts.items()
    }
    alone = _answered(ask(backend, greedy, 1))
    together = _answered(ask(backend, {name: greedy[name] for name in alone}, concurrency))
    flipped = tuple(parting.sample_id for parting in compare(alone, together).parted)
    return Audit(
        arm=arm,
        n=len(alone),
        concurrency=concurrency,
        flips=len(flipped),
        flipped=flipped,
        repeated=(_count(alone, is_loop), _count(together, is_loop)),
        empty=(_count(alone, _is_empty), _count(together, _is_empty)),
        failed=len(alone) - len(together),
    )


def _answered(asked: Mapping[str, Output | BackendError]) -> dict[str, Output]:
    return {name: output for name, output in asked.items() if isinstance(output, Output)}


def is_loop(text: str) -> bool:
    """Return whether a text ends by saying the same again and again."""
    return _LOOP.search(text[-600:]) is not None


def _is_empty(text: str) -> bool:
    return not text.strip()


def _count(outputs: Mapping[str, Output], holds: Callable[[str], bool]) -> int:
    return sum(holds(output.text) for output in outputs.values())


def write_audit(run: RunDirectory, audit: Audit) -> None:
    """Write `audit/<arm>.json`."""
    write_atomically(run.path / "audit" / f"{audit.arm}.json", pretty_json(msgspec.to_builtins(audit)))


def read_audits(run: RunDirectory) -> dict[str, Audit]:
    """Return the audits of a run by arm.

    Raises:
        UsageProblem: when a file is not readable.
    """
    return read_folder(run, "audit", Audit)


def read_folder(run: RunDirectory, folder: str, kind: type[Kept]) -> dict[str, Kept]:
    """Return what `<folder>/<arm>.json` hold, by arm."""
    found: dict[str, Kept] = {}
    for path in sorted((run.path / folder).glob("*.json")):
        try:
            found[path.stem] = msgspec.json.decode(path.read_bytes(), type=kind)
        except ValueError as error:
            raise UsageProblem(f"{path} is not readable: {error}.\nRemove it to report without it") from error
    return found
