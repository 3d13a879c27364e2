"""One fake arm for each way in which arms are not what they seem: found, named, and stopped under strict settings."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.backends import Backend
from bakeoff.errors import UsageProblem
from bakeoff.models import ModelSpec
from bakeoff.plugin.probing import ParityMode, Prober
from bakeoff.runs import RunDirectory
from bakeoff.validity.parity import judge
from bakeoff.validity.probes import read_probes
from tests_unit.validity.conftest import Arms

FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "thinking on in one arm": ({"thinks": True}, "thinking", r"thinks before it answers \(<think>"),
    "budget cut": ({"budget": 5}, "budget", "cuts answers at 5 tokens where 8 were allowed"),
    "wrong template": ({"template": "[INST]"}, "template", "another chat template"),
    "another model's weights": ({"weights": 1}, "weights", "other weights"),
    "image ignored": ({"ignores_images": True}, "image ignored", "the image is ignored"),
    "batch mates mixed up": ({"mixes": True}, "batch", "when asked together with others and when asked alone"),
    "stop reason lying": ({"lies": True}, "stop reason", "stop reason cannot be believed"),
    "thumbnail marker": ({"extra_image_tokens": 30}, "image tokens", "other numbers of tokens"),
}


def prober(mode: ParityMode, folder: Path, said: list[str]) -> Prober:
    return Prober(mode, RunDirectory(folder), has_images=True, thinking="default", say=said.append)


def probed(mode: ParityMode, folder: Path, *arms: tuple[ModelSpec, Backend]) -> list[str]:
    """Return what was found; that an arm is being probed is said beforehand, once for each."""
    said: list[str] = []
    asking = prober(mode, folder, said)
    for spec, backend in arms:
        asking.probe(spec, backend)
    assert sum(line.startswith("probing ") for line in said) == (0 if mode == "off" else len(arms))
    return [line for line in said if line.startswith("parity: ")]


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_and_named_and_stops_a_strict_run(fault: str, arm: Arms, tmp_path: Path) -> None:
    traits, kind, words = FAULTS[fault]
    script = {"delay_s": 0.01} if "mixes" in traits else {}
    good, bad = arm("good"), arm("bad", script, **traits)
    said = probed("warn", tmp_path / "warned", good, bad)
    probes = read_probes(RunDirectory(tmp_path / "warned"))
    found = judge(probes, (good[0].arm, bad[0].arm))
    assert found.state == "differs"
    assert kind in {finding.kind for finding in found.findings if finding.serious}
    assert len(said) > 0
    with pytest.raises(UsageProblem, match=f"(?s)--parity strict: .*bad\\.json fails . of its checks.*{words}"):
        probed("strict", tmp_path / "strict", arm("good"), arm("bad", script, **traits))


def test_arms_that_are_alike_pass_strictly(arm: Arms, tmp_path: Path) -> None:
    assert probed("strict", tmp_path, arm("one"), arm("two")) == []
    probes = read_probes(RunDirectory(tmp_path))
    found = judge(probes, tuple(probes))
    assert (found.state, found.findings) == ("same", ())


def test_an_arm_that_dies_of_a_probe_is_told_and_brought_back(arm: Arms, tmp_path: Path) -> None:
    said = probed("warn", tmp_path, arm("mortal", {"die": ["probe-small"]}))
    assert len(said) == 1
    assert "gave no answer to" in said[0]
    answers = next(iter(read_probes(RunDirectory(tmp_path)).values())).answers
    assert "died" in str(answers["small"].error)
    assert answers["text"].error is None


def test_a_thought_that_was_switched_off_is_found_in_one_arm_alone(arm: Arms, tmp_path: Path) -> None:
    said: list[str] = []
    asking = Prober("warn", RunDirectory(tmp_path), has_images=True, thinking="off", say=said.append)
    asking.probe(*arm("thinker", thinks=True))
    assert "was asked not to think and its outputs show that it does" in said[1]


def test_off_asks_nothing(arm: Arms, tmp_path: Path) -> None:
    spec, backend = arm("quiet")
    assert probed("off", tmp_path, (spec, backend)) == []
    assert read_probes(RunDirectory(tmp_path)) == {}
    assert list(tmp_path.glob("probes/*")) == []


def test_a_probe_survives_the_way_through_its_file(arm: Arms, tmp_path: Path) -> None:
    probed("warn", tmp_path, arm("one"))
    (probe,) = read_probes(RunDirectory(tmp_path)).values()
    square = probe.answers["square"]
    assert square.rendered is not None
    assert square.rendered_sha256 is not None
    assert square.image_tokens == 66
    assert square.tokens[0].top
    assert msgspec.json.decode(msgspec.json.encode(probe), type=type(probe)) == probe


def test_a_run_without_images_is_not_asked_about_images(arm: Arms, tmp_path: Path) -> None:
    said: list[str] = []
    asking = Prober("warn", RunDirectory(tmp_path), has_images=False, thinking="default", say=said.append)
    asking.probe(*arm("text-only"))
    (probe,) = read_probes(RunDirectory(tmp_path)).values()
    assert {answer.size for answer in probe.answers.values()} == {"no image"}
