"""The embedded pair in its real runtimes: untiled images agree, stretched tiles do not; both are said with sizes."""

import os
from pathlib import Path

import pytest

from bakeoff.backends import ForcedBackend, Settings, open_backend
from bakeoff.commands.doctor import Doctor
from bakeoff.evaluate import context_bound
from bakeoff.models import resolve
from bakeoff.records import Prompt
from bakeoff.validity.pair_checks import check_pair, class_gaps
from bakeoff.validity.parity import judge
from bakeoff.validity.probes import Probe
from bakeoff.validity.probing import probe_arm, probes_for
from bakeoff.validity.telling import untold

pytestmark = [pytest.mark.real_runtime, pytest.mark.slow]

OLD_SERVER = "BAKEOFF_OLD_LLAMA_SERVER"
"""Names a `llama-server` of about b10434, such as tools/other_llama.py with xllamacpp 2026.8.10229."""


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Prompt]:
    return probes_for(tmp_path_factory.mktemp("probes"), thorough=False, images=True)


def probed(model: str, prompts: dict[str, Prompt], folder: Path, llama_server: str | None = None) -> Probe:
    settings = Settings(
        context_tokens=context_bound(prompts.values()),
        log_path=folder / "runtime.log",
        llama_server=llama_server,
        progress=lambda _: None,
    )
    backend = open_backend(resolve(model), settings)
    try:
        return probe_arm(backend, resolve(model), prompts)
    finally:
        backend.close()


@pytest.fixture(scope="module")
def mlx(prompts: dict[str, Prompt], tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return probed("tiny-bf16", prompts, tmp_path_factory.mktemp("mlx"))


@pytest.fixture(scope="module")
def gguf(prompts: dict[str, Prompt], tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return probed("tiny-gguf-bf16", prompts, tmp_path_factory.mktemp("gguf"))


def test_both_tell_prompt_tokens_and_log_probabilities(mlx: Probe, gguf: Probe) -> None:
    for probe in (mlx, gguf):
        assert all(answer.tokens and answer.rendered and answer.bos == 1 for answer in probe.answers.values())
    assert {n: a.rendered for n, a in mlx.answers.items()} == {n: a.rendered for n, a in gguf.answers.items()}
    assert {n: a.text_ids for n, a in mlx.answers.items()} == {n: a.text_ids for n, a in gguf.answers.items()}
    assert mlx.answers["tiles"].tiles == ((2, 1),)
    assert sum(mlx.answers["four-images"].image_tokens_each) == mlx.answers["four-images"].image_tokens


def test_untiled_images_agree_and_tiles_of_another_ratio_are_named(mlx: Probe, gguf: Probe) -> None:
    pairs = {name: (answer, gguf.answers[name]) for name, answer in mlx.answers.items()}
    found = class_gaps(pairs)
    assert max(gap for size, gap in found.items() if not size.startswith("tiled")) < 0.05
    (finding,) = [finding for finding in check_pair(mlx, gguf) if finding.serious]
    assert finding.kind == "tiles"
    assert "tiled, odd ratio (" in finding.sentence
    assert "images of size untiled" in finding.sentence


def test_mlx_keeps_to_the_reference_and_llama_cpp_leaves_it_on_those_tiles(mlx: Probe, gguf: Probe) -> None:
    deltas = {
        probe.arm: {found.size: found.delta or 0.0 for found in probe.agreements["reference"]} for probe in (mlx, gguf)
    }
    assert max(deltas["tiny-bf16"].values()) < 0.05
    assert deltas["tiny-gguf-bf16"]["square"] < 0.01
    kinds = {(finding.kind, finding.arms) for finding in judge({"g": gguf}, ("g",)).findings}
    assert ("reference", ("tiny-gguf-bf16",)) in kinds


@pytest.mark.parametrize("model", ["tiny-bf16", "tiny-gguf-bf16"])
def test_words_put_into_the_mouth_are_as_likely_as_when_it_says_them(
    model: str, prompts: dict[str, Prompt], tmp_path: Path
) -> None:
    settings = Settings(context_tokens=4096, log_path=tmp_path / "log", progress=lambda _: None)
    backend = open_backend(resolve(model), settings)
    assert isinstance(backend, ForcedBackend)
    try:
        for name in ("text", "print", "two-images"):
            output = backend.submit(prompts[name]).result()
            assert output.trace is not None
            said = [token for token in output.trace.tokens[:4] if token.id != 7]
            forced = backend.force(prompts[name], tuple(token.id for token in said)).result().tokens
            assert [token.id for token in forced] == [token.id for token in said]
            assert [t.logprob for t in forced] == pytest.approx([t.logprob for t in said], abs=0.05)
        strange = backend.force(prompts["text"], (310, 310)).result().tokens
        assert strange[0].logprob < -2
    finally:
        backend.close()


@pytest.fixture
def old_server() -> str:
    named = os.environ.get(OLD_SERVER)
    if not named or not Path(named).is_file():
        pytest.skip(f"name a llama-server of about b10434 with {OLD_SERVER}=PATH (docs/known-limitations.md)")
    return named


def test_the_doctor_names_the_extra_token_of_an_older_llama_server_and_the_resampled_tiles(old_server: str) -> None:
    said: list[str] = []
    doctor = Doctor(said.append, untold, llama_server=old_server, budget=False, limit=1)
    assert not doctor.examine(["tiny-bf16", "tiny-gguf-bf16"])
    text = "\n".join(said)
    assert "tiny-gguf-bf16 puts one extra token after each image that is not tiled (66 and 67" in text
    assert "a thumbnail marker" in text
    assert "tiles are resampled differently" in text
