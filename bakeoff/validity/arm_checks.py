"""What the probe of one arm says of that arm alone: does it see, stop, think and repeat itself as it says?"""

from collections.abc import Callable

from bakeoff.validity.findings import Finding, gaps, listed
from bakeoff.validity.probes import Probe, ProbeAnswer

_EQUAL = 1e-6
"""Log-probabilities closer than this are the same number."""

_REPEATED = 0.2
"""Gap above which the same prompt, asked again, got another answer: batched kernels round, they do not change that."""


def check_arm(probe: Probe) -> tuple[Finding, ...]:
    """Return all that is wrong with an arm by itself."""
    return tuple(finding for check in _CHECKS if (finding := check(probe)) is not None)


def _errors(probe: Probe) -> Finding | None:
    failed = {name: answer.error for name, answer in probe.answers.items() if answer.error}
    if not failed:
        return None
    first = next(iter(failed.values()))
    sentence = f"{probe.arm} gave no answer to {len(failed)} of {len(probe.answers)} probes; the first: {first}"
    return Finding(kind="error", arms=(probe.arm,), sentence=sentence, probes=tuple(failed))


def _blind(probe: Probe) -> Finding | None:
    """Whether two pictures, and no picture, make no difference."""
    one, other, none = (probe.answers.get(name) for name in ("square", "square-other", "text-picture"))
    if not _all_traced(one, other) or one is None or other is None:
        return None
    if not _identical(one, other):
        return None
    also = none is not None and _identical(one, none)
    sentence = (
        f"{probe.arm} answers two different pictures with the very same log-probabilities"
        f"{', which are also those without a picture' if also else ''}: the image is ignored, or a cache of the first "
        "picture answers for the second"
    )
    return Finding(kind="image ignored", arms=(probe.arm,), sentence=sentence, probes=("square", "square-other"))


def _early(probe: Probe) -> Finding | None:
    cut = [
        name
        for name, answer in probe.answers.items()
        if answer.finish_reason == "length" and (answer.completion_tokens or answer.max_tokens) < answer.max_tokens
    ]
    if not cut:
        return None
    answer = probe.answers[cut[0]]
    sentence = (
        f"{probe.arm} cuts answers at {answer.completion_tokens} tokens where {answer.max_tokens} were allowed: "
        "a budget of its own, or a context that is too small"
    )
    return Finding(kind="budget", arms=(probe.arm,), sentence=sentence, probes=tuple(cut))


def _lies(probe: Probe) -> Finding | None:
    """Whether answers that used up the budget are said to have stopped: one token is never a whole sentence."""
    single = probe.answers.get("one-token")
    spent = [
        name
        for name, answer in probe.answers.items()
        if answer.finish_reason == "stop" and answer.text.strip() and answer.completion_tokens == answer.max_tokens
    ]
    honest = any(answer.finish_reason == "length" for answer in probe.answers.values())
    is_sure = single is not None and "one-token" in spent and not honest
    if not (is_sure or (len(spent) > 1 and not honest)):
        return None
    sentence = (
        f"{probe.arm} says «stop» for {len(spent)} answers that used up their whole budget, and never «length»: its "
        "stop reason cannot be believed, so cut answers look whole"
    )
    return Finding(kind="stop reason", arms=(probe.arm,), sentence=sentence, probes=tuple(spent))


def _mixed(probe: Probe) -> Finding | None:
    changed = [
        name
        for name, again in probe.again.items()
        if not again.error and (first := probe.answers.get(name)) and not first.error and _changed(first, again)
    ]
    if not changed:
        return None
    sentence = (
        f"{probe.arm} answers {listed(changed)} differently when asked together with others and when asked alone: "
        "prompts in flight disturb each other. Run it with --concurrency 1"
    )
    return Finding(kind="batch", arms=(probe.arm,), sentence=sentence, probes=tuple(changed))


def _thinking(probe: Probe) -> Finding | None:
    seen = [name for name, answer in probe.answers.items() if answer.thinking]
    opened = [name for name, answer in probe.answers.items() if answer.prompt_mode == "on"]
    if probe.asked == "off" and (seen or opened):
        sentence = f"{probe.arm} was asked not to think and its {'outputs' if seen else 'prompts'} show that it does"
    elif probe.asked == "on" and not seen and not opened:
        sentence = f"{probe.arm} was asked to think, and neither its prompts nor its outputs show that it does"
    else:
        return None
    return Finding(kind="thinking", arms=(probe.arm,), sentence=sentence, probes=tuple(seen or opened))


def _begins_twice(probe: Probe) -> Finding | None:
    twice = [name for name, answer in probe.answers.items() if (answer.bos or 0) > 1]
    if not twice:
        return None
    sentence = f"{probe.arm} begins its prompts with {probe.answers[twice[0]].bos} beginning-of-sequence tokens"
    return Finding(kind="bos", arms=(probe.arm,), sentence=sentence, probes=tuple(twice))


_CHECKS: tuple[Callable[[Probe], Finding | None], ...] = (
    *(_errors, _blind, _early, _lies, _mixed, _thinking, _begins_twice),
)


def _all_traced(*answers: ProbeAnswer | None) -> bool:
    return all(answer is not None and answer.tokens for answer in answers)


def _identical(a: ProbeAnswer, b: ProbeAnswer) -> bool:
    if a.text != b.text or len(a.tokens) != len(b.tokens) or not a.tokens:
        return False
    return all(gap < _EQUAL for gap in gaps(a.tokens, b.tokens))


def _changed(first: ProbeAnswer, again: ProbeAnswer) -> bool:
    if first.tokens and again.tokens:
        return max(gaps(first.tokens, again.tokens)) > _REPEATED
    return first.text != again.text
