"""Whatever thread works with MLX gives back its streams before it ends: else the process often aborts at its exit."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import mlx.core as mx
import pytest

from tests_unit.backends.conftest import text_prompt
from tests_unit.backends.mlx_cases import Make, opened

DOUBLE = """
import asyncio, threading
import mlx.core as mx
clear = mx.clear_streams
mx.clear_streams = lambda: (print("given back by", threading.current_thread().name), clear())
from tests_unit.doubles import coreai_runtime as double
asyncio.run(double._on_device(lambda: mx.eval(mx.ones(3) + 1)))
print("end")
"""
"""MLX itself does so for the main thread, afterwards."""


@pytest.mark.real_runtime
def test_a_closed_arm_has_given_back_the_streams_of_its_thread(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    clear, threads = mx.clear_streams, list[str]()

    def told() -> None:
        threads.append(threading.current_thread().name)
        clear()

    monkeypatch.setattr(mx, "clear_streams", told)
    with opened(settings(), "tiny-4bit") as model:
        model.submit(text_prompt("hello", max_tokens=1)).result()
        assert threads == []
    assert threads == ["MLX model"]


def test_the_double_of_core_ai_gives_them_back_when_the_process_ends() -> None:
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", DOUBLE],
        check=False,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[:2] == ["end", "given back by core ai double"]
