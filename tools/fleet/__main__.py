"""`python -m tools.fleet [--samples N] [--out DIR]`: are samples lost, or scores moved, when hosts are?

The embedded checkpoint answers N samples of the calibration track and of custom cases three times: in one process; on
three hosts, of which one is killed with -9 and one is cut off on the way; and in three parts, which are merged. Every
record of the last two is held against the first. Exit code 1 when one is missing or says something else.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tools.fleet.cases import write_cases
from tools.fleet.hosts import Host, build_wheel, three_hosts, what_lacks
from tools.fleet.sameness import differences, records

CALIBRATION = 265
MODEL = "tiny-gguf-bf16"
_BENCH = 'TRACK = "{}"\ndef test_sample(case): case.check()\n'
_POLL_S = 0.5


class Trial:
    """The runs of one trial, below one folder."""

    def __init__(self, folder: Path, samples: int) -> None:
        self.folder = folder
        self._samples = samples
        self._bench = folder / "bench"
        self._bench.mkdir()
        for track in ("calibration", "custom"):
            (self._bench / f"test_{track}.py").write_text(_BENCH.format(track), "utf-8")
        (self._bench / "pytest.ini").write_text("[pytest]\n", "utf-8")
        self._calibration = min(CALIBRATION, samples // 2)
        write_cases(folder / "data", samples - self._calibration)

    def start(self, run: Path, *arguments: str) -> "subprocess.Popen[bytes]":
        """Begin a run; what it prints goes into a file beside its folder."""
        modules = [str(self._bench / f"test_{track}.py") for track in ("calibration", "custom")]
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--model", MODEL]
        with run.with_suffix(".txt").open("wb") as log:
            return subprocess.Popen(
                [*command, f"--run-dir={run}", "--limit", f"calibration:{self._calibration}", *arguments, *modules],
                cwd=self._bench,
                stdout=log,
                stderr=log,
                env={**os.environ, "BAKEOFF_DATA": str(self.folder / "data")},
            )

    def run(self, name: str, *arguments: str) -> Path:
        """Run to the end and return the run's folder."""
        run, began = self.folder / name, time.monotonic()
        code = self.start(run, *arguments).wait()
        tell(run, code, time.monotonic() - began)
        return run

    def merge(self, parts: Sequence[Path]) -> Path:
        """Merge runs and return the folder of the merged one."""
        merged, began = self.folder / "merged", time.monotonic()
        command = [sys.executable, "-m", "bakeoff", "merge", *map(str, parts), "-o", str(merged)]
        with merged.with_suffix(".txt").open("wb") as log:
            code = subprocess.run(command, check=False, stdout=log, stderr=log).returncode
        tell(merged, code, time.monotonic() - began)
        return merged

    def run_on(self, hosts: Sequence[Host]) -> Path:
        """Run on the hosts, and lose the first and the last of them when a sixth and a third is answered."""
        run, began = self.folder / "fleet", time.monotonic()
        specs = [word for host in hosts for word in ("--tx", host.spec)]
        process = self.start(run, "-d", *specs, "--rsyncdir", str(self._bench), "--host-timeout", "15")
        for host, share, how, lose in (
            (hosts[0], 6, "killed with -9", Host.kill),
            (hosts[-1], 3, "cut off", Host.cut_off),
        ):
            while process.poll() is None and answered(run) < self._samples // share:
                time.sleep(_POLL_S)
            lose(host)
            print(f"fleet: {host.name} {how} after {answered(run)} records", flush=True)
        tell(run, process.wait(), time.monotonic() - began)
        return run


def answered(run: Path) -> int:
    """Return how many records a run has."""
    return sum(path.read_bytes().count(b'"type":"record"') for path in run.glob("records/*.jsonl"))


def tell(run: Path, code: int, took_s: float) -> None:
    """Print what came of a run, and what was said of hosts and gaps."""
    print(f"{run.name}: {answered(run)} records in {took_s:.0f} s, exit code {code}", flush=True)
    for line in said(run).splitlines():
        if line.startswith(("host ", "gap", "doubles", "bakeoff:")):
            print(f"  {line}", flush=True)


def said(run: Path) -> str:
    """Return what a run printed."""
    return run.with_suffix(".txt").read_text("utf-8", errors="replace")


def main() -> int:
    """Return 0 when nothing was lost and nothing moved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--out", type=Path, help="a new folder to keep; default: one that is removed")
    asked = parser.parse_args()
    if lack := what_lacks():
        parser.error(lack)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (asked.out or Path(temporary) / "trial").resolve()
        folder.mkdir(parents=True)
        return int(not holds(Trial(folder, asked.samples), asked.samples))


def holds(trial: Trial, samples: int) -> bool:
    """Make all runs and say whether two hosts were lost, and every record is as in the single run."""
    single = trial.run("single")
    wheel = build_wheel(trial.folder)
    with three_hosts(trial.folder / "hosts", wheel, trial.folder / "data") as hosts:
        fleet = trial.run_on(hosts)
        lost = [host.name for host in hosts if f"host {host.name} is lost" in said(fleet)]
    parts = [trial.run(f"part-{number}", "--shard", f"{number}/3") for number in (1, 2, 3)]
    merged = trial.merge(parts)
    print(f"lost on the way: {', '.join(lost) or 'no host'}")
    alike = [is_same(single, other) for other in (fleet, merged)]
    return all(alike) and len(lost) == 2 and len(records(single)) == samples


def is_same(single: Path, other: Path) -> bool:
    """Print how the records of a run differ from those of the single one."""
    found = differences(single, other)
    hosts = Counter(record.host.name for record in records(other).values() if record.host)
    count = len(records(single))
    print(f"{other.name}: {count - len(found)} of {count} records are those of the single run", end="")
    print(f"; by host: {dict(hosts)}" if hosts else "")
    for difference in found:
        print(f"  {difference}")
    return not found


if __name__ == "__main__":
    sys.exit(main())
