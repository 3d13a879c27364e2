"""The llama.cpp backend on the embedded checkpoint and the server inside xllamacpp."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import requests

from bakeoff.backends import Settings, open_backend
from bakeoff.backends.llama.backend import GgufBackend
from bakeoff.backends.llama.child import Launch
from bakeoff.backends.llama.server import LlamaServer, find_binary
from bakeoff.errors import BackendDied, BackendError, ContextOverflow, UsageProblem
from bakeoff.models import resolve
from bakeoff.records import Sampling
from tests_unit.backends.conftest import calibration, prompt_for, spoiled, text_prompt

pytestmark = pytest.mark.real_runtime

Make = Callable[..., Settings]


def open_tiny(settings: Settings, model: str = "tiny-gguf-q8") -> GgufBackend:
    backend = open_backend(resolve(model), settings)
    assert isinstance(backend, GgufBackend)
    return backend


@pytest.fixture
def backend(settings: Make) -> Iterator[GgufBackend]:
    opened = open_tiny(settings())
    yield opened
    opened.close()


def test_an_answer_comes_with_its_counts_and_times(backend: GgufBackend) -> None:
    sample = calibration()[0]
    output = backend.submit(prompt_for(sample)).result()
    assert output.text
    assert output.finish_reason == "stop"
    assert output.prompt_tokens is not None
    assert output.image_tokens is not None
    assert 0 < output.image_tokens < output.prompt_tokens
    assert output.completion_tokens is not None
    assert output.completion_tokens > 0
    assert output.total_s is not None
    assert output.ttft_s is not None
    assert 0 < output.ttft_s <= output.total_s
    assert output.peak_memory_bytes is not None
    assert output.peak_memory_bytes > 1_000_000


def test_the_identity_names_everything_that_can_move_a_score(backend: GgufBackend) -> None:
    identity = backend.identity
    assert len(str(identity["weights_sha256"])) == len(str(identity["projector_sha256"])) == 64
    assert str(identity["runtime_version"]).startswith("xllamacpp ")
    assert identity["context_tokens"] == 4096


def test_a_budget_that_ends_an_answer_is_said_to_be_its_length(backend: GgufBackend) -> None:
    output = backend.submit(prompt_for(calibration()[0], max_tokens=3)).result()
    assert (output.finish_reason, output.completion_tokens) == ("length", 3)


def test_the_rendered_prompt_has_the_tokens_of_the_chat_endpoint(backend: GgufBackend) -> None:
    prompt = text_prompt("hello")
    body = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 1}
    chat = requests.post(f"{backend.url}/v1/chat/completions", json=body, timeout=60).json()
    assert backend.submit(prompt).result().prompt_tokens == chat["usage"]["prompt_tokens"]


def test_the_same_seed_gives_the_same_text_and_another_one_may_not(backend: GgufBackend) -> None:
    sample, warm = calibration()[0], Sampling(temperature=3.0, top_k=0)

    def text(seed: int) -> str:
        return backend.submit(prompt_for(sample, sampling=warm, seed=seed)).result().text

    assert text(1) == text(1)
    assert len({text(seed) for seed in range(5)}) > 1


def test_an_image_that_is_not_the_prepared_one_is_an_error(backend: GgufBackend, tmp_path: Path) -> None:
    image = spoiled(calibration()[0].images[0], tmp_path)
    with pytest.raises(BackendError, match="is not the one that was prepared"):
        backend.submit(text_prompt("what?", image)).result()


def test_a_prompt_that_does_not_fit_is_an_overflow(settings: Make) -> None:
    backend = open_tiny(settings(context_tokens=256))
    try:
        with pytest.raises(ContextOverflow):
            backend.submit(text_prompt("many words " * 300)).result()
        assert backend.submit(text_prompt("few words")).result().text is not None
    finally:
        backend.close()


def test_images_without_a_projector_are_refused_by_name(settings: Make) -> None:
    weights = resolve("tiny-gguf-q8").weights
    with pytest.raises(UsageProblem, match=r"has no projector \(mmproj\).*\n.*,mmproj=<file>\.gguf"):
        open_backend(resolve(f"gguf:{weights}"), settings())
    backend = open_backend(resolve(f"gguf:{weights}"), settings(needs_images=False))
    try:
        assert backend.submit(text_prompt("hello")).result().image_tokens == 0
    finally:
        backend.close()


def test_what_llama_cpp_advises_for_images_of_a_family_is_told_before_the_run(settings: Make, tmp_path: Path) -> None:
    spec, said = resolve("tiny-gguf-q8"), list[str]()
    for name, file in (("Qwen3-VL-tiny.gguf", spec.weights), ("proj.gguf", spec.projector)):
        (tmp_path / name).symlink_to(str(file))
    model = resolve(f"gguf:{tmp_path / 'Qwen3-VL-tiny.gguf'},mmproj={tmp_path / 'proj.gguf'}")
    open_backend(model, settings(progress=said.append)).close()
    open_backend(model, settings(progress=said.append, needs_images=False)).close()
    told = [line for line in said if "advises" in line]
    assert len(told) == 1
    assert "llama.cpp advises --image-min-tokens 1024 for qwen3-vl" in told[0]
    assert "add --server-arg=--image-min-tokens --server-arg=1024" in told[0]


def test_a_server_that_dies_is_brought_back_on_the_same_address(backend: GgufBackend) -> None:
    assert backend.server is not None
    before, url = backend.server.pid, backend.url
    os.killpg(before, signal.SIGKILL)
    with contextlib.suppress(BackendDied):
        backend.submit(text_prompt("hello")).result()
    backend.restart()
    assert backend.submit(text_prompt("hello")).result().text is not None
    assert backend.url == url
    assert backend.server.restarts == 1
    assert not psutil.pid_exists(before) or psutil.Process(before).status() == psutil.STATUS_ZOMBIE


def test_closing_leaves_no_process_and_can_be_done_twice(settings: Make) -> None:
    backend = open_tiny(settings())
    assert backend.server is not None
    family = [psutil.Process(backend.server.pid), *psutil.Process(backend.server.pid).children(recursive=True)]
    backend.close()
    backend.close()
    assert not [process for process in family if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def test_weights_that_cannot_be_loaded_are_told_with_the_log(tmp_path: Path, settings: Make) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF, but not really")
    with pytest.raises(BackendDied, match=r"(?s)ended at start.*runtime\.log"):
        open_backend(resolve(f"{broken},mmproj={resolve('tiny-gguf-q8').projector}"), settings())


@pytest.mark.parametrize(("end", "code"), [("exit 3", 3), ("kill -ILL $$", 132)])
def test_a_program_that_ends_at_start_is_told_with_its_own_code_and_words(
    tmp_path: Path, settings: Make, end: str, code: int
) -> None:
    program = tmp_path / "llama-server"
    program.write_text(f"#!/bin/sh\necho this processor cannot do that >&2\n{end}\n", "utf-8")
    program.chmod(0o755)
    with pytest.raises(BackendDied, match=rf"(?s)ended at start with code {code}\b.*this processor cannot") as told:
        open_backend(resolve("tiny-gguf-q8"), settings(llama_server=str(program)))
    assert "Fatal Python error" not in str(told.value)


def test_a_port_that_somebody_else_serves_is_not_taken_for_ours(backend: GgufBackend, tmp_path: Path) -> None:
    port = int(backend.url.rpartition(":")[2])
    other = resolve("tiny-gguf-q4").weights
    launch = Launch(
        binary=None, host="127.0.0.1", port=port, weights=str(other), projector=None, context_tokens=256, slots=1
    )
    with pytest.raises(BackendDied):
        LlamaServer(launch, log_path=tmp_path / "other.log", start_timeout_s=30, progress=print)


def test_a_llama_server_that_is_named_and_absent_is_a_usage_problem() -> None:
    with pytest.raises(UsageProblem, match="--llama-server nowhere: no such program"):
        find_binary("nowhere")


def test_a_llama_server_program_is_started_with_explicit_context_slots_and_projector() -> None:
    launch = Launch(
        binary="llama-server",
        host="127.0.0.1",
        port=1234,
        weights="w.gguf",
        projector="p.gguf",
        context_tokens=8192,
        slots=2,
        extra=("--threads", "4"),
    )
    command = " ".join(launch.command())
    assert "--model w.gguf" in command
    assert "--ctx-size 8192 --parallel 2" in command
    assert "--mmproj p.gguf --threads 4" in command
