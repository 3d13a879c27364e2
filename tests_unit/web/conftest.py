"""The app on a port of its own, over a bench and a reports folder of its own; and the app as its own process."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests
import uvicorn

from bakeoff.records import Sample
from bakeoff.tracks import TRACKS, load_samples
from bakeoff.tracks.baselines import oracle_output
from bakeoff.web.app import make_app
from bakeoff.web.guard import Access, make_access
from bakeoff.web.jobs import Jobs
from bakeoff.web.place import Place
from bakeoff.web.serve import Listening, _open_socket, make_config

PATIENCE_S = 120
MODULE = 'TRACK = "{}"\ndef test_sample(case): case.check()\n'


def until(found: Callable[[], Any], what: str) -> Any:
    """Wait for something that another process does."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(0.05)
    pytest.fail(f"waited in vain for {what}")


def make_place(root: Path, tracks: tuple[str, ...] = ("calibration", "custom")) -> Place:
    bench = root / "tests_bench"
    bench.mkdir(parents=True)
    for track in tracks:
        (bench / f"test_{track}.py").write_text(MODULE.format(track), "utf-8")
    (root / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (root / "reports").mkdir()
    return Place(root=root, bench=bench, reports=root / "reports")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path / "data"))
    return make_place(tmp_path / "bench")


class Client:
    """Speaks to a running app as its own pages do."""

    def __init__(self, access: Access, place: Place, jobs: Jobs) -> None:
        self.access = access
        self.place = place
        self.jobs = jobs
        self.base = f"http://127.0.0.1:{access.port}"
        self.headers = {"X-Bakeoff-Token": access.change_token}

    def get(self, path: str, **more: Any) -> requests.Response:
        return requests.get(self.base + path, timeout=PATIENCE_S, allow_redirects=False, **more)

    def post(self, path: str, body: Any, **headers: str) -> requests.Response:
        return requests.post(self.base + path, json=body, headers={**self.headers, **headers}, timeout=PATIENCE_S)

    def raw(self, path: str, content: bytes, **headers: str) -> requests.Response:
        sent = {**self.headers, "Content-Type": "application/json", **headers}
        return requests.post(self.base + path, data=content, headers=sent, timeout=PATIENCE_S)

    def finished(self, job: str) -> None:
        """Wait for the end of a job."""
        until(lambda: not self.jobs.find(job).is_alive, f"the end of {job}")


@contextlib.contextmanager
def serving(place: Place, **more: Any) -> Iterator[Client]:
    """Run the app in a thread of this process."""
    asked = Listening(port=0, **{name: value for name, value in more.items() if name == "host"})
    with _open_socket(asked) as listener:
        access = make_access(
            asked.host, listener.getsockname()[1], token=bool(more.get("token")), names=more.get("names", ())
        )
        jobs = Jobs(place, patience_s=60.0)
        server = uvicorn.Server(make_config(make_app(place, access, jobs), asked))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        until(lambda: server.started, "the app")
        try:
            yield Client(access, place, jobs)
        finally:
            job = jobs.newest()
            if job is not None and job.is_alive:
                jobs.stop(job.plan.job, "kill")
                until(lambda: not jobs.find(job.plan.job).is_alive, "the end of the last job")
            server.should_exit = True
            thread.join(timeout=30)


@pytest.fixture
def client(place: Place) -> Iterator[Client]:
    with serving(place) as found:
        yield found


def calibration() -> tuple[Sample, ...]:
    return load_samples(TRACKS["calibration"].folder())


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Write a script for the fake model, all answers right, and return its name."""

    def write(name: str = "scripted", **more: Any) -> str:
        answers = {s.id: oracle_output(s, TRACKS["calibration"].protocols[0]) for s in calibration()}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"answers": {**answers, **more.pop("answers", {})}, **more}), "utf-8")
        return f"fake:{path}"

    return write


class AppProcess:
    """`bakeoff ui` as a user starts it."""

    def __init__(self, place: Place, *words: str, port: int = 0, **env: str) -> None:
        where = ["--bench", str(place.bench), "--reports", str(place.reports), "--port", str(port), "--no-open"]
        self.child = subprocess.Popen(
            [sys.executable, "-m", "bakeoff", "ui", *where, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **env},
        )
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        assert line.startswith("bakeoff ui: http"), line + self.child.stdout.read()
        self.link = line.split(": ", 1)[1].strip()
        self.base = self.link.partition("/enter")[0].rstrip("/")

    @property
    def process(self) -> psutil.Process:
        return psutil.Process(self.child.pid)

    def end(self) -> None:
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            self.child.wait(timeout=30)
        if self.child.stdout is not None:
            self.child.stdout.close()


@pytest.fixture
def app_process(place: Place) -> Iterator[Callable[..., AppProcess]]:
    """Start the app as a process; it is ended afterwards, and so is the job it may have left."""
    started: list[AppProcess] = []

    def start(*words: str, **more: Any) -> AppProcess:
        started.append(AppProcess(place, *words, **more))
        return started[-1]

    yield start
    for process in started:
        process.end()
    jobs = Jobs(place)
    job = jobs.newest()
    if job is not None and job.is_alive:
        jobs.stop(job.plan.job, "kill")
