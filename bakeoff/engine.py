"""Keeps a backend busy ahead of the one who waits for answers, and brings it back when it dies.

The engine knows the order of the session's prompts and keeps a window of them in flight. Whoever needs an answer waits
for its own; results are matched by sample id, never by position. When the runtime dies, what it was working on is under
suspicion: each of these is tried once more, alone, and one that kills the runtime again is to blame. What had not been
begun, and what has its answer already, is not touched.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait

import msgspec

from bakeoff.backends import Backend, ForesightedBackend
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
        self._suspects: set[str] = set()
        self._foresees = backend.foresee if isinstance(backend, ForesightedBackend) else None

    def answer(self, sample_id: str, *, following: str | None = None) -> Answer:
        """Return the answer to a sample, waiting for it.

        `following` is the sample asked for after it, for an engine that was given no order.

        Raises:
            BackendError: when the sample got no valid output.
        """
        if sample_id in self._suspects:
            self._take(sample_id)
            return self._try_alone(sample_id, attempts=1)
        self._launch(sample_id, following)
        self._fill()
        try:
            return Answer(output=self._flying[sample_id].result(), attempts=1)
        except BackendDied:
            self._set_aside(sample_id)
            self.backend.restart()
            return self._try_alone(sample_id, attempts=2)
        finally:
            self._flying.pop(sample_id, None)

    def refusal(self, sample_id: str) -> str | None:
        """Return why the backend cannot be asked a sample at all; None when it can."""
        most = self.backend.capabilities.max_images
        if most is None or len(self._prompt_of(sample_id).images) <= most:
            return None
        return f"it shows {len(self._prompt_of(sample_id).images)} images and this backend takes {most} a prompt"

    def close(self) -> None:
        """Drop what is in flight and close the backend."""
        for future in self._flying.values():
            future.cancel()
        self._waiting.clear()
        self._flying.clear()
        self.backend.close()

    def _launch(self, sample_id: str, following: str | None = None) -> None:
        """Put one sample into flight, and tell the backend what comes after it."""
        if sample_id in self._flying:
            return
        self._take(sample_id)
        following = self._waiting[0] if self._waiting else following
        if self._foresees is not None and following is not None:
            self._foresees(self._prompt_of(following))
        self._flying[sample_id] = self.backend.submit(self._prompt_of(sample_id))

    def _take(self, sample_id: str) -> None:
        """Take a sample out of the waiting ones; the order may have been left by `-x`, `--lf` or a plugin."""
        if self._waiting and self._waiting[0] == sample_id:
            self._waiting.popleft()
        elif sample_id in self._waiting:
            self._waiting.remove(sample_id)

    def _fill(self) -> None:
        """Fill the window, unless suspects wait: they are tried without company."""
        while self._waiting and len(self._flying) < self._window and not self._suspects:
            if self.refusal(self._waiting[0]):
                self._waiting.popleft()
            else:
                self._launch(self._waiting[0])

    def _set_aside(self, sample_id: str) -> None:
        """Take back what was in flight beside `sample_id`: what was not begun as it is, what died as a suspect."""
        others = {name: future for name, future in self._flying.items() if name != sample_id}
        back = {name for name, future in reversed(others.items()) if future.cancel()}
        wait(future for name, future in others.items() if name not in back)
        died = {name for name, f in others.items() if name not in back and isinstance(f.exception(), BackendDied)}
        self._suspects |= died
        for name in [*back, *died]:
            del self._flying[name]
        self._waiting.extendleft(name for name in reversed(others) if name in back | died)

    def _try_alone(self, sample_id: str, *, attempts: int) -> Answer:
        self._suspects.discard(sample_id)
        try:
            output = self.backend.submit(self._prompt_of(sample_id)).result()
        except BackendDied as error:
            self.backend.restart()
            raise BackendDied(f"{sample_id} brought the runtime down twice: {error}") from error
        return Answer(output=output, attempts=attempts)
