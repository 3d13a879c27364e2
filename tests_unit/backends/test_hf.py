"""The reference arm on the embedded checkpoint: it gives the answers that are stored as the reference's."""

import importlib.util
from collections.abc import Callable, Iterator

import msgspec
import pytest

from bakeoff.backends import Backend, ForcedBackend, Settings, availability, open_backend
from bakeoff.errors import BackendDied, BackendTimeout, ContextOverflow, UsageProblem
from bakeoff.models import resolve
from bakeoff.records import Sampling
from bakeoff.validity.reference import read_references
from tests_unit.backends.conftest import calibration, prompt_for, text_prompt

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed: uv sync --extra reference")
Make = Callable[..., Settings]


@pytest.fixture
def backend(settings: Make) -> Iterator[Backend]:
    opened = open_backend(resolve(f"hf:{resolve('tiny-bf16').location}"), settings())
    yield opened
    opened.close()


@pytest.mark.skipif(HAS_TORCH, reason="torch is installed here")
def test_without_torch_the_arm_says_what_to_install(settings: Make) -> None:
    assert availability("hf") == "package torch is not installed: uv sync --extra reference"
    with pytest.raises(UsageProblem, match="cannot be loaded here"):
        open_backend(resolve("hf:owner/name"), settings())


def test_another_number_format_is_refused_by_name() -> None:
    with pytest.raises(UsageProblem, match="write float32, which is the default, or bf16"):
        resolve("hf:owner/name#int4")


@needs_torch
@pytest.mark.real_runtime
@pytest.mark.slow
def test_it_gives_the_references_answers_and_prompt_tokens(backend: Backend) -> None:
    references, samples = read_references(), calibration()[::9]
    found = {sample.id: backend.submit(prompt_for(sample)).result() for sample in samples}
    assert {n: o.text for n, o in found.items()} == {n: references[n].output for n in found}
    assert {n: o.prompt_tokens for n, o in found.items()} == {n: references[n].prompt_tokens for n in found}
    assert {n: o.finish_reason for n, o in found.items()} == {n: references[n].finish_reason for n in found}


@needs_torch
@pytest.mark.real_runtime
@pytest.mark.slow
def test_log_probabilities_are_the_references_whether_chosen_or_given(backend: Backend) -> None:
    sample = calibration()[0]
    reference = read_references()[sample.id]
    prompt = msgspec.structs.replace(prompt_for(sample), top_logprobs=5)
    output = backend.submit(prompt).result()
    assert output.trace is not None
    assert isinstance(backend, ForcedBackend)
    given = backend.force(prompt, tuple(entry.token_id for entry in reference.first_logprobs)).result().tokens
    for tokens in (output.trace.tokens, given):
        for token, entry in zip(tokens, reference.first_logprobs, strict=False):
            assert token.id == entry.token_id
            assert token.logprob == pytest.approx(entry.logprob, abs=1e-4)
    assert output.trace.bos == 1
    assert sum(output.trace.image_tokens) == output.image_tokens


@needs_torch
@pytest.mark.real_runtime
@pytest.mark.slow
def test_a_seed_is_kept_and_limits_are_errors_of_the_sample(backend: Backend) -> None:
    warm = msgspec.structs.replace(text_prompt("Name three colours."), sampling=Sampling(temperature=2.0, top_k=40))

    def text(seed: int) -> str:
        return backend.submit(msgspec.structs.replace(warm, seed=seed)).result().text

    assert text(1) == text(1)
    assert len({text(seed) for seed in range(6)}) > 1
    with pytest.raises(ContextOverflow):
        backend.submit(text_prompt("many words " * 9000)).result()
    backend._timeout_s = 0.0  # type: ignore[attr-defined]  # a limit that is over at the first token
    with pytest.raises(BackendTimeout):
        backend.submit(text_prompt("hello")).result()
    backend.close()
    with pytest.raises(BackendDied):
        backend.submit(text_prompt("hello")).result()


@needs_torch
@pytest.mark.real_runtime
@pytest.mark.slow
def test_the_identity_names_weights_number_format_and_whose_pixels(backend: Backend) -> None:
    identity = backend.identity
    assert len(str(identity["weights_sha256"])) == 64
    assert identity["dtype"] == "float32"
    assert str(identity["image_processor"]).split(":")[0] in {"transformers", "mlx-vlm"}
