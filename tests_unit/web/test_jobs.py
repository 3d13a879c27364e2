"""Jobs: one at a time, found again after a restart, stopped gently and then surely, and never a stranger."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from bakeoff.web.command import Command
from bakeoff.web.jobs import Job, Jobs
from bakeoff.web.place import Place
from bakeoff.web.problems import Refusal
from bakeoff.web.state import How, JobState, ProcessId, read_state, write_state
from tests_unit.web.conftest import until

SLEEP = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
)


def python(code: str, name: str = "run") -> Command:
    return Command(name=name, argv=(sys.executable, "-c", code))


@pytest.fixture
def jobs(place: Place) -> Iterator[Jobs]:
    found = Jobs(place)
    yield found
    job = found.newest()
    if job is not None and job.is_alive:
        found.stop(job.plan.job, "kill")
        until(lambda: not found.find(job.plan.job).is_alive, "the last job's end")


def begin(jobs: Jobs, place: Place, *steps: Command) -> Job:
    return jobs.start("run", steps, place.reports / "r")


def ready(job: Job) -> JobState:
    until(lambda: job.log.is_file() and "up\n" in job.log.read_text(), "the step")
    state = read_state(job.folder)
    assert state is not None
    return state


def ended(jobs: Jobs, job: Job) -> JobState:
    until(lambda: not jobs.find(job.plan.job).is_alive, "the end")
    state = read_state(job.folder)
    assert state is not None
    return state


def test_steps_run_one_after_the_other_and_leave_log_and_exit_codes(jobs: Jobs, place: Place) -> None:
    job = begin(jobs, place, python("print('one')", "prepare"), python("print('two')"))
    state = ended(jobs, job)
    assert [step.code for step in state.steps] == [0, 0]
    assert job.log.read_text().index("one\n") < job.log.read_text().index("two\n")
    assert jobs.find(job.plan.job).phase == "ended"


def test_a_step_that_fails_ends_the_job_and_its_code_is_kept(jobs: Jobs, place: Place) -> None:
    state = ended(jobs, begin(jobs, place, python("raise SystemExit(4)", "prepare"), python("print('never')")))
    assert [step.code for step in state.steps] == [4, None]


def test_arguments_never_meet_a_shell(jobs: Jobs, place: Place, tmp_path: Path) -> None:
    evil = f"x; touch {tmp_path / 'pwned'}; # $(touch {tmp_path / 'pwned'})"
    job = begin(jobs, place, Command(name="run", argv=(sys.executable, "-c", "import sys; print(sys.argv[1])", evil)))
    ended(jobs, job)
    assert evil in job.log.read_text()
    assert not (tmp_path / "pwned").exists()


def test_a_second_job_is_refused_also_by_another_server(jobs: Jobs, place: Place) -> None:
    job = begin(jobs, place, python(SLEEP))
    ready(job)
    for server in (jobs, Jobs(place)):
        with pytest.raises(Refusal, match="a run is going on in this reports folder") as refused:
            begin(server, place, python("print()"))
        assert refused.value.status == 409
    jobs.stop(job.plan.job, "now")
    ended(jobs, job)
    ended(jobs, begin(jobs, place, python("print()")))


def test_a_gentle_stop_signals_the_step_alone_and_keeps_its_end(jobs: Jobs, place: Place) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('report written', flush=True), sys.exit(2)))\n"
        "print('up', flush=True); time.sleep(600)"
    )
    job = begin(jobs, place, python(code), python("print('never')"))
    ready(job)
    jobs.stop(job.plan.job, "now")
    state = ended(jobs, job)
    assert [step.code for step in state.steps] == [2, None]
    assert state.stopped_at
    assert "report written" in job.log.read_text()
    assert "never" not in job.log.read_text()


def test_a_step_that_does_not_listen_is_killed_after_the_patience_with_all_it_started(place: Place) -> None:
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {STUBBORN!r}]).wait()"
    parent = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {code}"
    jobs = Jobs(place, patience_s=0.5)
    job = begin(jobs, place, python(parent))
    step = ready(job).step
    assert step is not None
    family = [psutil.Process(step.pid), *psutil.Process(step.pid).children(recursive=True)]
    assert len(family) == 2
    jobs.stop(job.plan.job, "now")
    assert ended(jobs, job).steps[0].code == -signal.SIGKILL
    assert not [p for p in psutil.wait_procs(family, timeout=30)[1] if p.is_running()]


LISTENING = (
    "import signal, sys, time\n"
    "asked = []\n"
    "{before}\n"
    "signal.signal(signal.SIGUSR2, lambda *_: asked.append(1))\n"
    "print('listening', flush=True)\n"
    "while not asked: time.sleep(0.05)\n"
    "print('one more answered', flush=True)\n"
    "sys.exit(2)"
)


@pytest.mark.parametrize("before", ["print('up', flush=True)", "print('up', flush=True); time.sleep(1)"])
def test_a_stop_after_the_sample_waits_for_a_run_beyond_the_patience_even_one_that_does_not_listen_yet(
    place: Place, before: str
) -> None:
    jobs = Jobs(place, patience_s=0.0)
    job = begin(jobs, place, python(LISTENING.format(before=before)), python("print('never')"))
    ready(job)
    jobs.stop(job.plan.job, "sample")
    state = ended(jobs, job)
    assert [step.code for step in state.steps] == [2, None]
    assert (state.how, bool(state.stopped_at)) == ("sample", True)
    assert "one more answered" in job.log.read_text()


def test_what_has_no_samples_is_stopped_now_when_asked_to_stop_after_one(jobs: Jobs, place: Place) -> None:
    job = begin(jobs, place, python(SLEEP, "prepare"), python("print('never')"))
    ready(job)
    jobs.stop(job.plan.job, "sample")
    state = ended(jobs, job)
    assert [step.code for step in state.steps] == [-signal.SIGTERM, None]
    assert state.how == "now"


def test_a_stop_only_grows_harder(jobs: Jobs, place: Place) -> None:
    job = begin(jobs, place, python(STUBBORN))
    ready(job)
    hows: tuple[How, ...] = ("sample", "now", "sample")
    for how in hows:
        jobs.stop(job.plan.job, how)
    until(lambda: (state := read_state(job.folder)) and state.how == "now", "the harder stop")
    assert jobs.find(job.plan.job).phase == "stopping"
    jobs.stop(job.plan.job, "kill")
    assert ended(jobs, job).steps[0].code == -signal.SIGKILL


def test_a_kill_ends_it_at_once(jobs: Jobs, place: Place) -> None:
    job = begin(jobs, place, python(STUBBORN))
    ready(job)
    jobs.stop(job.plan.job, "kill")
    assert ended(jobs, job).steps[0].code == -signal.SIGKILL


def test_a_job_outlives_its_server_and_is_found_again(place: Place) -> None:
    code = f"""
import sys
from pathlib import Path
from bakeoff.web.command import Command
from bakeoff.web.jobs import Jobs
from bakeoff.web.place import Place
place = Place(root=Path({str(place.root)!r}), bench=Path({str(place.bench)!r}), reports=Path({str(place.reports)!r}))
job = Jobs(place).start("run", (Command(name="run", argv=(sys.executable, "-c", {SLEEP!r})),), place.reports / "r")
print(job.plan.job)
"""
    name = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    jobs = Jobs(place)
    job = jobs.newest()
    assert job is not None
    ready(job)
    assert job.plan.job == name
    assert jobs.find(name).phase == "running"
    with pytest.raises(Refusal, match="a run is going on"):
        begin(jobs, place, python("print()"))
    jobs.stop(name, "now")
    assert ended(jobs, job).steps[0].code == -signal.SIGTERM


def test_a_step_whose_supervisor_was_killed_still_holds_the_lock_and_can_be_stopped(jobs: Jobs, place: Place) -> None:
    job = begin(jobs, place, python(SLEEP))
    state = ready(job)
    os.kill(state.supervisor.pid, signal.SIGKILL)
    until(lambda: not psutil.pid_exists(state.supervisor.pid) or jobs.newest(), "the supervisor's end")
    assert jobs.find(job.plan.job).phase == "running"
    with pytest.raises(Refusal, match="a run is going on"):
        begin(Jobs(place), place, python("print()"))
    jobs.stop(job.plan.job, "now")
    until(lambda: jobs.find(job.plan.job).phase == "lost", "the step's end")
    ended(jobs, begin(jobs, place, python("print()")))


@pytest.mark.parametrize("shift", [0.0, 5.0], ids=["right start time", "another start time"])
def test_a_stranger_with_the_number_of_a_step_is_neither_adopted_nor_stopped(
    jobs: Jobs, place: Place, shift: float
) -> None:
    job = begin(jobs, place, python("print()"))
    ended(jobs, job)
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    try:
        started = psutil.Process(stranger.pid).create_time() + shift
        claimed = ProcessId(pid=stranger.pid, started=started)
        write_state(job.folder, JobState(phase="running", supervisor=claimed, step=claimed))
        assert not jobs.find(job.plan.job).is_alive
        with pytest.raises(Refusal, match="ended already"):
            jobs.stop(job.plan.job, "kill")
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_files_that_are_no_job_are_passed_over(jobs: Jobs, place: Place) -> None:
    (place.own / "jobs" / "x").mkdir(parents=True)
    (place.own / "jobs" / "x" / "job.json").write_text("[]", "utf-8")
    assert jobs.newest() is None
    job = begin(jobs, place, python("print()"))
    ended(jobs, job)
    (job.folder / "state.json").write_bytes(msgspec.json.encode([1]))
    until(lambda: jobs.find(job.plan.job).phase == "lost", "the lock, which a process lets go of as it ends")
    for name in ("..", "../jobs", "a/b", ""):
        with pytest.raises(Refusal, match="there is no job"):
            jobs.find(name)
