"""Commands that read or rewrite a run, each as a process of its own: rescore, report, compare, export; and sizes.

They load what the server must not. Two at most run at the same time, and each has a time limit.
"""

import asyncio
import contextlib
import hashlib
import os
import shutil
import signal
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bakeoff.web.asked import Compare, Export, Rescore, Sizes
from bakeoff.web.command import BAKEOFF, SIZES
from bakeoff.web.place import Place
from bakeoff.web.problems import Refusal

_TIME_LIMIT_S = 600.0
_MOST_TEXT = 200_000
_SUFFIXES = {"csv": ".csv", "parquet": ".parquet", "inspect": "", "hf": "", "markdown": ".md"}
_USAGE = 4
_SIZES_LIMIT_S = 60.0


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What a command printed, and where what it wrote is: a folder below `files`, or nowhere."""

    text: str
    folder: str = ""
    files: tuple[str, ...] = ()


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """How many bytes the dataset files of tracks have, and why that is not known of others."""

    known: dict[str, int] = {}
    problems: dict[str, str] = {}


class Tools:
    """The commands of one reports folder."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._few = asyncio.Semaphore(2)
        self._writing = defaultdict[str, asyncio.Lock](asyncio.Lock)  # by folder: two tabs may ask for the same
        self._known: dict[str, int] = {}  # bytes by track: what a pinned revision holds does not change

    async def rescore(self, run: str, asked: Rescore) -> Done:
        """Score a run's outputs again, or say what would change."""
        path = self._place.run(run).path
        return Done(text=await self._call("rescore", str(path), *(["--dry-run"] if asked.dry else [])))

    async def report(self, run: str) -> Done:
        """Build the reports of a run again."""
        return Done(text=await self._call("report", str(self._place.run(run).path)))

    async def compare(self, asked: Compare) -> Done:
        """Compare two runs; the report lies in a folder of its own, named for what was asked."""
        runs = [self._place.run(name) for name in asked.runs]
        margin = [] if asked.margin is None else [f"--margin={asked.margin:g}"]
        stamp = [(str(run.path), _changed(run.path)) for run in runs]
        name = hashlib.sha256(msgspec.json.encode([stamp, margin])).hexdigest()[:16]
        out = self._place.own / "compare" / name
        text = out / "terminal.txt"
        async with self._writing[name]:
            if not text.is_file():
                shutil.rmtree(out, ignore_errors=True)
                said = await self._call("compare", *(str(run.path) for run in runs), *margin, "-o", str(out))
                await asyncio.to_thread(text.write_text, said, "utf-8")
        return Done(text=await asyncio.to_thread(text.read_text, "utf-8"), folder=name)

    async def export(self, run: str, asked: Export) -> Done:
        """Write a run in another form into a fresh folder."""
        path = self._place.run(run).path
        out = self._place.own / "exports" / f"{path.name}-{asked.form}"
        async with self._writing[out.name]:
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir(parents=True)
            target = out / f"{path.name}{_SUFFIXES[asked.form]}"
            text = await self._call("export", str(path), "--format", asked.form, "-o", str(target))
            files = sorted(file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file())
        return Done(text=text, folder=out.name, files=tuple(files))

    async def sizes(self, asked: Sizes) -> Found:
        """Ask the hub how large the dataset files of tracks are; what it said once is not asked again."""
        async with self._writing["sizes"]:
            new = [name for name in asked.tracks if name not in self._known]
            found = Found()
            if new:
                said = await self._call(*new, program=SIZES, limit_s=_SIZES_LIMIT_S)
                found = msgspec.json.decode(said, type=Found)
                self._known |= found.known
        known = {name: self._known[name] for name in asked.tracks if name in self._known}
        return Found(known=known, problems=found.problems)

    async def _call(self, *words: str, program: Sequence[str] = BAKEOFF, limit_s: float = _TIME_LIMIT_S) -> str:
        """Run a `bakeoff` command and return what it printed.

        Raises:
            Refusal: when it refuses, fails or takes too long; the message is its own.
        """
        async with self._few:
            child = await asyncio.create_subprocess_exec(
                *(*program, *words),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self._place.root,
                start_new_session=True,
                env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120"},
            )
            try:
                async with asyncio.timeout(limit_s):
                    out, err = await child.communicate()
            except TimeoutError as error:
                raise Refusal(504, f"bakeoff {words[0]} took longer than {limit_s:.0f} s", "time") from error
            finally:
                if child.returncode is None:  # timed out, or the reader went away
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(child.pid, signal.SIGKILL)
        text = out.decode("utf-8", "replace")[:_MOST_TEXT]
        if child.returncode:
            said = err.decode("utf-8", "replace").strip()
            if child.returncode == _USAGE:
                raise Refusal(409, said.removeprefix("bakeoff: "), "refused")
            if "No such command" in said:
                raise Refusal(501, f"this version has no `bakeoff {words[0]}`", "absent")
            raise Refusal(409, f"bakeoff {words[0]} ended with exit code {child.returncode}: {said[-500:]}", "failed")
        return text


def _changed(path: Path) -> list[int]:
    parts = ("records/*.jsonl", "probes/*.json", "audit/*.json", "controls/*.json", "retold/*.json")
    files = [path / "run.json", *(file for part in parts for file in sorted(path.glob(part)))]
    return [file.stat().st_mtime_ns for file in files if file.exists()]
