"""The decoder compiled ahead of time for every GPU family, once for each content and each macOS.

`xcrun coreai-build` takes about half an hour for the 3B decoder. What it makes is kept under the hash of the bundle, so
that another revision or export is compiled anew; a compile that was stopped leaves nothing that would be taken for one.
"""

import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import filelock

from bakeoff.errors import UsageProblem
from bakeoff.hashing import hash_json
from bakeoff.paths import cache_dir

ARGUMENTS = ("--platform", "macOS", "--preferred-compute", "gpu", "--expect-frequent-reshapes")
_FAMILY = re.compile(r"(?<![a-z0-9])h(\d+)", re.IGNORECASE)
_LAST_WORDS = 2000


def compiled(raw: Path, sha256: str, *, log_path: Path, progress: Callable[[str], None]) -> list[Path]:
    """Return the compiled forms of a bundle, the newest GPU family first, compiling them if they are not kept.

    Args:
        raw: the bundle.
        sha256: hash of its contents.
        log_path: takes the compiler's output.
        progress: is told that compiling takes long.

    Raises:
        UsageProblem: when there is no compiler or it fails; nothing is kept then.
    """
    key = hash_json([sha256, ARGUMENTS, platform.mac_ver()[0]])[:32]
    place = cache_dir() / "coreai" / "compiled" / f"{raw.stem}-{key}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(place.with_suffix(".lock")):
        if not place.is_dir():
            for left in place.parent.glob(f".{key}-*"):
                # Under the lock no other compile of it can be going on, but for a compiler whose parent was killed:
                # what that still writes is nobody's, and goes with the next compile.
                shutil.rmtree(left, ignore_errors=True)
            progress(f"compiling {raw.name} for every GPU family, once: about half an hour for 3B (log: {log_path})")
            _compile(raw, place, key, log_path)
    return newest_first(place.glob("*.aimodelc"))


def newest_first(paths: Iterable[Path]) -> list[Path]:
    """Return paths by the number of the GPU family in their names, `h15` before `h9`; those without one last."""

    def family(path: Path) -> int:
        found = _FAMILY.findall(path.stem)
        return int(found[-1]) if found else -1

    return sorted(paths, key=lambda path: (-family(path), path.name))


def _compile(raw: Path, place: Path, key: str, log_path: Path) -> None:
    """Compile into a folder beside `place` and rename it when all of it is there."""
    folder = Path(tempfile.mkdtemp(prefix=f".{key}-", dir=place.parent))
    try:
        command = ["xcrun", "coreai-build", "compile", str(raw), *ARGUMENTS, "--output", str(folder)]
        with log_path.open("ab") as log:
            done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            words = log_path.read_bytes()[-_LAST_WORDS:].decode(errors="replace").strip().rpartition("\n")[2]
            raise UsageProblem(f"coreai-build could not compile {raw.name} (exit {done.returncode}): {words}")
        if not any(folder.glob("*.aimodelc")):
            raise UsageProblem(f"coreai-build ended well and made no .aimodelc of {raw.name}; see {log_path}")
        folder.rename(place)
    except FileNotFoundError as error:
        raise UsageProblem("xcrun is not there: install Xcode 27, whose coreai-build compiles the decoder") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
