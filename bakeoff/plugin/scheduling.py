"""How xdist shares samples out: questions on one image go to one worker, whose slot has read it."""

from collections import Counter
from collections.abc import Mapping

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from bakeoff.plugin.planning import Plan

TOGETHER = 16
"""Most questions on one image that are handed out in one piece, so that one image does not wait for a single worker."""

_LEAST = 2
"""Tests that a worker must know of to begin one."""


class ImageScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist is not typed
    """xdist's scheduler of groups, with the questions on an image as a group, in the order planned."""

    def __init__(self, config: pytest.Config, log: Producer | None, groups: Mapping[str, str]) -> None:
        config.option.loadscopereorder = False  # the largest groups first would undo the order arm, track, image
        super().__init__(config, log)
        self._groups = groups
        self._alone: set[str] = set()

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Take note, and forget a group that is done: xdist counts through all it remembers after every test."""
        super().mark_test_complete(node, item_index, duration)
        work = self.assigned_work[node]
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(work[scope].values()):
            del work[scope]

    def mark_test_pending(self, item: str) -> None:
        """Give a test out again, before all others and apart from its group, which another worker may have by now."""
        self._alone.add(item)
        self.workqueue[item] = {item: False}
        self.workqueue.move_to_end(item, last=False)
        for node in self.nodes:
            self._reschedule(node)

    def remove_node(self, node: WorkerController) -> str | None:
        """Give the tests of a worker that is gone to others, but for the one that it crashed on, which is returned."""
        work = self.assigned_work[node]
        crashed = next((test for unit in work.values() for test, is_done in unit.items() if not is_done), None)
        for scope, unit in tuple(work.items()):
            if crashed in unit:
                unit[crashed] = True
            if all(unit.values()):  # a group of which nothing is left would keep a worker waiting
                del work[scope]
        super().remove_node(node)
        return crashed

    def _reschedule(self, node: WorkerController) -> None:
        """Give a worker what it needs to go on: it begins a test only when it knows the next, or that there is none.

        xdist gives one group and comes back when a test is done, so a worker that starts in place of a lost one and
        gets a group of one test would wait for good. One that has not told what it collected cannot be given any.
        """
        if node not in self.registered_collections:
            return
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < _LEAST:
            self._assign_work_unit(node)
        if not self.workqueue and self._pending_of(self.assigned_work[node]) < _LEAST:
            node.shutdown()

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid in self._alone else self._groups.get(case_id(nodeid), nodeid)


def case_id(nodeid: str) -> str:
    """Return the id of the parameter in the id of a test."""
    return nodeid.partition("[")[2].rpartition("]")[0]


def image_groups(plan: Plan) -> dict[str, str]:
    """Return the group of every case with images, by the id of its parameter."""
    groups: dict[str, str] = {}
    for spec in plan.arms:
        seen: Counter[str] = Counter()
        for name, track in plan.tracks.items():
            for sample in track.samples:
                if sample.images:
                    image = f"{spec.arm} {name} {sample.cluster}"
                    groups[f"{spec.arm}-{sample.id}"] = f"{image} {seen[image] // TOGETHER}"
                    seen[image] += 1
    return groups
