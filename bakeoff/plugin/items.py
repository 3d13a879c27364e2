"""From pytest's items to samples and back."""

from collections.abc import Callable

import pytest

from bakeoff.plugin.planning import Case, Unprepared
from bakeoff.runs import Selection


def parameter_of(item: pytest.Item) -> Case | Unprepared | None:
    """Return what an item was made for, None for an ordinary test."""
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("case") if callspec is not None else None
    return case if isinstance(case, Case | Unprepared) else None


def case_of(item: pytest.Item) -> Case | None:
    """Return the Case that an item was made for, None for any other."""
    case = parameter_of(item)
    return case if isinstance(case, Case) else None


def first_places(items: list[pytest.Item]) -> dict[Case, tuple[int, int]]:
    """Return for each case where its images, and they after its system text, are asked about first."""
    first: dict[tuple[str | None, ...], int] = {}
    found: dict[Case, tuple[int, int]] = {}
    for place, item in enumerate(items):
        if case := case_of(item):
            image = (case.arm, case.sample.track, case.sample.cluster)
            found[case] = (
                first.setdefault(image, place),
                first.setdefault((*image, case.sample.system), place),
            )
    return found


def selection_of(items: list[pytest.Item]) -> Selection:
    """Return the samples that items stand for, by arm and track."""
    selection: Selection = {}
    for item in items:
        if case := case_of(item):
            selection.setdefault(case.arm, {}).setdefault(case.sample.track, []).append(case.sample.id)
    return selection


def deselect(config: pytest.Config, items: list[pytest.Item], is_out: Callable[[Case | Unprepared], bool]) -> int:
    """Leave out the items whose parameter `is_out`, tell pytest, and return how many."""
    out = [item for item in items if (case := parameter_of(item)) and is_out(case)]
    if out:
        gone = set(map(id, out))
        items[:] = [item for item in items if id(item) not in gone]
        config.hook.pytest_deselected(items=out)
    return len(out)
