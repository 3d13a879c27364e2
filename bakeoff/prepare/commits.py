"""The commit behind a hash that is known by its first digits only, which the hub itself does not resolve."""

import re
from pathlib import Path

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.file_download import repo_folder_name

_BEGINNING = re.compile(r"[0-9a-f]{7,39}")


def names_one_state(revision: str, commit: str) -> bool:
    """Return whether `revision`, which resolved to `commit`, names it for ever: by its hash, not as a branch."""
    return len(revision) >= 7 and commit.startswith(revision)  # noqa: PLR2004 -- git's shortest hash


def listed_commit(api: huggingface_hub.HfApi, repository: str, revision: str) -> str | None:
    """Return the only commit of the hub's history that begins with `revision`, else None.

    Raises:
        HfHubHTTPError: as the hub answers.
    """
    if not _BEGINNING.fullmatch(revision):
        return None
    history = api.list_repo_commits(repository, repo_type="dataset")
    return _only([commit.commit_id for commit in history], revision)


def cached_commit(repository: str, revision: str) -> str | None:
    """Return the only commit in the hub's cache that begins with `revision`, else None."""
    if not _BEGINNING.fullmatch(revision):
        return None
    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=repository, repo_type="dataset") / "snapshots"
    return _only([path.name for path in folder.glob("*")], revision)


def spelled_out(repository: str, revision: str) -> str:
    """Return a revision for a tool that takes whole hashes only, with the place to look one up if it is not whole."""
    if not _BEGINNING.fullmatch(revision):
        return revision
    return f"{revision}... (in full, from https://huggingface.co/datasets/{repository}/commits/main)"


def _only(commits: list[str], beginning: str) -> str | None:
    found = {commit for commit in commits if commit.startswith(beginning)}
    return found.pop() if len(found) == 1 else None
