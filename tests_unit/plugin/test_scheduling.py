"""How xdist shares out the questions on an image."""

import collections
from types import SimpleNamespace
from typing import Any

from bakeoff.models import resolve
from bakeoff.plugin.scheduling import TOGETHER, ImageScheduling, case_id, image_groups
from bakeoff.records import Image, Sample, TextTarget

ARM = resolve("fake:echo").arm


def sample(name: str, image: str | None) -> Sample:
    images = () if image is None else (Image(path="x.png", sha256=image, width=1, height=1),)
    return Sample(id=name, track="calibration", question="?", target=TextTarget(answers=("a",)), images=images)


def groups(*samples: Sample) -> dict[str, str]:
    track = SimpleNamespace(samples=samples)
    plan: Any = SimpleNamespace(arms=(resolve("fake:echo"),), tracks={"calibration": track})
    return image_groups(plan)


class Node:
    """A worker that notes what it is sent, and begins a test only when it knows the next, as xdist's does."""

    shutting_down = False

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.sent: list[int] = []
        self.done: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.sent.extend(indices)

    def shutdown(self) -> None:
        self.shutting_down = True

    def work(self, scheduler: ImageScheduling) -> None:
        while len(self.sent) - len(self.done) > (0 if self.shutting_down else 1):
            self.done.append(self.sent[len(self.done)])
            scheduler.mark_test_complete(self, self.done[-1])


def replaced(scheduler: ImageScheduling, ids: list[str], name: str = "gw2") -> Node:
    """A worker in place of a lost one, which has collected."""
    node = Node(name)
    scheduler.add_node(node)
    scheduler.add_node_collection(node, ids)
    scheduler.schedule()
    return node


def scheduled(ids: list[str], found: dict[str, str]) -> tuple[ImageScheduling, list[Node]]:
    config: Any = SimpleNamespace(
        option=SimpleNamespace(loadscopereorder=True), getvalue={"tx": ["popen", "popen"]}.get, rootpath=None
    )
    scheduler = ImageScheduling(config, None, found)
    nodes = [Node("gw0"), Node("gw1")]
    for node in nodes:
        scheduler.add_node(node)
        scheduler.add_node_collection(node, ids)
    scheduler.schedule()
    return scheduler, nodes


def test_questions_on_an_image_are_one_group_of_limited_size_and_text_has_none() -> None:
    found = groups(*(sample(f"a{n}", "a") for n in range(TOGETHER + 1)), sample("b", "b"), sample("t", None))
    sizes = collections.Counter(found.values())
    assert sorted(sizes.values()) == [1, 1, TOGETHER]
    assert f"{ARM}-t" not in found
    assert case_id(f"x.py::test_sample[{ARM}-b]") in found


def test_a_worker_gets_whole_images_in_the_order_planned() -> None:
    names = [f"{image}{n}" for image in "abcd" for n in range(3)]
    ids = [f"t.py::test_sample[{ARM}-{name}]" for name in names]
    _, nodes = scheduled(ids, groups(*(sample(name, name[0]) for name in names)))
    assert [[names[i] for i in node.sent] for node in nodes] == [["a0", "a1", "a2"], ["b0", "b1", "b2"]]


def test_the_test_that_a_worker_crashed_on_is_told_and_not_given_to_another() -> None:
    names = [f"{image}{n}" for image in "abc" for n in range(3)]
    ids = [f"t.py::test_sample[{ARM}-{name}]" for name in names]
    scheduler, (one, other) = scheduled(ids, groups(*(sample(name, name[0]) for name in names)))
    scheduler.mark_test_complete(one, 0)
    assert scheduler.remove_node(one) == ids[1]
    for index in (3, 4, 5, 6, 7, 8):
        scheduler.mark_test_complete(other, index)
    assert sorted(other.sent) == [2, 3, 4, 5, 6, 7, 8]


def nine() -> tuple[list[str], dict[str, str]]:
    """Three images with three questions each."""
    names = [f"{image}{n}" for image in "abc" for n in range(3)]
    return [f"t.py::test_sample[{ARM}-{name}]" for name in names], groups(*(sample(n, n[0]) for n in names))


def test_a_test_given_back_goes_out_before_all_others_and_apart_from_its_group() -> None:
    ids, found = nine()
    scheduler, (one, other) = scheduled(ids, found)
    scheduler.mark_test_complete(one, 0)
    crashed = scheduler.remove_node(one)
    assert crashed == ids[1]
    scheduler.mark_test_pending(crashed)
    other.work(scheduler)
    assert other.done == [3, 4, 5, 1, 2, 6, 7, 8]
    assert scheduler.tests_finished


def test_a_test_given_back_is_done_once_when_the_same_worker_has_the_rest_of_its_group() -> None:
    ids, found = nine()
    scheduler, (one, other) = scheduled(ids[:6], found)
    other.work(scheduler)
    assert other.shutting_down
    assert scheduler.remove_node(one) == ids[0]
    scheduler.mark_test_pending(ids[0])
    third = replaced(scheduler, ids[:6])
    third.work(scheduler)
    assert sorted(third.done) == [0, 1, 2]
    assert scheduler.remove_node(third) is None


def test_a_test_given_back_that_takes_a_second_worker_down_is_told_again() -> None:
    ids, found = nine()
    scheduler, (one, other) = scheduled(ids, found)
    assert scheduler.remove_node(one) == ids[0]
    scheduler.mark_test_pending(ids[0])
    for index in (3, 4, 5):
        scheduler.mark_test_complete(other, index)
    assert scheduler.remove_node(other) == ids[0]
    third = replaced(scheduler, ids)
    third.work(scheduler)
    assert sorted(third.done) == [1, 2, 6, 7, 8]


def test_a_worker_in_place_of_a_lost_one_does_not_wait_for_good_with_one_test() -> None:
    ids = [f"t.py::test_sample[{ARM}-t{n}]" for n in range(5)]
    scheduler, (one, other) = scheduled(ids, {})
    other.work(scheduler)
    assert scheduler.remove_node(one) is not None
    assert other.shutting_down
    third = replaced(scheduler, ids)
    third.work(scheduler)
    assert len(other.done) + len(third.done) == len(ids) - 1
    assert third.shutting_down


def test_a_worker_that_still_collects_is_given_nothing_when_another_is_lost() -> None:
    ids, found = nine()
    scheduler, (one, other) = scheduled(ids, found)
    scheduler.remove_node(one)
    third = Node("gw2")
    scheduler.add_node(third)
    scheduler.remove_node(other)
    scheduler.add_node_collection(third, ids)
    scheduler.schedule()
    third.work(scheduler)
    assert sorted(third.done) == [1, 2, 4, 5, 6, 7, 8]
