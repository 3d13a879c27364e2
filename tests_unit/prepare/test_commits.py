"""A revision of which only the first digits of the hash are known is looked up in the repository's history."""

from pathlib import Path

import pytest
from huggingface_hub import constants

from bakeoff.errors import DataMissing
from bakeoff.prepare.commits import cached_commit, names_one_state
from bakeoff.prepare.listing import cached_listing
from tests_unit.doubles.data_hub import COMMIT, OLDER
from tests_unit.prepare.pages import REPOSITORY, Bench


def test_the_whole_hash_is_recorded_and_counts_as_pinned(bench: Bench) -> None:
    manifest = bench.prepare(revisions=["pages=c39eb63"])
    assert manifest is not None
    (origin,) = manifest.origins
    assert (origin.revision, origin.commit) == ("c39eb63", OLDER)
    bench.hub.forget()
    assert bench.prepare(revisions=["pages=c39eb63"]) == manifest
    assert bench.hub.requests == []


@pytest.mark.parametrize("beginning", ["c39eb64", "c39eb6", "C39EB63"])
def test_what_no_commit_begins_with_is_no_revision(bench: Bench, beginning: str) -> None:
    bench.hub.faults = {0: "gone"}
    with pytest.raises(DataMissing, match=rf"has no revision {beginning}\. Name one that exists"):
        bench.prepare(revisions=[f"pages={beginning}"])


def test_a_beginning_of_several_commits_is_no_revision(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests_unit.doubles.data_hub.OLDER", COMMIT[:10] + "0" * 30)
    with pytest.raises(DataMissing, match=f"has no revision {COMMIT[:8]}"):
        bench.prepare(revisions=[f"pages={COMMIT[:8]}"])


def test_offline_the_cache_is_looked_through() -> None:
    snapshots = Path(constants.HF_HUB_CACHE) / "datasets--org--Pages" / "snapshots"
    with pytest.raises(DataMissing, match=r"--revision c39eb63\.\.\. \(in full, from https://"):
        cached_listing(REPOSITORY, "c39eb63")
    (snapshots / OLDER).mkdir(parents=True)
    (snapshots / COMMIT).mkdir()
    assert cached_commit(REPOSITORY, "c39eb63") == OLDER
    assert cached_listing(REPOSITORY, "c39eb63").commit == OLDER
    assert cached_commit(REPOSITORY, "main") is None


def test_a_hash_names_one_state_and_a_branch_does_not() -> None:
    revisions = (COMMIT, COMMIT[:7], COMMIT[:6], "main", OLDER)
    assert [names_one_state(revision, COMMIT) for revision in revisions] == [True, True, False, False, False]
