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
    """A worker that notes what it is sent."""

    shutting_down = False

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.sent: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.sent.extend(indices)

    def shutdown(self) -> None:
        self.shutting_down = True


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
