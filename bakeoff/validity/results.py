"""What a gate says, whichever gate it is."""

from typing import Literal

import msgspec

Outcome = Literal["pass", "fail", "not enough data"]


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate was, what came out, and the numbers it came from, in words.

    `is_asked` is False for a gate that holds without being asked for, of which nobody needs to hear while it passes.
    """

    gate: str
    outcome: Outcome
    detail: str
    is_asked: bool = True

    @property
    def is_told(self) -> bool:
        """Whether terminal and JUnit show it; `results.json` and the page have all gates."""
        return self.is_asked or self.outcome != "pass"

    def fails(self, undecided: Literal["pass", "fail"]) -> bool:
        """Return whether the run fails by this gate; `undecided` says what too little data means."""
        return self.outcome == "fail" or (self.outcome == "not enough data" and undecided == "fail")
