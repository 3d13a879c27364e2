"""Files that a reader sees whole or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


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
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
