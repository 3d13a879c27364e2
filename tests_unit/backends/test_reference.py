"""The embedded checkpoint says in each runtime what it says in the reference implementation, as far as that is so."""

from collections.abc import Callable, Sequence

import pytest

from bakeoff.backends import Settings, open_backend
from bakeoff.models import resolve
from bakeoff.records import Output, Sample
from bakeoff.validity.reference import read_references
from tests_unit.backends.conftest import calibration, prompt_for
from tests_unit.whole import IS_WHOLE

pytestmark = [pytest.mark.real_runtime, pytest.mark.slow]

Make = Callable[..., Settings]


def outputs(model: str, settings: Settings, samples: Sequence[Sample]) -> dict[str, Output]:
    backend = open_backend(resolve(model), settings)
    try:
        futures = {sample.id: backend.submit(prompt_for(sample)) for sample in samples}
        return {name: future.result() for name, future in futures.items()}
    finally:
        backend.close()


def test_every_sample_has_a_reference() -> None:
    references = read_references()
    assert set(references) == {sample.id for sample in calibration()}
    assert len(references) >= 200
    assert all(len(r.prompt_token_ids) == r.prompt_tokens for r in references.values())


def test_mlx_gives_the_references_text_on_99_percent_and_its_prompt_tokens_on_all(
    settings: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = calibration() if IS_WHOLE else calibration()[::9]  # of every family, and of many sizes
    found = outputs("tiny-bf16", settings(), samples)
    references = {name: reference for name, reference in read_references().items() if name in found}
    same = sum(found[name].text == reference.output for name, reference in references.items())
    with capsys.disabled():
        print(f"\ntiny-bf16 gives the reference's text on {same} of {len(references)} samples")  # noqa: T201 - figures
    assert len(references) == len(samples)
    assert len(references) - same <= max(1, 0.01 * len(references))
    assert {n: o.prompt_tokens for n, o in found.items()} == {n: r.prompt_tokens for n, r in references.items()}
    assert {n: o.finish_reason for n, o in found.items()} == {n: r.finish_reason for n, r in references.items()}


def test_llama_cpp_answers_every_sample_and_its_agreement_is_printed(
    settings: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    found, references = outputs("tiny-gguf-bf16", settings(), calibration()), read_references()
    same = [name for name, reference in references.items() if found[name].text == reference.output]
    tokens = [name for name, reference in references.items() if found[name].prompt_tokens == reference.prompt_tokens]
    with capsys.disabled():
        print(  # noqa: T201 - figures, whatever they are
            f"\ntiny-gguf-bf16 gives the reference's text on {len(same)} of {len(references)} samples "
            f"and its prompt tokens on {len(tokens)}"
        )
    assert set(found) == set(references)
    assert len(same) > len(references) / 2
