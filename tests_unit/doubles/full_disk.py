"""A disk that is full: no file of this process can become larger than a limit, as the kernel says it (EFBIG)."""

import contextlib
import resource
from collections.abc import Iterator


@contextlib.contextmanager
def no_file_above(limit: int) -> Iterator[None]:
    """Let no write go beyond `limit` bytes of its file while the context is open.

    The signal that comes with it is one that Python ignores.
    """
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
