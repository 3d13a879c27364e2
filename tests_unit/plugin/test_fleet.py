"""A run on three hosts: each with a folder, a home and a Python of its own; one is killed and one falls silent."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from bakeoff.journal import read_journal
from bakeoff.records import Record
from bakeoff.runs import RunDirectory
from tests_unit.bare import BARE
from tests_unit.plugin.conftest import BENCH, calibration

Script = Callable[..., str]
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
WAIT_S = 300


class Fleet:
    """Three hosts, and a bench that they are sent."""

    def __init__(self, folder: Path) -> None:
        self.bench = folder / "bench"
        self.bench.mkdir()
        (self.bench / "test_calibration.py").write_text(BENCH, "utf-8")
        self.hosts = [folder / name for name in ("north", "south", "west")]
        for host in self.hosts:
            host.mkdir()
        self.specs = [f"popen//chdir={host}//env:HOME={host}" for host in self.hosts]

    def command(self, *arguments: str, run: Path) -> list[str]:
        hosts = [word for spec in self.specs for word in ("--tx", spec)]
        return [
            *(sys.executable, "-m", "pytest", *BARE, str(self.bench / "test_calibration.py")),
            *("-d", *hosts, "--rsyncdir", str(self.bench)),
            *(f"--run-dir={run}", "--parity", "off", *arguments),
        ]

    def process_of(self, host: Path) -> psutil.Process:
        """The worker that runs in a host's folder."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.cwd() == str(host) and "exec(eval" in " ".join(process.cmdline()):
                    found.append(process)
            except psutil.Error:
                continue
        return max(found, key=lambda process: process.pid)


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


def records(run: Path) -> dict[str, Record]:
    return {
        f"{arm}/{name}": record
        for arm, journal in RunDirectory(run).journals().items()
        for name, record in journal.records.items()
    }


def done(command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=WAIT_S)


def three_arms(script: Script, **more: object) -> str:
    """Names of three scripted models that are wrong on samples of their own."""
    names = [sample.id for sample in calibration()]
    return ",".join(script(f"m{n}", wrong=tuple(names[n :: 7 + n]), **more) for n in range(3))


def lose_two_hosts(fleet: Fleet, command: list[str], run: Path, log: Path) -> str:
    """Run, kill the first host with -9 and stop the second in the middle; return what was printed."""
    with log.open("w") as file, subprocess.Popen(command, cwd=fleet.bench, stdout=file, stderr=file) as process:
        deadline = time.monotonic() + WAIT_S
        while sum(path.read_bytes().count(b"\n") for path in run.glob("records/*.jsonl")) < 90:
            assert process.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < deadline, log.read_text("utf-8")
            time.sleep(0.2)
        fleet.process_of(fleet.hosts[0]).kill()
        stopped = fleet.process_of(fleet.hosts[1])
        stopped.send_signal(signal.SIGSTOP)
        try:
            assert process.wait(WAIT_S) == 0, log.read_text("utf-8")
        finally:
            if stopped.is_running():
                stopped.kill()
    return log.read_text("utf-8")


def check_nothing_was_lost(fleet: Fleet, script: Script, tmp_path: Path) -> None:
    models = three_arms(script, delay_s=0.02)
    run = tmp_path / "run"
    text = lose_two_hosts(
        fleet, fleet.command("--model", models, "--host-timeout", "9", run=run), run, tmp_path / "log.txt"
    )
    assert "is lost" in text
    assert "it is cut off" in text
    single = tmp_path / "single"
    alone = [sys.executable, "-m", "pytest", *BARE, str(fleet.bench), "--model", models]
    assert done([*alone, f"--run-dir={single}", "--parity", "off"], fleet.bench).returncode == 0
    found, expected = records(run), records(single)
    assert len(found) == len(expected) >= 600
    assert {n: (r.output, r.score, r.status) for n, r in found.items()} == {
        n: (r.output, r.score, r.status) for n, r in expected.items()
    }
    hosts = [record.host for record in found.values() if record.host]
    assert len(hosts) == len(found)
    assert {host.name for host in hosts} == {"north", "south", "west"} or {h.name for h in hosts} == {"127.0.0.1"}
    assert all(host.chip and host.runtime for host in hosts)
    assert not [path for host in fleet.hosts for path in host.rglob("*.jsonl") if path.parent.name == "records"]


@pytest.mark.slow
def test_a_killed_and_a_silent_host_cost_nothing(fleet: Fleet, script: Script, tmp_path: Path) -> None:
    check_nothing_was_lost(fleet, script, tmp_path)


@contextmanager
def ssh_daemon(folder: Path) -> Iterator[str]:
    """A daemon of our own on this machine; gives what stands behind `ssh=`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for name in ("host", "user"):
        subprocess.run(
            [shutil.which("ssh-keygen") or "", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
        )
    (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text('utf-8')}", "utf-8")
    settings = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": folder / "host",
        "PidFile": folder / "pid",
        "AuthorizedKeysFile": folder / "user.pub",
        "StrictModes": "no",
        "UsePAM": "no",
        "PermitRootLogin": "yes",
        "PasswordAuthentication": "no",
    }
    (folder / "sshd_config").write_text("".join(f"{name} {value}\n" for name, value in settings.items()), "utf-8")
    client = {"Port": port, "IdentityFile": folder / "user", "UserKnownHostsFile": folder / "known", "BatchMode": "yes"}
    (folder / "ssh_config").write_text("".join(f"{name} {value}\n" for name, value in client.items()), "utf-8")
    Path("/run/sshd").mkdir(exist_ok=True)
    command = [str(SSHD), "-D", "-e", "-f", str(folder / "sshd_config")]
    with (folder / "sshd.log").open("w") as log, subprocess.Popen(command, stderr=log) as daemon:
        try:
            yield f"ssh=127.0.0.1//ssh_config={folder / 'ssh_config'}"
        finally:
            daemon.terminate()


@pytest.mark.slow
@pytest.mark.skipif(SSHD is None or os.geteuid() != 0, reason="needs sshd (openssh-server) and the right to start it")
def test_over_ssh_with_an_environment_each_too(fleet: Fleet, script: Script, tmp_path: Path) -> None:
    paths = sysconfig.get_paths()
    with ssh_daemon(tmp_path) as address:
        fleet.specs = []
        for host in fleet.hosts:
            venv.create(host / "venv", with_pip=False)
            (packages,) = (host / "venv").glob("lib/python*/site-packages")
            (packages / "shared.pth").write_text(f"import site; site.addsitedir({paths['purelib']!r})\n", "utf-8")
            python = host / "venv" / "bin" / "python"
            fleet.specs.append(f"{address}//python={python}//chdir={host}//env:HOME={host}")
        check_nothing_was_lost(fleet, script, tmp_path)


def test_a_host_that_differs_is_left_out_with_a_reason(fleet: Fleet, tmp_path: Path) -> None:
    for host, answer in zip(fleet.hosts, ("yes", "yes", "no"), strict=True):
        (host / "model.json").write_text(f'{{"default": "{answer}"}}', "utf-8")
    shutil.copy(fleet.hosts[0] / "model.json", fleet.bench / "model.json")
    run = tmp_path / "run"
    result = done(fleet.command("--model", "fake:model.json", "--limit", "12", run=run), fleet.bench)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "host west is left out: model.weights_sha256 is" in result.stdout
    assert len(records(run)) == 12
    assert {record.host.name for record in records(run).values() if record.host} <= {"north", "south"}


def test_without_any_host_that_can_take_part_the_run_does_not_begin(fleet: Fleet, tmp_path: Path) -> None:
    result = done(fleet.command("--model", "fake:nowhere.json", run=tmp_path / "run"), fleet.bench)
    assert result.returncode == 4, result.stdout + result.stderr
    assert "no host can take part" in result.stderr
    assert result.stderr.count("is left out") == 3


def test_a_sample_that_takes_hosts_down_is_an_error_and_the_others_go_on(
    fleet: Fleet, script: Script, tmp_path: Path
) -> None:
    fatal = next(sample.id for sample in calibration() if "numbers" in sample.id)
    (fleet.bench / "test_calibration.py").write_text(
        "import os\nTRACK = 'calibration'\ndef test_sample(case):\n"
        f"    if case.sample.id == {fatal!r}: os._exit(9)\n    case.check()\n",
        "utf-8",
    )
    run = tmp_path / "run"
    result = done(fleet.command("--model", script(), "-k", "numbers", run=run), fleet.bench)
    assert result.returncode == 1, result.stdout + result.stderr
    found = {name.rpartition("/")[2]: record for name, record in records(run).items()}
    assert found[fatal].status == "error"
    assert "took 2 hosts down" in getattr(found[fatal].error, "message", "")
    assert [name for name, record in found.items() if record.status == "error"] == [fatal]
    assert len(found) > 3


@pytest.mark.real_runtime
@pytest.mark.slow
def test_a_real_model_runs_on_every_host_and_scores_as_on_one(fleet: Fleet, tmp_path: Path) -> None:
    run, single = tmp_path / "run", tmp_path / "single"
    model = ("--model", "tiny-gguf-q8", "--limit", "15")
    result = done(fleet.command(*model, run=run), fleet.bench)
    assert result.returncode == 0, result.stdout + result.stderr
    alone = [sys.executable, "-m", "pytest", *BARE, str(fleet.bench), *model, "--parity", "off"]
    assert done([*alone, f"--run-dir={single}"], fleet.bench).returncode == 0
    scores = [{name: record.score for name, record in records(path).items()} for path in (run, single)]
    assert scores[0] == scores[1]
    assert read_journal(RunDirectory(run).journal_path("tiny-gguf-q8")).sessions[0].loaded_s
