"""Everything that can go wrong, as one tree.

    BakeoffError
    ├── UsageProblem           what was asked for cannot be done; the message says what to type instead (exit code 4)
    │   ├── DataMissing        samples or images are not prepared, or are not what was prepared
    │   └── RunMismatch        a run cannot go on with other inputs than it began with
    └── BackendError           a sample got no valid output; recorded as an error, never as a score
        ├── BackendDied        the runtime stopped or cannot be reached
        ├── BackendTimeout     no answer within the time allowed
        └── ContextOverflow    prompt and budget do not fit into the context

A message says what happened, where, and what to type next.
"""

import difflib
from collections.abc import Iterable


class BakeoffError(Exception):
    """Root of all errors that this package raises on purpose."""


class UsageProblem(BakeoffError):
    """The request cannot be carried out as it stands; nothing was started and nothing was lost."""


class DataMissing(UsageProblem):
    """Prepared data is absent, incomplete, or differs from what its manifest says."""


class RunMismatch(UsageProblem):
    """A stored run was made with other inputs than the ones at hand.

    Args:
        field: dotted name of the input that differs, such as `sampling.temperature`.
        stored: its value in the run directory.
        current: its value now.
        hint: what to type next.
    """

    def __init__(self, field: str, stored: object, current: object, hint: str) -> None:
        super().__init__(f"{field} differs from the stored run: it was {stored!r} and is now {current!r}.\n{hint}")
        self.field = field
        self.stored = stored
        self.current = current


class BackendError(BakeoffError):
    """A runtime gave no valid output for a prompt."""


class BackendDied(BackendError):
    """The runtime's process or connection is gone."""


class BackendTimeout(BackendError):
    """The runtime did not answer within the time allowed."""


class ContextOverflow(BackendError):
    """The prompt and its token budget need more positions than the context has."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question that ends a message, with the `known` word that `word` is nearest to; empty when none is."""
    near = difflib.get_close_matches(word.lower(), list(known), n=1)
    return f". Did you mean {near[0]}?" if near else ""
