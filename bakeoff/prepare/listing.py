"""What files a dataset repository has, and which of them lie in the hub's own cache."""

from pathlib import Path

import huggingface_hub
import msgspec
from huggingface_hub import constants
from huggingface_hub.errors import LocalEntryNotFoundError

from bakeoff.errors import DataMissing
from bakeoff.prepare.commits import cached_commit, spelled_out


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset repository at one commit: path and size in bytes of every file, or of those that are cached."""

    repository: str
    commit: str
    sizes: dict[str, int]
    is_cached: bool = False


def cached_file(listing: Listing, path: str) -> Path | None:
    """Return the file of `listing` in the hub's cache, None when it is not there."""
    found = huggingface_hub.try_to_load_from_cache(
        listing.repository, path, revision=listing.commit, repo_type="dataset"
    )
    return Path(found) if isinstance(found, str) else None


def cached_listing(repository: str, revision: str) -> Listing:
    """List what the hub's cache holds of `repository` at `revision`.

    Raises:
        DataMissing: when that is nothing.
    """
    commit = cached_commit(repository, revision) or revision
    try:
        folder = Path(
            huggingface_hub.snapshot_download(repository, repo_type="dataset", revision=commit, local_files_only=True)
        )
    except LocalEntryNotFoundError as error:
        raise _absent(repository, revision, "is not in") from error
    files = (file for file in folder.rglob("*") if file.is_file())
    sizes = {file.relative_to(folder).as_posix(): file.stat().st_size for file in files}
    return Listing(repository=repository, commit=folder.name, sizes=sizes, is_cached=True)


def incomplete(listing: Listing, revision: str) -> DataMissing:
    """Return the problem of a cached repository that lacks files."""
    return _absent(listing.repository, revision, "is only in part in")


def _absent(repository: str, revision: str, how: str) -> DataMissing:
    return DataMissing(
        f"HF_HUB_OFFLINE is set and {repository}@{revision} {how} the hub's cache ({constants.HF_HUB_CACHE}). "
        f"Unset it, or fetch the dataset where there is a network: "
        f"hf download {repository} --repo-type dataset --revision {spelled_out(repository, revision)}"
    )
