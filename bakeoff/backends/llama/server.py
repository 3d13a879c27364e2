"""A llama.cpp server that this process owns: started, watched, brought back after a crash, surely ended."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import msgspec
import requests

from bakeoff.backends.llama.child import Launch
from bakeoff.backends.loopback import session_for
from bakeoff.errors import BackendDied, UsageProblem

HOST = "127.0.0.1"
MAX_RESTARTS = 5
"""A server that died more often than this is not brought back: the fault lies not in a sample."""

_PATIENT = {"OMP_WAIT_POLICY": "passive"}
"""llama.cpp's OpenMP threads spin while they wait; on shared cores a request then takes a hundred times longer.
"""

_POLL_S = 0.1
_REPORT_EVERY_S = 5.0


def find_binary(named: str | None) -> str | None:
    """Return the `llama-server` to use: the one named, else the one on PATH, else None for the bundled server.

    Raises:
        UsageProblem: when one is named that cannot be run.
    """
    if named is None:
        return shutil.which("llama-server")
    found = shutil.which(named)
    if found is None:
        raise UsageProblem(f"--llama-server {named}: no such program. Leave the option out to use the bundled server")
    return found


class LlamaServer:
    """One server process. It is watched from a thread and started again on the same port when it dies.

    Raises:
        BackendDied: when the server does not come up; the message ends with the last lines of its log.
    """

    def __init__(
        self, launch: Launch, *, log_path: Path, start_timeout_s: float, progress: Callable[[str], None]
    ) -> None:
        self.launch = launch if launch.port else msgspec.structs.replace(launch, port=_free_port())
        self.log_path = log_path
        self.url = f"http://{HOST}:{self.launch.port}"
        self.restarts = 0
        self._marker = f"<__media_{uuid.uuid4().hex}__>"
        self._start_timeout_s = start_timeout_s
        self._progress = progress
        self._closing = threading.Event()
        self._lock = threading.Lock()
        began = time.perf_counter()
        self._process = self._start()
        try:
            self._wait_until_ready(progress)
        except BaseException:
            self._end()
            raise
        self.load_s = time.perf_counter() - began
        self._watcher = threading.Thread(target=self._watch, name="llama-server watcher", daemon=True)
        self._watcher.start()

    @property
    def pid(self) -> int:
        """Process id of the server's process group."""
        return self._process.pid

    @property
    def is_beyond_help(self) -> bool:
        """Whether the server is dead and will not be started again."""
        return self.restarts > MAX_RESTARTS

    def close(self) -> None:
        """End the server: ask, wait, then kill the group. Closing twice is fine."""
        self._closing.set()
        with self._lock:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[bytes]:
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        with self.log_path.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "bakeoff.backends.llama.child", msgspec.json.encode(self.launch).decode()],
                stdin=subprocess.PIPE,  # held open for as long as this process lives: its end is the child's end
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal is for pytest, which then ends the server itself
                env={
                    **_PATIENT,
                    **os.environ,
                    "LLAMA_MEDIA_MARKER": self._marker,  # else another one after every crash, unknown to the workers
                    "PYTHONPATH": _package_path(),
                },
            )

    def _wait_until_ready(self, progress: Callable[[str], None]) -> None:
        deadline = time.monotonic() + self._start_timeout_s
        next_report = time.monotonic() + _REPORT_EVERY_S
        while not self._closing.is_set():
            if self._process.poll() is not None:
                raise BackendDied(
                    f"the llama.cpp server ended at start with code {self._process.returncode}.{self._tail()}"
                )
            if is_healthy(self.url):
                self._verify_owner()
                return
            if time.monotonic() > deadline:
                raise BackendDied(
                    f"the llama.cpp server was not ready after {self._start_timeout_s:.0f} s.{self._tail()}"
                )
            if time.monotonic() > next_report:
                next_report += _REPORT_EVERY_S
                progress(f"waiting for the llama.cpp server to load {Path(self.launch.weights).name}")
            time.sleep(_POLL_S)

    def _verify_owner(self) -> None:
        """Make sure that who answers on the port is our child, with our weights."""
        loaded = str(props(self.url).get("model_path", ""))
        if self._process.poll() is not None or Path(loaded).resolve() != Path(self.launch.weights).resolve():
            raise BackendDied(f"another server answers on {self.url}: it has {loaded!r}, not {self.launch.weights!r}")

    def _watch(self) -> None:
        while not self._closing.wait(_POLL_S):
            if self._process.poll() is None:
                continue
            with self._lock:
                if self._closing.is_set():
                    return
                self._end()
                self.restarts += 1
                if self.is_beyond_help:
                    return
                self._progress(f"the llama.cpp server died (code {self._process.returncode}); starting it again")
                self._process = self._start()
            with contextlib.suppress(BackendDied):  # counted and tried again by the next turn
                self._wait_until_ready(self._progress)

    def _end(self) -> None:
        process = self._process
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # also a server whose guardian was killed
        process.wait()

    def _tail(self) -> str:
        with contextlib.suppress(OSError):
            lines = self.log_path.read_text("utf-8", errors="replace").splitlines()[-8:]
            return f"\nLast lines of {self.log_path}:\n  " + "\n  ".join(lines)
        return ""


def is_healthy(url: str) -> bool:
    """Return whether a server answers that its model is loaded."""
    try:
        with session_for(url) as session:
            return session.get(f"{url}/health", timeout=2).ok
    except requests.RequestException:
        return False


def props(url: str) -> dict[str, Any]:
    """Return what the server says of itself at `/props`.

    Raises:
        BackendDied: when it cannot be asked.
    """
    try:
        with session_for(url) as session:
            answer = session.get(f"{url}/props", timeout=30)
        answer.raise_for_status()
        return dict(answer.json())
    except (requests.RequestException, ValueError) as error:
        raise BackendDied(f"the llama.cpp server at {url} cannot be asked for its properties: {error}") from error


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _package_path() -> str:
    """Return the PYTHONPATH with which the child finds this package, however it was found here."""
    root = str(Path(__file__).resolve().parents[2])
    return os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
