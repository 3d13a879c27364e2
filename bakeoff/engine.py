"""Keeps a backend busy ahead of the one who waits for answers, and brings it back when it dies.

The engine knows the order of the session's prompts and keeps a window of them in flight. Whoever needs an answer waits
for its own; results are matched by sample id, never by position. When the runtime dies, everything in flight is set
aside, the runtime is brought back, and the awaited prompt is tried once more, alone: if it kills the runtime again it
is to blame, and the others go on.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait

import msgspec

from bakeoff.backends import Backend
from bakeoff.errors import BackendDied
from bakeoff.records import Output, Prompt


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An output and how many attempts it took in this session."""

    output: Output
    attempts: int


class Engine:
    """Answers prompts of one arm. Not thread-safe: one consumer, which is the pytest loop.

    Args:
        backend: the loaded model.
        order: sample ids in the order in which they will be asked for.
        prompt_of: makes the prompt of a sample; called when it enters the window, so few prompts exist at a time.
        window: prompts in flight.
    """

    def __init__(
        self, backend: Backend, order: Iterable[str], prompt_of: Callable[[str], Prompt], *, window: int
    ) -> None:
        self.backend = backend
        self._waiting = deque(order)
        self._prompt_of = prompt_of
        self._window = max(1, window)
        self._flying: dict[str, Future[Output]] = {}

    def answer(self, sample_id: str) -> Answer:
        """Return the answer to a sample, waiting for it.

        Raises:
            BackendError: when the sample got no valid output.
        """
        self._launch(sample_id)
        self._fill()
        try:
            return Answer(output=self._flying[sample_id].result(), attempts=1)
        except BackendDied:
            self._set_aside(sample_id)
            return self._try_alone(sample_id)
        finally:
            self._flying.pop(sample_id, None)

    def close(self) -> None:
        """Drop what is in flight and close the backend."""
        for future in self._flying.values():
            future.cancel()
        self._waiting.clear()
        self._flying.clear()
        self.backend.close()

    def _launch(self, sample_id: str) -> None:
        """Put one sample into flight; the order may have been left by `-x`, `--lf` or a plugin."""
        if sample_id not in self._flying:
            if self._waiting and self._waiting[0] == sample_id:
                self._waiting.popleft()
            elif sample_id in self._waiting:
                self._waiting.remove(sample_id)
            self._flying[sample_id] = self.backend.submit(self._prompt_of(sample_id))

    def _fill(self) -> None:
        while self._waiting and len(self._flying) < self._window:
            self._launch(self._waiting[0])

    def _set_aside(self, sample_id: str) -> None:
        """Take back all that died together with `sample_id`; what got its answer keeps it."""
        others = {name: future for name, future in self._flying.items() if name != sample_id}
        wait(others.values())
        died = [name for name, future in others.items() if isinstance(future.exception(), BackendDied)]
        for name in died:
            del self._flying[name]
        self._waiting.extendleft(reversed(died))

    def _try_alone(self, sample_id: str) -> Answer:
        self.backend.restart()
        try:
            return Answer(output=self.backend.submit(self._prompt_of(sample_id)).result(), attempts=2)
        except BackendDied as error:
            self.backend.restart()
            raise BackendDied(f"{sample_id} brought the runtime down twice: {error}") from error
