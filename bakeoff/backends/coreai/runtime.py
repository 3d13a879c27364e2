"""Core AI's Python runtime, driven from one thread on one event loop of its own.

Loading and calling are asynchronous in `coreai.runtime`; here they are waited for. What is not awaitable is taken as it
is, so that a runtime that answers at once works too.
"""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bakeoff.errors import UsageProblem

Arrays = Mapping[str, NDArray[Any]]


class Runtime:
    """The runtime and its event loop. Make, use and close it on one thread."""

    def __init__(self) -> None:
        import coreai.runtime  # noqa: PLC0415 - on other machines than those of Core AI there is none

        self._coreai: Any = coreai.runtime
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.close()

    def load(self, path: Path) -> "Function":
        """Return the first function of a bundle, loaded with the runtime's default options."""
        model = self.wait(self._coreai.AIModel.load(path, self._coreai.SpecializationOptions.default()))
        names = model.function_names
        if not names:
            raise UsageProblem(f"{path} holds no function")
        return Function(self, model.load_function(names[0]), path)

    def array(self, values: NDArray[Any]) -> Any:
        """Return values as the runtime's own array, a copy of them."""
        return self._coreai.NDArray(np.ascontiguousarray(values))

    def wait(self, thing: Any) -> Any:
        """Return what an awaitable comes to, and anything else as it is."""
        return self._runner.run(_result(thing)) if inspect.isawaitable(thing) else thing


class Function:
    """A loaded function with the names, types and sizes that it states of itself."""

    def __init__(self, runtime: Runtime, function: Any, path: Path) -> None:
        self._runtime = runtime
        self._function = function
        self.path = path
        stated = function.desc
        self.inputs = {name: _Stated(stated.input_descriptor(name)) for name in stated.input_names}
        self.outputs = {name: _Stated(stated.output_descriptor(name)) for name in stated.output_names}
        self.states = {name: _Stated(stated.state_descriptor(name)) for name in stated.state_names}

    def expect(self, inputs: Mapping[str, Sequence[int | None]], states: Mapping[str, Sequence[int | None]]) -> None:
        """Hold what the function states against what its callers will give it; None is any size.

        Raises:
            UsageProblem: naming the first thing that does not fit.
        """
        for kind, wanted, stated in (("input", inputs, self.inputs), ("state", states, self.states)):
            if set(wanted) != set(stated):
                raise UsageProblem(f"{self.path}: its {kind}s are {sorted(stated)}, not {sorted(wanted)}")
            for name, sizes in wanted.items():
                if not stated[name].takes(sizes):
                    raise UsageProblem(
                        f"{self.path}: {kind} {name} has the sizes {list(stated[name].sizes)} and the model's files "
                        f"say {list(sizes)}. The bundle and the tokenizer's folder belong to different models"
                    )

    def zeros(self, name: str, sizes: Sequence[int]) -> Any:
        """Return a state array of zeros."""
        return self._runtime.array(np.zeros(sizes, self.states[name].dtype))

    def __call__(self, inputs: Arrays, state: Mapping[str, Any] | None = None) -> dict[str, NDArray[Any]]:
        """Call the function and return copies of its outputs; the arrays of `state` are changed in place."""
        given = {
            name: self._runtime.array(np.asarray(values, self.inputs[name].dtype)) for name, values in inputs.items()
        }
        found = self._runtime.wait(self._function(given, dict(state or {})))
        return {name: np.array(values.numpy()) for name, values in found.items()}


class _Stated:
    """Type and sizes of one array as the function states them; None is a size that may vary."""

    def __init__(self, descriptor: Any) -> None:
        self.dtype = np.dtype(descriptor.dtype)
        self.sizes: tuple[int | None, ...] = tuple(descriptor.shape)

    def takes(self, sizes: Sequence[int | None]) -> bool:
        """Whether an array of `sizes` fits."""
        return len(sizes) == len(self.sizes) and all(
            a is None or b is None or a == b for a, b in zip(sizes, self.sizes, strict=True)
        )


async def _result(awaitable: Any) -> Any:
    return await awaitable
