"""`openai:` on two real servers with the embedded checkpoint: the scores of the arms inside this process."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psutil
import pytest

from bakeoff.backends import Backend, Settings, open_backend
from bakeoff.backends.llama.backend import GgufBackend
from bakeoff.backends.llama.server import _free_port
from bakeoff.backends.openai.backend import OpenAIBackend
from bakeoff.errors import ContextOverflow
from bakeoff.models import resolve
from bakeoff.records import Output, Prompt, Sample
from bakeoff.tracks import TRACKS
from bakeoff.validity.pair_checks import check_pair
from bakeoff.validity.probing import probe_arm, probes_for
from tests_unit.backends.conftest import calibration, prompt_for, text_prompt
from tests_unit.whole import IS_WHOLE

pytestmark = [pytest.mark.real_runtime, pytest.mark.slow]

Make = Callable[..., Settings]
STARTING_S = 300
ASKED = 100 if IS_WHOLE else 0
"""How many samples each server is held against; else as many as take a few seconds."""


def chosen(count: int) -> list[Sample]:
    """Samples from all over the track, one with two images among them."""
    samples = calibration()
    two = next(sample for sample in samples if len(sample.images) > 1)
    others = [sample for sample in samples if sample is not two]
    return [two, *(others[n * len(others) // (count - 1)] for n in range(count - 1))]


def ask(backend: Backend, samples: list[Sample]) -> dict[str, Output]:
    futures = {sample.id: backend.submit(prompt_for(sample)) for sample in samples}
    return {name: future.result() for name, future in futures.items()}


def check_same(found: dict[str, Output], own: dict[str, Output], samples: list[Sample]) -> None:
    """Hold what a server answered against what the arm in this process did, sample by sample."""
    assert {n: o.text for n, o in found.items()} == {n: o.text for n, o in own.items()}
    assert scores(found, samples) == scores(own, samples)
    assert [o.prompt_tokens for o in found.values()] == [o.prompt_tokens for o in own.values()]
    assert [o.finish_reason for o in found.values()] == [o.finish_reason for o in own.values()]
    assert len(found) == len(samples)


def scores(outputs: dict[str, Output], samples: list[Sample]) -> dict[str, float]:
    protocol = TRACKS["calibration"].protocol(None)
    return {s.id: protocol.scorer(s).score(outputs[s.id].text, s.target).value for s in samples}


def opened(location: str, settings: Settings) -> OpenAIBackend:
    backend = open_backend(resolve(f"openai:{location}"), settings)
    assert isinstance(backend, OpenAIBackend)
    return backend


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("servers") / "server.log"


@contextmanager
def mlx_server(folder: Path, log: Path) -> Iterator[str]:
    port = _free_port()
    command = [
        sys.executable,
        "-m",
        "mlx_vlm.server",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--model",
        str(folder),
    ]
    with (
        log.open("ab") as file,
        subprocess.Popen(command, stdout=file, stderr=file, env={**os.environ, "HF_HUB_OFFLINE": "1"}) as process,
    ):
        try:
            deadline = time.monotonic() + STARTING_S
            while b"startup complete" not in log.read_bytes():
                assert process.poll() is None, log.read_text("utf-8")
                assert time.monotonic() < deadline, log.read_text("utf-8")
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()


@contextmanager
def llama_server(settings: Settings) -> Iterator[GgufBackend]:
    backend = open_backend(resolve("tiny-gguf-bf16"), msgspec.structs.replace(settings, concurrency=2))
    assert isinstance(backend, GgufBackend)
    try:
        yield backend
    finally:
        backend.close()


def test_the_llama_cpp_server_scores_as_the_arm_that_owns_it(settings: Make) -> None:
    samples = chosen(ASKED or 30)
    with llama_server(settings()) as owner:
        name = resolve("tiny-gguf-bf16").location
        backend = opened(f"{owner.url}/v1#{name}", settings(concurrency=2))
        found, own = ask(backend, samples), ask(owner, samples)
        check_same(found, own, samples)
        assert all(o.decode_s and o.prefill_s is not None for o in found.values())
        backend.close()


def test_the_llama_cpp_servers_probe_agrees_with_the_arm_that_owns_it(settings: Make, tmp_path: Path) -> None:
    with llama_server(settings()) as owner:
        spec = resolve(f"openai:{owner.url}/v1#{resolve('tiny-gguf-bf16').location}")
        backend = open_backend(spec, settings())
        prompts: dict[str, Prompt] = probes_for(tmp_path, thorough=False, images=True)
        own = probe_arm(owner, resolve("tiny-gguf-bf16"), prompts)
        probes = {spec.arm: probe_arm(backend, spec, prompts), own.arm: own}
        backend.close()
    square = probes[spec.arm].answers["square"]
    assert square.image_tokens == own.answers["square"].image_tokens
    assert square.tokens
    assert not [finding for finding in check_pair(*probes.values()) if finding.serious]


def test_the_llama_cpp_servers_overflow_is_one(settings: Make) -> None:
    with llama_server(settings(context_tokens=512)) as owner:
        backend = opened(f"{owner.url}/v1#{resolve('tiny-gguf-bf16').location}", settings())
        with pytest.raises(ContextOverflow):
            backend.submit(text_prompt("many words " * 600)).result()
        assert backend.submit(text_prompt("few words")).result().finish_reason
        backend.close()


def test_mlx_vlms_server_scores_as_the_arm_in_this_process(settings: Make, log: Path) -> None:
    samples, folder = chosen(ASKED or 6), Path(resolve("tiny-bf16").location)
    with mlx_server(folder, log) as url:
        backend = opened(f"{url}#{folder}", settings(concurrency=1))
        effects = backend.identity["capabilities"]["effects"]
        found = ask(backend, samples)
        with pytest.raises(ContextOverflow):
            backend.submit(text_prompt("many words " * 9000)).result()
        backend.close()
    inside = open_backend(resolve("tiny-bf16"), settings())
    own = ask(inside, samples)
    inside.close()
    check_same(found, own, samples)
    assert effects["seed"] == effects["top_k"] == "honoured"
    assert effects["min_p"] == "taken, no effect seen"
