"""The key for OpenAI-compatible servers: written nowhere, and no answer changes for it."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bakeoff.backends import Settings, open_backend
from bakeoff.backends.openai.http import Servers
from bakeoff.backends.openai.key import key_for
from bakeoff.errors import BackendError, ContextOverflow, UsageProblem
from bakeoff.models import resolve
from tests_unit.backends.conftest import text_prompt
from tests_unit.doubles.openai_server import Act, OpenAIDouble, serve

Make = Callable[..., Settings]
KEY = "sk-very/secret+1234567890"


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Servers, "pause", lambda *_: False)


@pytest.fixture
def server() -> Iterator[OpenAIDouble]:
    with serve() as double:
        yield double


def test_the_key_is_sent_and_appears_in_nothing_that_is_kept(
    server: OpenAIDouble,
    settings: Make,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("BAKEOFF_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    server.message = lambda _: {"role": "assistant", "content": f"your key is {KEY}", "reasoning_content": KEY}
    backend = open_backend(resolve(f"openai:{server.url}#m"), settings(needs_images=False, progress=said.append))
    kept = [json.dumps(dict(backend.identity)), repr(vars(backend)), backend.submit(text_prompt("hi")).result().text]
    echo = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}", "headers": {KEY: KEY}}})
    for act in (
        Act(status=400, body=echo),
        Act(status=500, body=echo),
        Act(body=f"key={KEY.replace('/', '%2F')} {KEY}"),
    ):
        server.script = lambda _, act=act: act  # type: ignore[misc]  # the loop's own value
        with pytest.raises(BackendError) as caught:
            backend.submit(text_prompt("hi")).result()
        kept.append(f"{caught.value} {caught.value.__cause__}")
    backend.close()
    assert {seen.authorization for seen in server.seen} == {f"Bearer {KEY}"}
    written = [path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file()]
    assert any("try 1" in text for text in written)
    assert not [text for text in (*kept, *said, *written, caplog.text) if KEY in text]


def test_the_common_key_does_not_travel_over_plain_http_and_the_own_one_goes_first() -> None:
    both = {"OPENAI_API_KEY": "common", "BAKEOFF_API_KEY": "own"}
    assert key_for("http://gpu-box:8000/v1", {"OPENAI_API_KEY": "common"}).hide("common") == "common"
    assert key_for("https://api.example.org/v1", {"OPENAI_API_KEY": "common"}).hide("common") == "***"
    assert key_for("http://127.0.0.1:8000/v1", {"OPENAI_API_KEY": "common"}).hide("common") == "***"
    assert key_for("http://gpu-box:8000/v1", both).hide("own common") == "*** common"
    with pytest.raises(UsageProblem, match="no HTTP header can carry"):
        key_for("https://x/v1", {"BAKEOFF_API_KEY": "zwölf"})


@pytest.mark.parametrize("address", ["http://me:geheim@host/v1", "http://host/v1?key=geheim"])
def test_a_secret_in_the_address_is_refused_without_being_repeated(address: str) -> None:
    with pytest.raises(UsageProblem, match="BAKEOFF_API_KEY") as caught:
        resolve(f"openai:{address}#m")
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("key", ["red", "7", "content", "choices", "stop", "m", "id"])
def test_a_key_that_is_no_secret_changes_no_answer(
    server: OpenAIDouble, settings: Make, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("BAKEOFF_API_KEY", key)
    server.message = lambda _: {"role": "assistant", "content": "7 red contents, no choices: stop"}
    backend = open_backend(resolve(f"openai:{server.url}#m"), settings(needs_images=False))
    output = backend.submit(text_prompt("hi")).result()
    assert (output.text, output.finish_reason) == ("7 red contents, no choices: stop", "stop")
    assert {name: backend.identity[name] for name in ("model", "answers_as")} == {"model": "m", "answers_as": "m"}
    backend.close()


def test_an_error_is_understood_before_a_key_in_it_is_hidden(
    server: OpenAIDouble, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAKEOFF_API_KEY", "context")
    backend = open_backend(resolve(f"openai:{server.url}#m"), settings(needs_images=False))
    server.script = lambda _: Act(status=400, body='{"error": {"message": "exceeds the context length"}}')
    with pytest.raises(ContextOverflow, match=r"exceeds the \*\*\* length"):
        backend.submit(text_prompt("hi")).result()
    backend.close()


@pytest.mark.parametrize("key", [KEY, "hunter2", "quo'te\\d/\"2", "error"])
def test_a_key_that_an_error_repeats_is_hidden_whatever_its_length(
    server: OpenAIDouble, settings: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str
) -> None:
    monkeypatch.setenv("BAKEOFF_API_KEY", key)
    backend = open_backend(resolve(f"openai:{server.url}#m"), settings(needs_images=False))
    echoes = {
        "words": Act(status=400, body=json.dumps({"error": {"message": f"bad key {key}"}})),
        "names of fields": Act(status=400, body=json.dumps({"error": {"sent": {key: [key]}}})),
        "cut in the key": Act(status=400, body=json.dumps({"error": "x" * 497 + key})),
        "escaped": Act(status=500, body=json.dumps({"odd": key}).replace("/", "\\/")),
        "no JSON": Act(status=404, body=f"<b>{key}</b>"),
        "no JSON in 200": Act(body=f"no JSON {key}"),
        "no answer": Act(body=json.dumps({"odd": {key: key}})),
        "error in 200": Act(body=json.dumps({"error": {"message": key}})),
    }
    for name, act in echoes.items():
        server.script = lambda _, act=act: act  # type: ignore[misc]  # the loop's own value
        with pytest.raises(BackendError, match=r"\*\*\*") as caught:
            backend.submit(text_prompt("hi")).result()
        logs = [path.read_text("utf-8") for path in tmp_path.rglob("*.log")]
        forms = {key, repr(key)[1:-1], json.dumps(key)[1:-1]}
        assert not [form for form in forms for text in (str(caught.value), *logs) if form in text], name
    backend.close()


def test_a_key_in_what_a_server_tells_of_itself_is_not_in_the_identity(
    server: OpenAIDouble, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAKEOFF_API_KEY", KEY)
    server.told = {"owner": KEY, KEY: 1}
    backend = open_backend(resolve(f"openai:{server.url}#m"), settings(needs_images=False))
    assert backend.identity["served"]["owner"] == "***"
    assert KEY not in json.dumps(dict(backend.identity))
    backend.close()
