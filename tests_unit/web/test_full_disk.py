"""The app on a full disk: it answers, says what it could not write, and watches on over what runs."""

import errno
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Never

import pytest

from bakeoff.paths import data_dir
from bakeoff.runs import utc_now
from bakeoff.web import launch, supervisor
from bakeoff.web.asked import Start
from bakeoff.web.jobs import Job, Jobs
from bakeoff.web.place import Place
from bakeoff.web.problems import Refusal
from bakeoff.web.state import JobPlan, Step, write_plan
from tests_unit.doubles.full_disk import no_file_above
from tests_unit.web.conftest import Client

CASE = {"id": "a", "category": "c", "prompt": "word " * 1000, "scorer": "contains", "expected": {"text": "yes"}}


def full(*_: object, **__: object) -> Never:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_case_that_does_not_fit_is_refused_with_file_and_reason(client: Client) -> None:
    assert client.post("/api/cases/save", {"case": CASE}).status_code == 200
    second = {"case": {**CASE, "id": "b"}}
    with no_file_above(8000):
        answer = client.post("/api/cases/save", second)
    assert answer.status_code == 507
    told = answer.json()["error"]
    assert told == f"cannot write {data_dir() / 'tasks' / 'cases.json'}: File too large. Make room, then try again"
    assert len(client.get("/cases.json").json()["cases"]) == 1
    assert client.post("/api/cases/save", second).status_code == 200


def test_no_run_is_started_where_it_could_not_say_why_it_ended(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.web.jobs.shutil.disk_usage", lambda _: SimpleNamespace(free=2000))
    with pytest.raises(Refusal, match=r"the disk of .*reports is full: 2 kB are free") as refused:
        Jobs(place).start("run", (), place.reports / "r")
    assert refused.value.status == 507
    assert not (place.own / "jobs").exists()


def test_a_started_run_is_told_also_where_the_form_could_not_be_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Started(Jobs):
        def start(self, *_: Any, **__: Any) -> Job:
            return Job(folder=place.own, plan=plan, state=None, is_alive=True)

    plan = JobPlan(job="j", kind="run", created=utc_now(), run="r", cwd="/", steps=())
    monkeypatch.setattr(launch, "write_atomically", full)
    asked = Start(models=("fake:oracle",), tracks=("calibration",))
    assert launch.start(asked, place, Started(place)).plan.job == "j"


def test_a_step_is_watched_to_its_end_where_nothing_can_be_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    step = Step(name="run", argv=(sys.executable, "-c", f"open({str(mark)!r}, 'w')"), typed="pytest")
    write_plan(tmp_path, JobPlan(job="j", kind="run", created=utc_now(), run="r", cwd="/", steps=(step,)))
    monkeypatch.setattr(supervisor, "write_state", full)
    monkeypatch.setattr("bakeoff.web.supervisor.os.write", full)
    monkeypatch.setattr("bakeoff.web.supervisor.signal.signal", lambda *_: None)
    lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    try:
        assert supervisor.Supervisor(tmp_path, lock).run() == 0
    finally:
        os.close(lock)
    assert mark.exists()
