import json
import shlex
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from bakeoff.commands import replay
from bakeoff.commands.replay import replay_arguments
from bakeoff.models import resolve
from bakeoff.plugin import options
from bakeoff.runs import Manifest, RunDirectory
from tests_unit.commands.calibration import records, write_run
from tests_unit.commands.conftest import Cli

OPTIONS: dict[str, Any] = {
    "model": ["fake:echo"],
    "limit": ["4"],
    "temperature": 0.0,
    "repetition_penalty": None,
    "no_image_reuse": False,
    "server_arg": ["-b", "512"],
    "seed": 3,
}


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return write_run(tmp_path / "run", {"fake-echo": records()[:4]}, **OPTIONS)


def with_argv(run: RunDirectory, *argv: str) -> Manifest:
    return msgspec.structs.replace(run.manifest(), argv=argv)


def test_the_command_has_every_option_in_force_and_no_place_of_its_own(run: RunDirectory, cli: Cli) -> None:
    done = cli("replay", run.path)
    assert done.exit_code == 0, done.exception
    command = shlex.split(done.stdout.splitlines()[0])
    assert command == [
        *("uv", "run", "pytest", "tests_bench", "--model", "fake:echo", "--limit", "4", "--temperature", "0.0"),
        *("--server-arg=-b", "--server-arg", "512", "--seed", "3"),
    ]


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        (("tests_bench", "--resume", "--limit=9", "-k", "reading"), ["tests_bench", "-k", "reading"]),
        (("--resume", "reports/x", "tests_bench", "-q"), ["tests_bench", "-q"]),
        (("tests_bench", "--seed", "9", "--image-reuse", "-n", "2"), ["tests_bench", "-n", "2"]),
        (("/usr/bin/pytest", "tests_bench", "--no-image-reuse"), ["tests_bench"]),
    ],
)
def test_of_the_stored_command_only_what_is_not_ours_is_kept(
    run: RunDirectory, argv: tuple[str, ...], kept: list[str]
) -> None:
    found = replay_arguments(with_argv(run, *argv))
    assert list(found[: len(kept)]) == kept
    assert found[len(kept)] == "--model"


def test_the_embedded_pair_is_named_although_nobody_typed_it(run: RunDirectory) -> None:
    manifest = run.manifest()
    arms = {
        name: msgspec.structs.replace(manifest.arms["fake-echo"], model=name) for name in ("tiny-bf16", "tiny-4bit")
    }
    found = replay_arguments(msgspec.structs.replace(manifest, arms=arms, options={"model": []}))
    assert found == ("tests_bench", "--model", "tiny-bf16", "--model", "tiny-4bit")


def test_on_the_same_machine_nothing_differs(run: RunDirectory, cli: Cli) -> None:
    assert "nothing: versions, samples and local weights are as they were" in cli("replay", run.path).stdout


def test_what_no_longer_matches_is_named_with_both_values(run: RunDirectory, cli: Cli) -> None:
    path = run.path / "run.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["environment"]["python"] = "2.7"
    manifest["environment"]["packages"]["mlx"] = "0.0.1"
    manifest["tracks"]["calibration"].update(samples_sha256="0" * 64, version="0")
    manifest["tracks"]["beauty"] = manifest["tracks"]["calibration"]
    manifest["arms"]["fake-echo"]["fingerprint"]["tracks.calibration.scorers"] = ["anls@0"]
    path.write_text(json.dumps(manifest), "utf-8")
    text = cli("replay", run.path).stdout
    assert "python was 2.7 and is now 3." in text
    assert "packages mlx was 0.0.1 and is now" in text
    assert "samples of calibration had the hash 0000000000 and now have" in text
    assert "track calibration was version 0 and is now" in text
    assert "track beauty is not known to this version" in text
    assert "scorer anls@0 of calibration is now" in text


def test_other_local_weights_are_noticed(run: RunDirectory, cli: Cli) -> None:
    manifest = run.manifest()
    arm = msgspec.structs.replace(manifest.arms["fake-echo"], model="tiny-gguf-q4", backend="gguf")
    run.write_manifest(msgspec.structs.replace(manifest, arms={"tiny-gguf-q4": arm}))
    file = Path(resolve("tiny-gguf-q4").location).name
    assert f"tiny-gguf-q4: the weights {file} are others than in the run" in cli("replay", run.path).stdout


def test_the_same_local_weights_are_the_same(run: RunDirectory, cli: Cli) -> None:
    from bakeoff.hub import file_sha256, weights_sha256  # noqa: PLC0415 - loads the hub's client

    manifest = run.manifest()
    base = manifest.arms["fake-echo"]
    gguf, mlx = resolve("tiny-gguf-q4"), resolve("tiny-4bit")
    hashes = {
        "tiny-gguf-q4": file_sha256(Path(gguf.location)),
        "tiny-4bit": weights_sha256(sorted(Path(mlx.location).glob("*.safetensors"))),
    }
    arms = {n: msgspec.structs.replace(base, model=n, identity={"weights_sha256": h}) for n, h in hashes.items()}
    run.write_manifest(msgspec.structs.replace(manifest, arms=arms))
    assert "weights" not in cli("replay", run.path).stdout.partition("no longer as in the run:")[2].replace(
        "local weights are as they were", ""
    )


def test_weights_that_are_gone_and_commits_that_are_not_pinned_are_told(run: RunDirectory, cli: Cli) -> None:
    manifest = run.manifest()
    base = manifest.arms["fake-echo"]
    gone = msgspec.structs.replace(base, model="/nowhere/model.gguf", backend="gguf")
    hub = msgspec.structs.replace(base, model="owner/name", backend="mlx", identity={"revision": "abc" * 10})
    run.write_manifest(msgspec.structs.replace(manifest, arms={"gone": gone, "hub": hub}))
    text = cli("replay", run.path).stdout
    assert "gone: there are no weights at /nowhere/model.gguf any more" in text
    assert "hub ran commit abcabcabca of the hub, which its name does not pin" in text


def test_running_it_gives_the_exit_code_of_pytest(run: RunDirectory, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def fake(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        asked.append(command)
        return subprocess.CompletedProcess(command, 5)

    monkeypatch.setattr(subprocess, "run", fake)
    monkeypatch.setattr(replay, "environment", dict)
    assert cli("replay", run.path, "--run").exit_code == 5
    assert asked[-1][1:4] == ["-m", "pytest", "tests_bench"]


class Parser:
    """Takes down the options that the plugin adds."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def getgroup(self, *_: str) -> "Parser":
        return self

    def addoption(self, flag: str, **_: object) -> None:
        self.names.add(flag.removeprefix("--").replace("-", "_"))


def test_every_option_of_the_plugin_is_stored_or_known_to_be_left_out() -> None:
    parser = Parser()
    options.add_options(parser)  # type: ignore[arg-type]  # stands in for pytest's
    config = SimpleNamespace(getoption=lambda _: None)
    stored = options.storable(config, {}).keys()  # type: ignore[arg-type]  # stands in for pytest's
    kept_as_typed = {"fail_on_wrong", "host_timeout"}
    assert parser.names - stored - replay._DROPPED.keys() == kept_as_typed
