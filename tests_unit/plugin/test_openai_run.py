"""A whole run on an OpenAI-compatible server: recorded as any other, with workers and without, and without its key."""

from collections.abc import Callable, Iterator

import pytest

from tests_unit.doubles.openai_server import Act, OpenAIDouble, serve
from tests_unit.plugin.conftest import BenchRun

Bench = Callable[..., BenchRun]
KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIDouble]:
    monkeypatch.setenv("BAKEOFF_API_KEY", KEY)
    with serve() as double:
        yield double


def test_a_run_is_recorded_with_what_the_server_can_do_and_without_the_key(
    bench: Bench, server: OpenAIDouble, mode: tuple[str, ...]
) -> None:
    server.refuses = ("min_p",)
    echo = Act(status=400, body=f'{{"error": "bad key {KEY}"}}')
    server.script = lambda body: echo if body.get("seed", 1) % 5 == 0 else None
    run = bench("--model", f"openai:{server.url}#m", "--limit", "8", "--parity", "off", *mode)
    assert run.code in {0, 1}, run.text
    assert len(run.records) == 8
    assert {record.status for record in run.records.values()} <= {"ok", "error"}
    (arm,) = run.run.manifest().arms.values()
    assert arm.identity["refused_fields"] == ["min_p"]
    assert arm.identity["capabilities"]["images"] == "seen"
    assert not [name for name in arm.fingerprint if "servers" in name or "capabilities" in name]
    assert {seen.authorization for seen in server.seen} == {f"Bearer {KEY}"}
    kept = [path.read_bytes() for path in run.folder.rglob("*") if path.is_file()]
    assert not [content for content in (*kept, run.text.encode()) if KEY.encode() in content]


def test_what_was_found_of_a_server_holds_in_every_worker(
    bench: Bench, server: OpenAIDouble, mode: tuple[str, ...]
) -> None:
    """The server always says `stop`, which only the examination shows: its token counts are believed instead."""
    server.finish = "stop"
    model = f"openai:{server.url}#m"
    run = bench("--model", model, "--limit", "4", "--parity", "off", "--max-tokens", "3", *mode)
    assert [record.finish_reason for record in run.records.values()] == ["length"] * 4, run.text
    examined = [body for body in server.bodies if "Write ten words" in str(body["messages"])]
    assert len(examined) == 18, "the server was examined more than once"


def test_a_server_that_is_not_there_ends_the_run_before_the_first_sample(bench: Bench) -> None:
    run = bench("--model", "openai:http://127.0.0.1:9/v1#m", "--limit", "2", "--parity", "off")
    assert run.code == 2, run.text
    assert "cannot be reached" in run.text
    assert "Traceback" not in run.text
