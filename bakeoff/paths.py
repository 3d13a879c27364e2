"""Where files lie: prepared data, the embedded checkpoint, runs, caches."""

import os
from pathlib import Path

import platformdirs

PACKAGE = Path(__file__).resolve().parent


def tiny_dir() -> Path:
    """Return the folder of the embedded checkpoint: the checkout's `data/tiny`, else the copy inside the wheel."""
    checkout = PACKAGE.parent / "data" / "tiny"
    return checkout if checkout.is_dir() else PACKAGE / "_data" / "tiny"


def data_dir() -> Path:
    """Return the folder of prepared data: `$BAKEOFF_DATA`, else the checkout's `data`, else `./data`."""
    named = os.environ.get("BAKEOFF_DATA")
    if named:
        return Path(named).resolve()
    checkout = PACKAGE.parent / "data"
    return checkout if (checkout / "tiny").is_dir() else Path.cwd() / "data"


def cache_dir() -> Path:
    """Return the folder for things that can be made again, such as hashes of large weight files."""
    named = os.environ.get("BAKEOFF_CACHE")
    return Path(named).resolve() if named else Path(platformdirs.user_cache_dir("vlm-bakeoff"))
