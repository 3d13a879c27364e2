"""Which hosts may take part in a fleet, what they are called, and when one counts as silent."""

import re
import threading
from types import SimpleNamespace
from typing import Any, cast

import execnet
import msgspec
import pytest

from bakeoff.evaluate import Asking
from bakeoff.models import resolve
from bakeoff.plugin.fleet import Watch, host_name, what_differs
from bakeoff.plugin.hosting import ArmThere, HostTold
from bakeoff.plugin.planning import Plan
from bakeoff.records import Sampling
from bakeoff.validity.probes import Probe, ProbeAnswer

ARM = resolve("fake:echo").arm


@pytest.fixture
def plan() -> Plan:
    asking = Asking(sampling=Sampling(), seed=0, thinking="default")
    tracks = {"docvqa": SimpleNamespace(samples_sha256="abc")}
    return cast("Plan", SimpleNamespace(arms=(resolve("fake:echo"),), asking=asking, tracks=tracks))


def answer(**changed: Any) -> ProbeAnswer:
    values = {"rendered": "hello", "text_ids": (1, 2), "text": "yes", **changed}
    return ProbeAnswer(size="no image", prompt_sha256="p", max_tokens=8, **values)


def host(*, samples: str | None = "abc", version: str = "1", **changed: Any) -> HostTold:
    probe = Probe(arm=ARM, model="fake:echo", backend="fake", answers={"text": answer(**changed)})
    there = ArmThere(identity={"runtime_version": version, "weights_sha256": "w"}, load_s=0.1, probe=probe)
    return HostTold(arms={ARM: there}, environment={}, samples_sha256={"docvqa": samples})


def test_hosts_that_are_alike_take_part(plan: Plan) -> None:
    assert what_differs(None, host(), plan) is None
    assert what_differs(host(), host(), plan) is None


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (host(samples=None), "its samples of docvqa are not prepared, or are others than here"),
        (host(samples="xyz"), "its samples of docvqa are not prepared, or are others than here"),
        (host(version="2"), "model.runtime_version is '2' there and '1' on the first host"),
        (host(rendered="good evening"), "the parity probe differs: .* another chat template"),
        (host(error="BackendError: no"), "gave no answer to 1 of 1 probes"),
    ],
)
def test_a_host_that_differs_is_told_by_what(plan: Plan, other: HostTold, reason: str) -> None:
    found = what_differs(host(), other, plan)
    assert found is not None
    assert re.search(reason, found)


def test_what_a_host_tells_survives_the_way(plan: Plan) -> None:
    told = host(rendered="\u2028 ü \\ud800")
    assert msgspec.json.decode(msgspec.json.encode(told).decode("utf-8"), type=HostTold) == told
    assert what_differs(told, told, plan) is None


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("ssh=mac1", "mac1"),
        ("ssh=me@mac1.local//python=/x/bin/python", "mac1.local"),
        ("ssh=-p 2222 me@mac2//chdir=b", "mac2"),
        ("socket=10.0.0.7:8888", "10.0.0.7:8888"),
        ("popen//chdir=/hosts/north", "north"),
    ],
)
def test_a_host_is_called_by_its_address_without_the_user(spec: str, name: str) -> None:
    assert host_name(execnet.XSpec(spec)) == name


class Gateway:
    def __init__(self, name: str, *, answers: bool) -> None:
        self.id = name
        self.spec = execnet.XSpec(f"ssh={name}")
        self.killed = threading.Event()
        self._io = SimpleNamespace(kill=self.killed.set)
        self._answers = answers

    def remote_status(self) -> None:
        if not self._answers:
            self.killed.wait()


def test_a_silent_host_is_cut_off_and_one_that_answers_is_not() -> None:
    said: list[str] = []
    watch = Watch(0.6, said.append)
    silent, alive, gone = (
        Gateway("silent", answers=False),
        Gateway("alive", answers=True),
        Gateway("gone", answers=False),
    )
    for gateway in (silent, alive, gone):
        watch.add(gateway)
    watch.remove(gone)
    assert silent.killed.wait(60)
    watch.close()
    assert not alive.killed.is_set()
    assert not gone.killed.is_set()
    assert [line for line in said if "silent" in line] == said != []
