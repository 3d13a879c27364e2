"""Asks a target to be of the kind a rule needs."""

from typing import TypeVar

from bakeoff.records import BoxTarget, NumberTarget, OptionTarget, Target, TextTarget

_Target = TypeVar("_Target", BoxTarget, OptionTarget, TextTarget, NumberTarget)


def expect(target: Target, kind: type[_Target]) -> _Target:
    """Return `target` as `kind`.

    Raises:
        TypeError: when it is another kind, which is a mistake in a track and not in an answer.
    """
    if not isinstance(target, kind):
        raise TypeError(f"this scorer needs a {kind.__name__}, not a {type(target).__name__}")
    return target
