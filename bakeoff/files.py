"""Files that a reader sees whole or not at all, and what is said when the disk does not take them."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from bakeoff.errors import UsageProblem

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
_REFUSED = {errno.EIO, errno.EACCES, errno.EPERM}
"""Full, over a quota, too large, read-only; broken, not allowed: for people to mend, and no fault of the program."""


def write_atomically(path: Path, content: str | bytes, *, lasting: bool = True) -> None:
    """Write `content`, text as UTF-8, so that a reader sees the old file or the new one and never a part.

    Without `lasting` a power cut soon afterwards may lose it; for thousands of files that is a great deal faster.
    """
    with filling_atomically(path) as temporary, temporary.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        if lasting:
            file.flush()
            os.fsync(file.fileno())


@contextlib.contextmanager
def filling_atomically(path: Path) -> Iterator[Path]:
    """Give a path beside `path` to write to; what is there takes the place of `path` when the block ends well.

    For files that are too large to be made in memory first.

    Raises:
        OSError: with `path` as its file name, which a failed write does not carry by itself.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if error.errno is None or error.filename not in {None, str(temporary)}:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def disk_trouble_told(advice: str) -> Iterator[None]:
    """Turn what goes wrong with the disk into a problem that names the file and ends with `advice`, what to type next.

    Raises:
        UsageProblem: when the disk is full, read-only, broken, or not ours to write to.
    """
    try:
        yield
    except OSError as error:
        trouble = disk_trouble(error)
        if trouble is None:
            raise
        raise UsageProblem(f"{trouble}.\n{advice}") from error


def disk_trouble(error: OSError) -> str | None:
    """Return what the disk did not take or give and why; None when the error is of another kind."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):  # of a tree that was copied
        _, place, why = error.args[0][0]
        return f"cannot write {place}: {str(why).partition(': ')[0]}"  # behind the colon are both names again
    if error.errno not in _FULL | _REFUSED:
        return None
    what = "write" if error.errno in _FULL else "use"
    return f"cannot {what} {error.filename or 'a file'}: {error.strerror}"
