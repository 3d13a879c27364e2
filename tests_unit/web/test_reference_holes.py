"""Each hole that was found in the reference system's web page, tried on this one. Numbers are those of its record."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from bakeoff.records import to_line
from bakeoff.report import build
from bakeoff.skips import Skip
from bakeoff.web.index import RunIndex
from bakeoff.web.place import Place
from bakeoff.web.state import JobState, ProcessId, read_state, write_state
from bakeoff.web.watch import Watch
from tests_unit.commands.calibration import records, write_run
from tests_unit.web.conftest import Client, until


@pytest.mark.parametrize(
    "name", ["x; touch {}; #", "$(touch {})", "`touch {}`", "mlx:x; touch {} #", "--co={}", "-x\n{}"]
)
def test_d43_a_models_name_never_becomes_a_command(client: Client, tmp_path: Path, name: str) -> None:
    pwned = tmp_path / "pwned"
    model = name.format(pwned)
    order = {"models": [model], "tracks": ["calibration"], "limit": 1, "parity": "off"}
    answer = client.post("/api/start", order)
    if answer.status_code == 200:
        client.finished(answer.json()["job"])
        plan = client.jobs.find(answer.json()["job"]).plan
        assert f"--model={model}" in plan.steps[0].argv
    else:
        assert answer.status_code == 400
        assert "unknown model" in answer.json()["error"]
    assert not pwned.exists()


def test_d43_paths_with_blanks_and_quotes_work(client: Client, tmp_path: Path, script: Callable[..., str]) -> None:
    source = Path(script(default="x").removeprefix("fake:"))
    odd = tmp_path / "a folder; with 'quotes' $HOME" / "script.json"
    odd.parent.mkdir()
    shutil.copy(source, odd)
    order = {"models": [f"fake:{odd}"], "tracks": ["calibration"], "limit": 2, "parity": "off"}
    started = client.post("/api/start", order).json()
    client.finished(started["job"])
    rows = client.get("/runs.json").json()
    assert [(row["run"], row["status"]) for row in rows] == [(started["run"], "complete")]


def test_d44_the_request_of_another_page_is_refused_whatever_it_looks_like(client: Client) -> None:
    order = json.dumps({"models": ["fake:echo"], "tracks": ["calibration"]})
    for headers in (
        {"Content-Type": "text/plain", "Origin": "http://evil.example", "Host": "evil.example"},
        {"Content-Type": "text/plain", "Origin": "http://evil.example"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/json"},
        {"Content-Type": "application/json", "Origin": "http://evil.example"},
    ):
        for path in ("/api/start", "/api/stop"):
            answer = requests.post(client.base + path, data=order, headers=headers, timeout=60)
            assert answer.status_code in {403, 415, 421}
    assert client.jobs.newest() is None


def test_d45_the_default_choice_runs_and_what_fails_says_so(client: Client, script: Callable[..., str]) -> None:
    offered = client.get("/new.json").json()
    arms = [arm["name"] for arm in offered["arms"] if arm["is_default"]]
    assert arms == ["tiny-bf16", "tiny-gguf-bf16"]
    asked = {"models": arms, "tracks": ["calibration"]}
    order = client.post("/api/order", asked).json()
    assert order["prepare"] is None
    assert order["typed"] == "uv run pytest tests_bench/test_calibration.py -v --color=no"
    broken = client.post("/api/start", {"models": [script() + "x"], "tracks": ["calibration"], "parity": "off"}).json()
    client.finished(broken["job"])
    live = client.get("/live.json").json()
    assert live["ended_well"] is False
    assert live["steps"][0]["code"] not in {0, None}
    assert "exit code" in live["words"]


def test_d46_of_many_starts_at_once_one_is_carried_out(client: Client, script: Callable[..., str]) -> None:
    order = {"models": [script(delay_s=0.5)], "tracks": ["calibration"], "limit": 20, "parity": "off"}
    answers: list[requests.Response] = []
    threads = [threading.Thread(target=lambda: answers.append(client.post("/api/start", order))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409, 409]
    assert len(list((client.place.own / "jobs").iterdir())) == 1
    assert "a run is going on" in next(a for a in answers if a.status_code == 409).json()["error"]


def test_d48_stop_never_reaches_a_stranger(client: Client) -> None:
    started = client.post("/api/start", {"models": ["fake:echo"], "tracks": ["calibration"], "limit": 1}).json()
    client.finished(started["job"])
    folder = client.jobs.find(started["job"]).folder
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    try:
        known = ProcessId(pid=stranger.pid, started=psutil.Process(stranger.pid).create_time())
        write_state(folder, JobState(phase="running", supervisor=known, step=known))
        for how in ("sample", "now", "kill"):
            assert client.post("/api/stop", {"job": started["job"], "how": how}).status_code == 409
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_d48_stop_of_an_older_run_leaves_a_newer_one_alone(client: Client, script: Callable[..., str]) -> None:
    order = {"models": [script(delay_s=0.5)], "tracks": ["calibration"], "limit": 20, "parity": "off"}
    first = client.post("/api/start", order).json()["job"]
    until(lambda: (state := read_state(client.jobs.find(first).folder)) and state.step, "the first run")
    client.post("/api/stop", {"job": first, "how": "kill"})
    client.finished(first)
    second = client.post("/api/start", order).json()["job"]
    assert client.post("/api/stop", {"job": first, "how": "kill"}).status_code == 409
    assert client.jobs.find(second).is_alive


def test_d47_resume_takes_runs_of_the_reports_folder_and_nothing_else(client: Client, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "run.json").write_text("{}", "utf-8")
    (client.place.reports / "link").symlink_to(outside)
    (client.place.reports / "plain").mkdir()
    for name in ("..%2f..%2foutside", "link", "plain", ".ui", "%2e%2e", "a%00b", str(outside).replace("/", "%2f")):
        for act in ("resume", "report", "rescore", "export", "delete"):
            body = {"form": "csv"} if act == "export" else {"confirm": name} if act == "delete" else {}
            assert client.post(f"/api/runs/{name}/{act}", body).status_code in {400, 404, 405}, (name, act)
    assert sorted(path.name for path in outside.iterdir()) == ["run.json"]


@pytest.mark.parametrize(
    "path",
    [
        "runs/../../../etc/passwd", "runs/r/../../secret", "runs/r/link/secret", "runs/r/%2e%2e/%2e%2e/secret",
        "runs/%2e%2e/secret", "compare/../jobs/x/job.json", "compare/%2e%2e/lock", "exports/./x", "data/../secret",
        "data/tasks/cases.json", "jobs/x/job.json", "runs/r//etc/passwd", "runs/r/%2fetc%2fpasswd", "runs//x",
    ],
)  # fmt: skip
def test_d47_files_are_confined(client: Client, tmp_path: Path, path: str) -> None:
    run = client.place.reports / "r"
    run.mkdir()
    (run / "run.json").write_text("{}", "utf-8")
    (tmp_path / "secret").write_text("secret", "utf-8")
    (client.place.root / "secret").write_text("secret", "utf-8")
    (run / "link").symlink_to(tmp_path)
    session = requests.Session()
    request = requests.Request("GET", client.base).prepare()
    request.url = f"{client.base}/files/{client.access.file_key}/{path}"  # as it stands, with its dots
    answer = session.send(request, timeout=60)
    assert answer.status_code in {400, 404}, answer.text


def test_d49_no_script_of_ours_makes_markup_of_text(client: Client) -> None:
    scripts = sorted((Path(sys.modules["bakeoff.web"].__path__[0]) / "static").glob("*.js"))
    assert len(scripts) > 8
    for script in scripts:
        text = script.read_text("utf-8")
        for way in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "srcdoc",
        ):
            assert way not in text, (script.name, way)
    assert "allow-same-origin" not in "".join(script.read_text("utf-8") for script in scripts)
    assert client.get("/static/dom.js").status_code == 200


BAD: list[Any] = [
    [], None, 1, "x", {"models": [1], "tracks": ["calibration"]}, {"models": "abc", "tracks": ["calibration"]},
    {"models": ["fake:echo"], "tracks": ["calibration"], "limits": [1]},
    {"models": ["fake:echo"], "tracks": ["calibration"], "limits": {"global": "abc"}},
    {"models": ["fake:echo"], "tracks": ["calibration"], "limit": 0},
    {"models": ["fake:echo"], "tracks": ["calibration"], "limit": 1.5},
    {"models": ["fake:echo"], "tracks": ["calibration"], "limit": True},
    {"models": ["fake:echo"], "tracks": []}, {"models": ["fake:echo"], "tracks": ["nothing"]},
    {"models": ["fake:echo", "fake:echo"], "tracks": ["calibration"]},
    {"models": ["fake:echo"], "tracks": ["calibration"], "protocols": {"calibration": "x"}},
    {"models": ["fake:echo"], "tracks": ["calibration"], "min_score": ["calibration"]},
    {"models": ["fake:echo"], "tracks": ["calibration"], "baseline": "../x", "max_drop": ["calibration=1"]},
    {"models": ["fake:echo"], "tracks": ["calibration"], "unknown": 1},
]  # fmt: skip


@pytest.mark.parametrize("body", BAD, ids=[str(number) for number in range(len(BAD))])
def test_d50_what_cannot_be_meant_is_refused_in_words(client: Client, body: Any) -> None:
    for path in ("/api/start", "/api/order"):
        answer = client.post(path, body)
        assert 400 <= answer.status_code < 500
        assert len(answer.json()["error"]) > 8
        assert "Traceback" not in answer.text
    assert client.jobs.newest() is None


def test_d50_a_broken_run_stays_in_the_list_and_spoils_no_other(client: Client) -> None:
    for name, content in {
        "a": "", "b": "[]", "c": '{"run": 1}', "d": '{"schema": 99}', "e": "\x00", "f": '{"run":"f","created":1}',
    }.items():  # fmt: skip
        (client.place.reports / name).mkdir()
        (client.place.reports / name / "run.json").write_text(content, "utf-8")
    whole = {
        "run": "g",
        "created": "2026-11-30T10:00:00+00:00",
        "argv": [],
        "options": {},
        "environment": {},
        "schema": 1,
    }
    (client.place.reports / "g").mkdir()
    (client.place.reports / "g" / "run.json").write_text(json.dumps(whole), "utf-8")
    (client.place.reports / "g" / "results.json").write_text('{"arms": {"x": null}}', "utf-8")
    rows = {row["run"]: row for row in client.get("/runs.json").json()}
    assert {name: row["status"] for name, row in rows.items()} == {
        **dict.fromkeys("abcdef", "unreadable"),
        "g": "partial",
    }
    assert all(row["problem"] for row in rows.values())


def test_d51_cases_of_several_kinds_in_several_files_are_all_counted(client: Client) -> None:
    for number, (category, file) in enumerate((("a", "one.json"), ("b", "one.json"), ("a", "two.json"))):
        case = {"id": f"c{number}", "category": category, "images": [], "prompt": "?", "scorer": "exact",
                "expected": {"text": "x"}}  # fmt: skip
        assert client.post("/api/cases/save", {"case": case, "file": file}).status_code == 200
    (row,) = (row for row in client.get("/new.json").json()["tracks"] if row["name"] == "custom")
    assert row["prepared"] == 3


def test_d51_looking_again_and_again_opens_no_file_for_good(client: Client, script: Callable[..., str]) -> None:
    order = {"models": [script()], "tracks": ["calibration"], "limit": 2, "parity": "off"}
    job = client.post("/api/start", order).json()["job"]
    client.finished(job)

    def look() -> int:
        for path in ("/runs.json", "/live.json", "/new.json", f"/api/jobs/{job}/log", f"/api/jobs/{job}/log?from=0"):
            assert client.get(path).status_code == 200
        return psutil.Process().num_fds()

    first = look()
    assert [look() for _ in range(20)][-1] <= first + 5  # a few for connections that are not closed yet


def test_d52_a_sample_that_an_arm_cannot_be_asked_does_not_keep_it_from_being_done(place: Place) -> None:
    lines = records()
    run = write_run(place.reports / "r", {"a": lines[:-2]})
    with run.journal_path("a").open("ab") as journal:
        for line in lines[-2:]:
            journal.write(to_line(Skip(sample_id=line.sample_id, track=line.track, reason="no")).encode() + b"\n")
    (arm,) = Watch(run.path).look()
    assert (arm.state, arm.answered, arm.skipped, arm.selected) == ("done", len(lines) - 2, 2, len(lines))


def test_d52_a_run_of_speed_alone_shows_no_score(place: Place) -> None:
    run = write_run(place.reports / "r", {})
    build(run)
    (row,) = RunIndex(place).rows()
    assert (row.scores, row.answered) == ((), 0)


def test_d52_a_partial_run_is_told_as_one_though_it_has_a_report(client: Client, script: Callable[..., str]) -> None:
    order = {"models": [script(delay_s=0.2)], "tracks": ["calibration"], "limit": 40, "parity": "off", "seed": 3}
    started = client.post("/api/start", order).json()
    until(lambda: any(a["answered"] >= 2 for a in (client.get("/live.json").json() or {})["arms"]), "two answers")
    client.post("/api/stop", {"job": started["job"]})
    client.finished(started["job"])
    (row,) = client.get("/runs.json").json()
    assert row["status"] == "partial"
    assert row["has_report"]
    assert 0 < row["answered"] < row["selected"] == 40
    resumed = client.post(f"/api/runs/{row['run']}/resume", {}).json()
    client.finished(resumed["job"])
    (row,) = client.get("/runs.json").json()
    assert (row["status"], row["answered"]) == ("complete", 40)
    assert json.loads((client.place.reports / row["run"] / "run.json").read_text())["options"]["seed"] == 3
