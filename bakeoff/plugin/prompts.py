"""Prompts by sample id, made when they are asked for: those of all benchmarks at once would fill 100 MB."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping

from bakeoff.records import Prompt

_KEPT = 256
"""Prompts that are kept: the engine asks for one when it enters the window, the record when its answer is there."""


class Prompts(Mapping[str, Prompt]):
    """The prompts of `names`, in that order; `make` makes one."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Prompt]) -> None:
        self._names = dict.fromkeys(names)
        self._make = functools.lru_cache(maxsize=_KEPT)(make)

    def __getitem__(self, name: str) -> Prompt:
        if name not in self._names:
            raise KeyError(name)
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
