"""The LiteRT-LM arm over a double of the engine's Python interface; with the package itself, that the double fits."""

import importlib
import importlib.util
import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.backends import Settings, availability, open_backend
from bakeoff.errors import BackendDied, BackendError, BackendTimeout, UsageProblem
from bakeoff.models import resolve
from bakeoff.records import Sampling
from tests_unit.backends.conftest import GREEDY, calibration, spoiled, text_prompt
from tests_unit.backends.mlx_cases import asked
from tests_unit.doubles import litert_lm as double

Make = Callable[..., Settings]
IS_HERE = importlib.util.find_spec("litert_lm") is not None


@contextmanager
def opened(settings: Settings, folder: Path, **model: Any) -> Iterator[Any]:
    file = folder / "small.litertlm"
    file.write_text(json.dumps({"vision": True, **model}), "utf-8")
    backend = open_backend(resolve(f"litert:{file}"), settings)
    try:
        yield backend
    finally:
        backend.close()


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "real" not in request.node.name:
        double.install(monkeypatch)


@pytest.fixture
def arm(tmp_path: Path, settings: Make) -> Iterator[Any]:
    with opened(settings(), tmp_path) as backend:
        yield backend


def test_messages_go_as_they_are_with_original_bytes(arm: Any) -> None:
    image = calibration()[0].images[0]
    output = arm.submit(asked("x", "What is it ?", image, system="Be short.", max_tokens=3)).result()
    (told,) = double.told
    assert told["before"] == [{"role": "system", "content": [{"type": "text", "text": "Be short."}]}]
    assert [part["type"] for part in told["message"]["content"]] == ["image", "text"]
    assert (output.text, output.finish_reason, output.completion_tokens) == ("What is it", "length", 3)
    assert output.prompt_tokens == 74
    assert (output.ttft_s, output.prefill_s, output.decode_s) == (0.25, 0.74, 0.3)


def test_an_answer_shorter_than_its_budget_stopped_by_itself(arm: Any) -> None:
    assert arm.submit(text_prompt("Hello there", max_tokens=8)).result().finish_reason == "stop"


def test_every_sampling_field_is_sent(arm: Any) -> None:
    warm = Sampling(temperature=0.7, top_k=20, top_p=0.9, repetition_penalty=1.1)
    arm.submit(asked("x", "Hi", sampling=warm, seed=11)).result()
    arm.submit(asked("x", "Hi", sampling=GREEDY, seed=11)).result()
    first, second = double.told
    assert first["sampler"] == double.SamplerConfig(top_k=20, top_p=0.9, temperature=0.7, seed=11)
    assert first["penalty"] == double.RepetitionPenaltyConfig(repetition_penalty=1.1, window_size=64)
    assert (second["sampler"].top_k, second["penalty"]) == (1, None)


@pytest.mark.parametrize(("sampling", "option"), [(Sampling(min_p=0.1), "--min-p"), (Sampling(top_k=0), "--top-k")])
def test_sampling_that_the_engine_does_not_have_is_an_error_and_not_another_one(
    arm: Any, sampling: Sampling, option: str
) -> None:
    with pytest.raises(BackendError, match=option):
        arm.submit(asked("x", "Hi", sampling=sampling)).result()
    assert not double.told


@pytest.mark.parametrize("asks", ["on", "off"])
def test_thinking_is_passed_on(arm: Any, asks: Any) -> None:
    arm.submit(msgspec.structs.replace(text_prompt("Hi"), thinking=asks)).result()
    assert double.told[0]["thinking"].enable_thinking is (asks == "on")


def test_a_model_without_eyes_takes_no_image(tmp_path: Path, settings: Make) -> None:
    with opened(settings(), tmp_path, vision=False) as backend:
        assert backend.capabilities.max_images == 0


def test_what_is_wrong_with_a_prompt_spares_the_next(arm: Any, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="not the one that was prepared"):
        arm.submit(text_prompt("Hi", spoiled(calibration()[0].images[0], tmp_path))).result()
    assert arm.submit(text_prompt("Hi")).result().text == "Hi"


def test_an_error_of_the_engine_is_told_in_its_words(tmp_path: Path, settings: Make) -> None:
    with opened(settings(), tmp_path, fails=True) as backend, pytest.raises(BackendError, match="send_message failed"):
        backend.submit(text_prompt("Hi")).result()


def test_an_answer_that_takes_too_long_is_cancelled(tmp_path: Path, settings: Make) -> None:
    with (
        opened(settings(timeout_s=0.05), tmp_path, slow=True) as backend,
        pytest.raises(BackendTimeout, match="--timeout"),
    ):
        backend.submit(text_prompt("Hi")).result()


def test_closing_cancels_the_answer_in_work(tmp_path: Path, settings: Make) -> None:
    with opened(settings(), tmp_path, slow=True) as backend:
        futures = [backend.submit(text_prompt("Hi")) for _ in range(3)]
        assert double.has_begun.wait(60)
        backend.close()
        assert all(isinstance(future.exception(), BackendDied) for future in futures)
        with pytest.raises(BackendDied):
            backend.submit(text_prompt("Hi")).result()


def test_a_file_that_is_no_model_is_a_usage_problem(tmp_path: Path, settings: Make) -> None:
    (tmp_path / "broken.litertlm").write_text("no model", "utf-8")
    with pytest.raises(UsageProblem, match="cannot load"):
        open_backend(resolve(f"litert:{tmp_path / 'broken.litertlm'}"), settings())
    with pytest.raises(UsageProblem, match="there is no file"):
        open_backend(resolve("litert:absent.litertlm"), settings())


def test_names() -> None:
    spec = resolve("litert:org/Model-LiteRT:int4@abc")
    assert (spec.location, spec.quant, spec.revision) == ("org/Model-LiteRT", "int4", "abc")
    assert spec.arm == "Model-LiteRT-int4"
    with pytest.raises(UsageProblem, match="litert:<file>"):
        resolve("litert:what")


@pytest.mark.skipif(IS_HERE, reason="the extra is installed here")
def test_without_the_real_package_it_says_how_to_get_it() -> None:
    assert availability("litert") == "package litert_lm is not installed: uv sync --extra litert"


@pytest.mark.skipif(not IS_HERE, reason="needs the extra litert")
def test_the_double_has_the_real_interface() -> None:
    real = importlib.import_module("litert_lm")
    for name in ("SamplerConfig", "RepetitionPenaltyConfig", "ThinkingConfig"):
        mine, theirs = (inspect.signature(getattr(module, name)).parameters for module in (double, real))
        assert [(p.name, p.default) for p in mine.values()] == [(p.name, p.default) for p in theirs.values()]
    for kind, method in (
        ("Engine", "create_conversation"),
        ("Conversation", "send_message"),
        ("Conversation", "cancel_process"),
        ("Conversation", "get_benchmark_info"),
    ):
        ours, published = (inspect.signature(getattr(getattr(module, kind), method)) for module in (double, real))
        assert list(ours.parameters) == list(published.parameters)
    own = list(inspect.signature(double.Engine).parameters)
    assert own == [name for name in inspect.signature(real.Engine).parameters if name != "kwargs"]


@pytest.mark.skipif(not IS_HERE, reason="needs the extra litert")
def test_the_real_engine_refuses_what_is_no_model(tmp_path: Path, settings: Make) -> None:
    (tmp_path / "broken.litertlm").write_text("no model", "utf-8")
    with pytest.raises(UsageProblem, match="cannot load"):
        open_backend(resolve(f"litert:{tmp_path / 'broken.litertlm'}"), settings())
