"""What the client of OpenAI-compatible servers does when they misbehave."""

import errno
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from bakeoff.backends import Settings, open_backend
from bakeoff.backends.openai.backend import OpenAIBackend
from bakeoff.backends.openai.http import TRIES, Servers
from bakeoff.errors import BackendDied, BackendError, BackendTimeout, ContextOverflow, UsageProblem
from bakeoff.models import resolve
from tests_unit.backends.conftest import text_prompt
from tests_unit.doubles.openai_server import Act, OpenAIDouble, failing, serve

Make = Callable[..., Settings]
Open = Callable[..., OpenAIBackend]


@pytest.fixture
def server() -> Iterator[OpenAIDouble]:
    with serve() as double:
        yield double


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits between tries, noted instead of waited."""
    noted: list[float] = []
    monkeypatch.setattr(Servers, "pause", lambda _, wait_s: noted.append(wait_s))
    return noted


@pytest.fixture
def opened(server: OpenAIDouble, settings: Make, waits: list[float]) -> Iterator[Open]:
    backends: list[OpenAIBackend] = []

    def make(*more: str, **changed: object) -> OpenAIBackend:
        location = "|".join((server.url, *more))
        backend = open_backend(resolve(f"openai:{location}#m"), settings(needs_images=False, **changed))
        assert isinstance(backend, OpenAIBackend)
        backends.append(backend)
        server.seen.clear()
        waits.clear()
        return backend

    yield make
    for backend in backends:
        backend.close()


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again_after_growing_waits(
    opened: Open, server: OpenAIDouble, waits: list[float], status: int
) -> None:
    backend = opened()
    server.script = failing(*[Act(status=status)] * 3)
    assert backend.submit(text_prompt("hi")).result().text == "yes it is red indeed"
    assert [body["messages"][0]["content"] for body in server.bodies] == ["hi"] * 4
    assert len(waits) == 3
    assert all(whole / 2 <= wait <= whole for wait, whole in zip(waits, (0.5, 1.0, 2.0), strict=True))


def test_waits_are_not_all_alike(opened: Open, server: OpenAIDouble, waits: list[float]) -> None:
    backend = opened()
    for _ in range(8):
        server.script = failing(Act(status=503))
        backend.submit(text_prompt("hi")).result()
    assert len(set(waits)) > 1


def test_the_wait_a_server_asks_for_is_kept(opened: Open, server: OpenAIDouble, waits: list[float]) -> None:
    backend = opened()
    past = "Wed, 21 Oct 2015 07:28:00 GMT"
    server.script = failing(*(Act(status=429, headers={"Retry-After": after}) for after in ("7", past)))
    assert backend.submit(text_prompt("hi")).result().text
    assert waits == [7.0, 0.0]


def test_a_wait_beyond_the_timeout_is_an_error_at_once(opened: Open, server: OpenAIDouble, waits: list[float]) -> None:
    backend = opened(timeout_s=60)
    server.script = failing(Act(status=429, body="come back tomorrow", headers={"Retry-After": "86400"}))
    with pytest.raises(BackendError, match=r"answered 429: come back tomorrow"):
        backend.submit(text_prompt("hi")).result()
    assert waits == []


def test_after_all_tries_the_sample_is_an_error_with_the_servers_words(opened: Open, server: OpenAIDouble) -> None:
    backend = opened()
    server.script = lambda _: Act(status=500, body="out of memory")
    with pytest.raises(BackendError, match=r"answered 500: out of memory"):
        backend.submit(text_prompt("hi")).result()
    assert len(server.seen) == TRIES


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_cannot_pass_is_not_tried_again(opened: Open, server: OpenAIDouble, status: int) -> None:
    backend = opened()
    server.script = lambda _: Act(status=status, body=json.dumps({"error": {"message": "no such thing"}}))
    with pytest.raises(BackendError, match=rf"answered {status}: no such thing"):
        backend.submit(text_prompt("hi")).result()
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 400, "message": "request (36011 tokens) exceeds the available context size (4096 tokens)"}},
        {
            "error": {
                "message": "This model's maximum context length is 4096 tokens.",
                "code": "context_length_exceeded",
            }
        },
        {"detail": "Protected conversation exceeds the available context budget."},
        {"error": {"message": "The prompt (total length 9000) is longer than the maximum model length of 4096"}},
        {"message": "Requested token count exceeds the model's maximum context length of 4096 tokens."},
    ],
    ids=["llama.cpp", "OpenAI", "mlx-vlm", "vLLM", "SGLang"],
)
def test_a_prompt_that_does_not_fit_is_an_overflow(opened: Open, server: OpenAIDouble, body: object) -> None:
    backend = opened()
    server.script = lambda _: Act(status=400, body=json.dumps(body))
    with pytest.raises(ContextOverflow):
        backend.submit(text_prompt("hi")).result()


def test_a_slow_answer_is_a_timeout_after_two_tries(opened: Open, server: OpenAIDouble, waits: list[float]) -> None:
    backend = opened()
    backend._servers._timeout_s = 0.3  # after the examination, which may take its time
    server.script = lambda _: Act(hold=True)
    with pytest.raises(BackendTimeout, match=r"no answer from http.* within 0 s"):
        backend.submit(text_prompt("hi")).result()
    assert len(waits) == 1


def test_a_way_that_is_cut_in_a_wait_is_no_timeout(
    opened: Open, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system gives such a connection up, with an error that requests takes for a timeout of its own."""
    backend = opened()
    post, left = requests.Session.post, [errno.ETIMEDOUT] * 3

    def cut(self: requests.Session, url: str, **more: Any) -> requests.Response:
        if not left:
            return post(self, url, **more)
        raise requests.ReadTimeout("Read timed out") from TimeoutError(left.pop(), "Connection timed out")

    monkeypatch.setattr(requests.Session, "post", cut)
    assert backend.submit(text_prompt("hi")).result().text
    assert len(waits) == 3, "two timeouts would have been the end"
    left += [errno.ETIMEDOUT] * TRIES
    with pytest.raises(BackendDied, match="cannot be reached any more: the connection was cut"):
        backend.submit(text_prompt("hi")).result()


def test_a_connection_that_is_cut_is_tried_again(opened: Open, server: OpenAIDouble) -> None:
    backend = opened()
    server.script = failing(Act(cut=True), Act(cut=True))
    assert backend.submit(text_prompt("hi")).result().text
    server.script = lambda _: Act(cut=True)
    with pytest.raises(BackendDied, match="cut the connection"):
        backend.submit(text_prompt("hi")).result()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("<html>proxy</html>", "without JSON"),
        ("{}", "without an answer"),
        ('{"choices": []}', "without an answer"),
        ('{"choices": [{"message": "text"}]}', "without an answer"),
        ('{"error": {"message": "model crashed"}}', "model crashed"),
        ("[1, 2]", "answered 200"),
        ('{"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}', "content_filter"),
    ],
)
def test_a_reply_without_an_answer_is_an_error_and_never_a_text(
    opened: Open, server: OpenAIDouble, body: str, told: str
) -> None:
    backend = opened()
    server.script = lambda _: Act(body=body)
    with pytest.raises(BackendError, match=told):
        backend.submit(text_prompt("hi")).result()


def test_a_redirect_is_not_followed(opened: Open, server: OpenAIDouble) -> None:
    backend = opened()
    server.script = lambda _: Act(status=307, headers={"Location": "http://127.0.0.1:1/elsewhere"})
    with pytest.raises(BackendError, match="answered 307"):
        backend.submit(text_prompt("hi")).result()


def test_of_two_servers_the_one_that_lives_gets_the_work_of_the_other(opened: Open, server: OpenAIDouble) -> None:
    with serve() as second:
        backend = opened(second.url)
        second.seen.clear()
        server.script = lambda _: Act(cut=True)
        texts = [backend.submit(text_prompt("hi")).result().text for _ in range(12)]
        assert texts == ["yes it is red indeed"] * 12
        assert len(second.seen) == 12
        assert 1 <= len(server.seen) <= 4
        server.script = lambda _: None
        for _ in range(40):
            backend.submit(text_prompt("hi")).result()
        assert len(server.seen) > 12


def test_a_server_whose_reply_is_no_json_counts_as_free_again(opened: Open, server: OpenAIDouble) -> None:
    with serve() as second:
        backend = opened(second.url)
        server.script = second.script = lambda _: Act(body="<html>proxy</html>")
        for _ in range(3):
            with pytest.raises(BackendError, match="without JSON"):
                backend.submit(text_prompt("hi")).result()
        assert set(backend._servers._flying.values()) == {0}


def test_two_servers_share_the_load(opened: Open, server: OpenAIDouble) -> None:
    with serve() as second:
        backend = opened(second.url)
        second.seen.clear()
        futures = [backend.submit(text_prompt("hi")) for _ in range(20)]
        assert len({future.result().text for future in futures}) == 1
        assert min(len(server.seen), len(second.seen)) >= 5


def test_servers_that_differ_cannot_share_the_load(server: OpenAIDouble, settings: Make) -> None:
    with serve() as second:
        second.refuses = ("min_p",)
        with pytest.raises(UsageProblem, match=r"cannot share the load: refused is \(\) at one and \('min_p',\)"):
            open_backend(resolve(f"openai:{server.url}|{second.url}#m"), settings(needs_images=False))


def test_closing_fails_what_is_in_flight_at_once(opened: Open, server: OpenAIDouble) -> None:
    backend = opened()
    server.script = lambda _: Act(hold=True)
    future = backend.submit(text_prompt("hi"))
    assert server.holding.wait(60)
    backend.close()
    backend.close()
    with pytest.raises(BackendDied):
        future.result(timeout=60)
    with pytest.raises(BackendDied):
        backend.submit(text_prompt("hi")).result(timeout=60)


def test_closing_while_a_try_waits_asks_the_server_no_more(
    server: OpenAIDouble, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = set(threading.enumerate())
    backend = open_backend(resolve(f"openai:{server.url}#m"), settings(needs_images=False))
    server.seen.clear()
    server.script = lambda _: Act(status=503, headers={"Retry-After": "500"})
    waits, pause = threading.Event(), Servers.pause

    def paused(servers: Servers, wait_s: float) -> bool:
        waits.set()
        return pause(servers, wait_s)

    monkeypatch.setattr(Servers, "pause", paused)
    mine = [thread for thread in set(threading.enumerate()) - others if thread.name.startswith("openai client")]
    assert mine
    future = backend.submit(text_prompt("hi"))
    assert waits.wait(60)
    backend.close()
    with pytest.raises(BackendDied):
        future.result(timeout=60)
    for thread in mine:
        thread.join(60)
    assert not [thread for thread in mine if thread.is_alive()]
    assert len(server.seen) == 1


def test_a_server_that_came_back_is_found_by_restart_and_a_dead_one_is_not(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = opened()
    backend.restart()
    monkeypatch.setattr("bakeoff.backends.openai.backend.RETURN_TIMEOUT_S", 0.0)
    monkeypatch.setattr(Servers, "is_reachable", lambda *_: False)
    with pytest.raises(BackendDied, match="no server answers"):
        backend.restart()
