"""Every track that has a source is prepared from its dataset's real schema, end to end, by the command."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow, ImageOps

from bakeoff.prepare import Consent, Link, Screen, freeze, prepare, read_requests
from bakeoff.prepare.layout import data_files
from bakeoff.prepare.link import STALL_S
from bakeoff.prepare.manifest import Manifest, read_manifest
from bakeoff.prepare.problems import NothingWorks
from bakeoff.tracks import TRACKS, load_samples
from bakeoff.tracks.source import Source, Split
from tests_unit.bare import BARE
from tests_unit.doubles.data_hub import COMMIT, OLDER, DataHub, data_hub
from tests_unit.prepare.real_schemas import write_datasets

SOURCES: dict[str, Source] = {name: track.source for name, track in TRACKS.items() if track.source is not None}
FULL = {"screenspot": 1272, "blink": 1901, "mathvista": 1000, "mmmu": 900, "gsm8k": 1319}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataHub]:
    root = tmp_path_factory.mktemp("datasets")
    write_datasets(root, (split for source in SOURCES.values() for split in source.splits))
    with data_hub(root) as running:
        yield running


def environment(hub: DataHub, folder: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "BAKEOFF_"))}
    own = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(folder / "hf"), "BAKEOFF_DATA": str(folder / "data")}
    return {**kept, **own, "COLUMNS": "200", **more}


def bakeoff(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    code = "from bakeoff.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "prepare", *words], env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def prepared(hub: DataHub, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """What `bakeoff prepare` without words leaves, and prints."""
    folder = tmp_path_factory.mktemp("prepared")
    done = bakeoff(env=environment(hub, folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "data", done.stdout


def manifest_of(folder: Path) -> Manifest:
    manifest = read_manifest(folder)
    assert manifest is not None
    return manifest


@pytest.mark.parametrize("name", SOURCES)
def test_every_track_is_prepared_in_its_default_size(prepared: tuple[Path, str], name: str) -> None:
    data, printed = prepared
    manifest = manifest_of(data / name)
    samples = load_samples(data / name)
    assert manifest.size == SOURCES[name].default
    assert manifest.rows_read == sum(split.rows for split in SOURCES[name].splits)
    commits = [OLDER if s.revision == "c39eb63" else s.revision for s in SOURCES[name].splits]
    assert [origin.commit for origin in manifest.origins] == commits
    assert manifest.rows_taken - sum(manifest.left_out.values()) == manifest.samples == len(samples)
    assert f"{name}: {len(samples)} samples with {manifest.images} images" in printed
    for sample in samples:
        assert sample.track == name
        for image in sample.images:
            with Pillow.open(image.path) as file:
                assert (image.width, image.height) == ImageOps.exif_transpose(file).size


def bench(data: Path, run: Path, *arguments: str) -> dict[str, Any]:
    """Run the project's own benchmarks on what was prepared and return the tracks of the one arm."""
    words = ["tests_bench", "-q", *BARE, "--run-dir", str(run), *arguments]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        env={**os.environ, "BAKEOFF_DATA": str(data)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    (arm,) = json.loads((run / "results.json").read_text("utf-8"))["arms"].values()
    return dict(arm["tracks"])


@pytest.mark.slow
def test_the_oracle_scores_everything_on_what_was_prepared(prepared: tuple[Path, str], tmp_path: Path) -> None:
    tracks = bench(prepared[0], tmp_path / "run", "--model", "fake:oracle")
    assert tracks.keys() >= SOURCES.keys()
    for name in SOURCES:
        found = tracks[name]
        (primary,) = (metric for metric in found["metrics"].values() if metric["primary"])
        assert (primary["value"], found["errors"]) == (1.0, 0), name
        assert found["n"] == len(load_samples(prepared[0] / name))
    run = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    for name in SOURCES:
        origins = manifest_of(prepared[0] / name).origins
        assert run["tracks"][name]["revision"] == ", ".join(dict.fromkeys(origin.commit for origin in origins))


@pytest.mark.slow
@pytest.mark.real_runtime
def test_a_real_model_answers_samples_of_every_track(prepared: tuple[Path, str], tmp_path: Path) -> None:
    few = ("--limit", "1", "--max-tokens", "8", "--max-truncated", "100", "--parity", "off")
    tracks = bench(prepared[0], tmp_path / "run", "--model", "tiny-bf16", "-k", " or ".join(SOURCES), *few)
    assert {name: (tracks[name]["n"], tracks[name]["errors"]) for name in SOURCES} == dict.fromkeys(SOURCES, (1, 0))


@pytest.mark.parametrize("name", SOURCES)
def test_every_track_survives_a_failure_of_every_request(
    hub: DataHub, prepared: tuple[Path, str], tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bakeoff.prepare.shards._FOOTER_BYTES", 100)  # or tiny shards come whole with their footers
    hub.forget()
    hub.faults = {number: ("500", "cut", "429")[number // 2 % 3] for number in range(0, 10_000, 2)}
    said: list[str] = []
    link = Link(endpoint=hub.endpoint, say=said.append, sleep=lambda _: None, workers=1)
    (request,) = read_requests([name], [], TRACKS)
    freeze(request, tmp_path / name, link=link, screen=Screen(), consent=Consent())
    hub.forget()
    assert len(said) >= 8
    assert (tmp_path / name / "samples.jsonl").read_bytes() == (prepared[0] / name / "samples.jsonl").read_bytes()


@pytest.mark.parametrize(("name", "size"), FULL.items())
def test_full_is_the_whole_split(hub: DataHub, tmp_path: Path, name: str, size: int) -> None:
    (request,) = read_requests([f"{name}=full"], [], TRACKS)
    freeze(request, tmp_path / name, link=Link(endpoint=hub.endpoint), screen=Screen(), consent=Consent())
    assert len(load_samples(tmp_path / name)) == size


def test_offline_reads_what_the_hubs_cache_holds(hub: DataHub, tmp_path: Path) -> None:
    env = environment(hub, tmp_path)
    revision = SOURCES["gsm8k"].splits[0].revision
    refused = bakeoff("gsm8k", env={**env, "HF_HUB_OFFLINE": "1"})
    assert refused.returncode == 4
    assert f"hf download openai/gsm8k --repo-type dataset --revision {revision}" in refused.stderr
    folder = tmp_path / "hf/hub/datasets--openai--gsm8k"
    (folder / "snapshots").mkdir(parents=True)
    (folder / "snapshots" / revision).symlink_to(hub.root / "openai/gsm8k")
    hub.forget()
    done = bakeoff("gsm8k", env={**env, "HF_HUB_OFFLINE": "1"})
    assert done.returncode == 0, done.stderr
    assert hub.requests == []
    assert manifest_of(tmp_path / "data/gsm8k").fetched_bytes == 0


def test_one_track_that_fails_does_not_keep_others_from_theirs(hub: DataHub, tmp_path: Path) -> None:
    done = bakeoff("gsm8k", "mathvista=20", "--revision", "gsm8k=gone", env=environment(hub, tmp_path))
    assert done.returncode == 4
    assert "openai/gsm8k has no revision gone" in done.stderr
    assert len(load_samples(tmp_path / "data/mathvista")) == 20


def test_offline_says_when_the_cache_holds_a_part(hub: DataHub, tmp_path: Path) -> None:
    env = {**environment(hub, tmp_path), "HF_HUB_OFFLINE": "1"}
    split = SOURCES["infographicvqa"].splits[0]
    folder = tmp_path / f"hf/hub/datasets--{split.repository.replace('/', '--')}/snapshots/{split.revision}"
    first, second = files_of(hub.root / split.repository, split)
    for name in ("README.md", first):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(hub.root / split.repository / name)
        refused = bakeoff("infographicvqa", env=env)
        assert refused.returncode == 4
        assert "is only in part in the hub's cache" in refused.stderr
        assert f"hf download {split.repository} --repo-type dataset --revision {split.revision}" in refused.stderr
    (folder / second).symlink_to(hub.root / split.repository / second)
    assert bakeoff("infographicvqa", env=env).returncode == 0


def test_a_reason_is_told_though_no_other_track_can_be_prepared(
    hub: DataHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path))
    tracks = {name: TRACKS[name] for name in ("mathvista", "gsm8k")}
    hub.forget()
    hub.faults = {1: "401"}
    link, consent = Link(endpoint=hub.endpoint, sleep=lambda _: None), Consent()
    with pytest.raises(NothingWorks, match=r"MathVista has no revision gone(.|\n)*refuses the access token"):
        prepare(["mathvista", "gsm8k"], ["mathvista=gone"], tracks, consent=consent, screen=Screen(), link=link)
    hub.forget()


def test_a_refused_token_ends_it_at_once(hub: DataHub, tmp_path: Path) -> None:
    hub.forget()
    hub.always = "401"
    done = bakeoff("gsm8k", "mathvista", env=environment(hub, tmp_path))
    asked = [url for url in hub.requests if "datasets" in url]
    hub.forget()
    assert done.returncode == 4
    assert "the hub refuses the access token (401)" in done.stderr
    assert len(asked) == 1


def test_an_interruption_ends_it_though_the_hub_sends_nothing(hub: DataHub, tmp_path: Path) -> None:
    hub.forget()
    hub.faults = dict.fromkeys(range(30, 1000), "stall")
    command = [sys.executable, "-c", "from bakeoff.cli import main; main()", "prepare", "refcoco"]
    with subprocess.Popen(
        command,
        env=environment(hub, tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 -- one thread
    ) as running:
        while len(hub.requests) <= 32 and running.poll() is None:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        printed, errors = running.communicate(timeout=STALL_S / 2)
    hub.forget()
    assert (running.returncode, errors) == (130, "")
    assert "stopped. What is stored already is kept: the same command goes on from there." in printed


def test_the_token_and_the_endpoint_are_the_environments(hub: DataHub, tmp_path: Path) -> None:
    hub.forget()
    done = bakeoff("gsm8k=5", env=environment(hub, tmp_path, HF_TOKEN=(secret := "hf_of_a_test")))
    assert done.returncode == 0, done.stderr
    asked = {url: token for url, token in zip(hub.requests, hub.tokens, strict=True) if "datasets" in url}
    assert set(asked.values()) == {f"Bearer {secret}"}
    assert secret not in done.stdout + done.stderr


DATASETS_SAYS = """
import json, sys, datasets
said = {}
for repository, config in json.loads(sys.argv[1]):
    files = datasets.load_dataset_builder(repository, config, revision=sys.argv[2]).config.data_files
    said[repository + "/" + config] = {str(split): sorted(paths) for split, paths in files.items()}
print(json.dumps(said))
"""


@pytest.mark.slow
def test_the_files_of_a_split_are_those_that_the_datasets_library_finds(hub: DataHub, tmp_path: Path) -> None:
    splits = {(split.repository, split.config): split for source in SOURCES.values() for split in source.splits}
    some = {place[0]: place for place in splits}.values()
    done = subprocess.run(
        [sys.executable, "-c", DATASETS_SAYS, json.dumps(list(some)), COMMIT],
        env=environment(hub, tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    for place in some:
        split = splits[place]
        ours = files_of(hub.root / split.repository, split)
        theirs = said["/".join(place)][split.split]
        assert [path.rpartition(f"{COMMIT}/")[2] for path in theirs] == ours


def files_of(folder: Path, split: Split) -> list[str]:
    paths = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    card = folder / "README.md"
    text = card.read_text("utf-8") if card.is_file() else ""
    return data_files(paths, text, repository=split.repository, config=split.config, split=split.split)
