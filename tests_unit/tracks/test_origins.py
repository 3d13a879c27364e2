"""A run names the commits that its samples were made from, not those that the track pins today."""

import hashlib
from pathlib import Path

import msgspec
import pytest

from bakeoff.tracks import TRACKS, Track
from bakeoff.tracks.origins import UNKNOWN, prepared_revision

SAMPLES = b'{"id": "gsm8k_1"}\n'
SHA = hashlib.sha256(SAMPLES).hexdigest()


def track(folder: Path, name: str = "refcoco") -> Track:
    return msgspec.structs.replace(TRACKS[name], folder=lambda: folder)


def manifest(folder: Path, *commits: str) -> None:
    origins = [{"commit": commit, "revision": "main"} for commit in commits]
    content = msgspec.json.encode({"schema": 1, "origins": origins, "samples_sha256": SHA})
    (folder / "manifest.json").write_bytes(content)


def test_commits_are_told_in_order_and_each_once(tmp_path: Path) -> None:
    manifest(tmp_path, "b" * 40, "b" * 40, "a" * 40)
    assert prepared_revision(track(tmp_path), SHA) == f"{'b' * 40}, {'a' * 40}"


def test_samples_of_another_hash_are_of_no_known_revision(tmp_path: Path) -> None:
    manifest(tmp_path, "b" * 40)
    assert prepared_revision(track(tmp_path), "0" * 64) == UNKNOWN


def test_a_manifest_that_names_no_commit_claims_nothing(tmp_path: Path) -> None:
    manifest(tmp_path)
    assert prepared_revision(track(tmp_path), SHA) == UNKNOWN


@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"origins": 3, "samples_sha256": ""}'])
def test_without_a_manifest_that_can_be_read_nothing_is_claimed(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content)
    assert prepared_revision(track(tmp_path), SHA) == UNKNOWN


@pytest.mark.parametrize("name", ["calibration", "custom"])
def test_a_track_that_no_hub_has_is_of_its_own_revision(tmp_path: Path, name: str) -> None:
    manifest(tmp_path, "b" * 40)
    assert prepared_revision(track(tmp_path, name), SHA) == TRACKS[name].revision
