"""What can keep a dataset from being prepared, in words that say what to type next."""

import errno
from http import HTTPStatus
from pathlib import Path

from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from bakeoff.errors import DataMissing

AGAIN = "What is stored already is kept: the same command goes on from there."


class NothingWorks(DataMissing):
    """No track can be prepared now: no network, a refused token, a full disk."""


class SchemaChanged(DataMissing):
    """The dataset is not what the track expects at this revision."""


def refused(error: HfHubHTTPError, repository: str, revision: str) -> DataMissing:
    """Return the problem behind a final answer of the hub."""
    code = error.response.status_code
    page = f"https://huggingface.co/datasets/{repository}"
    match error:
        case GatedRepoError():
            text = (
                f"{repository} is gated: accept its terms at {page}, and set HF_TOKEN to a token of that account "
                "(or run: hf auth login)."
            )
        case RevisionNotFoundError():
            text = (
                f"{repository} has no revision {revision}. Name one that exists with --revision TRACK=SHA; "
                f"they are listed at {page}/commits/main."
            )
        case RemoteEntryNotFoundError():
            text = f"{repository}@{revision} lists a file that the hub does not have: {error}"
        case RepositoryNotFoundError():
            text = (
                f"the hub has no dataset {repository}, or hides it from this account ({code}). Check {page}; "
                "a private dataset needs HF_TOKEN."
            )
        case _ if code == HTTPStatus.UNAUTHORIZED:
            return NothingWorks(
                f"the hub refuses the access token ({code}). Make a new one at "
                "https://huggingface.co/settings/tokens and set HF_TOKEN to it, or unset HF_TOKEN: public datasets "
                "need none."
            )
        case _ if code == HTTPStatus.FORBIDDEN:
            text = (
                f"the hub forbids reading {repository} ({code}). Accept its terms at {page} if it has any, and give "
                "HF_TOKEN the right to read it."
            )
        case _:
            text = f"the hub answers {code} for {repository}@{revision}: {error}"
    return DataMissing(f"{text}\n{AGAIN}")


def unreachable(endpoint: str, error: Exception, attempts: int) -> NothingWorks:
    """Return the problem of a hub that gives no usable answer after `attempts` attempts."""
    why = str(error).strip() or type(error).__name__
    return NothingWorks(
        f"{endpoint} gave no usable answer in {attempts} attempts: {why}\n"
        f"Check the network (HF_ENDPOINT names a mirror, HTTPS_PROXY a proxy). {AGAIN}"
    )


def disk_problem(error: OSError, folder: Path) -> NothingWorks:
    """Return the problem behind a failure to write below `folder`."""
    elsewhere = "set BAKEOFF_DATA to a folder on another disk"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return NothingWorks(f"the disk of {folder} is full: {error}. Make room, or {elsewhere}. {AGAIN}")
    return NothingWorks(f"{folder} cannot be written: {error}. Give yourself the right to, or {elsewhere}. {AGAIN}")


def megabytes(size: int) -> str:
    """Return a number of bytes for people, in decimal units as the hub shows them."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.{2 if unit == 'GB' else 1}f} {unit}"
    return f"{size} B"
