"""Every route under odd addresses, queries and bodies: an answer in words, never a fault of ours."""

import itertools
import json
from typing import Any

import hypothesis
import pytest
import requests
from hypothesis import strategies as st
from starlette.routing import Route

from bakeoff.web.app import _Ui
from bakeoff.web.events import Broadcast
from bakeoff.web.jobs import Jobs
from bakeoff.web.problems import Refusal
from tests_unit.web.conftest import Client

ODD = [
    "x",
    "..",
    "%2e%2e",
    "%00",
    "%ff",
    "a%2fb",
    "r\u00e9",
    "%F0%9F%98%80",
    "'\"<img>",
    "a" * 5000,
    "-1",
    "1e9",
    "%",
    " ",
]
VALUES: list[Any] = [
    None, True, 0, -1, 10**30, 1.5, "", "x", "..", "\x00", "\ud83d\ude00", "a" * 3000, [], [None], ["x"], {}, {"x": 1},
    ["calibration"], {"calibration": 1}, {"id": "x"},
]  # fmt: skip
FIELDS = [
    *(
        "models",
        "tracks",
        "limit",
        "limits",
        "protocols",
        "temperature",
        "seed",
        "parity",
        "min_score",
        "baseline",
        "job",
    ),
    *(
        "how",
        "confirm",
        "dry",
        "form",
        "runs",
        "margin",
        "name",
        "case",
        "file",
        "replaces",
        "output",
        "model",
        "id",
        "data",
    ),
]
RAW = [
    b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":' * 3000, b'"\\ud800"', b"NaN",
    b'{"tracks": ["calibration"], "limit": NaN}',
    b'{"tracks": ["calibration"], "limit": 1e400}', b'{"case": {"id": "\\ud800"}}', b'{"runs": ["\\ud800", "x"]}',
]  # fmt: skip


def routes(client: Client) -> list[Route]:
    return [route for route in _Ui(client.place, client.access, client.jobs).routes() if isinstance(route, Route)]


def paths(route: Route) -> list[str]:
    names = list(route.param_convertors)
    if not names:
        return [route.path]
    found = []
    for odd in ODD:
        path = route.path
        for name in names:
            path = path.replace(f"{{{name}:path}}", odd).replace(f"{{{name}}}", odd)
        found.append(path)
    return found


def assert_in_words(answer: Any, what: object) -> None:
    assert answer.status_code < 500 or answer.status_code == 501, (what, answer.text[:300])
    if answer.status_code >= 400:
        assert "Traceback" not in answer.text, what
        assert "<" in answer.text or answer.json()["error"], what


def test_every_get_route(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def short(*_: object) -> Any:
        yield b"event: state\ndata: null\n\n"

    monkeypatch.setattr(Broadcast, "stream", short)
    seen = 0
    for route in routes(client):
        if "GET" in (route.methods or ()):
            for path, query in itertools.product(
                paths(route), ("", "?path=%00", "?path=..%2f..", "?from=-1", "?token=%ff", "?a=%00&b")
            ):
                assert_in_words(client.get(path + query), path + query)
                seen += 1
    assert seen > 100


def test_other_methods_are_refused(client: Client) -> None:
    for method, path in itertools.product(
        ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST"), ("/", "/runs.json", "/static/app.css", "/live")
    ):
        answer = requests.request(method, client.base + path, headers=client.headers, json={}, timeout=60)
        assert 400 <= answer.status_code < 500


def posts(client: Client) -> list[str]:
    return [path for route in routes(client) if "POST" in (route.methods or ()) for path in paths(route)[:2]]


def test_every_post_route_with_bodies_that_are_no_order(client: Client) -> None:
    for path, raw in itertools.product(posts(client), RAW):
        assert_in_words(client.raw(path, raw), (path, raw[:40]))


def test_every_post_route_with_single_odd_fields(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise Refusal(409, "no run is started here")

    monkeypatch.setattr(Jobs, "start", refuse)
    for path, field in itertools.product(posts(client)[::2], FIELDS):
        for value in VALUES[:: 1 if field in {"case", "tracks", "runs"} else 3]:
            assert_in_words(client.raw(path, json.dumps({field: value}).encode()), (path, field, value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=8,
)
EXPECTED = st.fixed_dictionaries(
    {}, optional={"text": JSON, "bbox": st.lists(st.floats(), max_size=5), "answers": JSON, "gold": JSON, "kind": JSON}
)
CASE = st.fixed_dictionaries(
    {},
    optional={
        "id": JSON | st.just("a"), "category": JSON | st.just("c"), "images": JSON, "prompt": JSON | st.just("q"),
        "scorer": JSON | st.sampled_from(["contains", "bbox_iou", "anls", "mathvista", "mc_option", "choice_letter"]),
        "expected": JSON | EXPECTED,
        "max_tokens": JSON, "system": JSON,
    },
)  # fmt: skip


@hypothesis.settings(
    max_examples=60, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(case=CASE, output=st.text(max_size=40))
def test_any_case_is_scored_or_refused_in_words(client: Client, case: Any, output: str) -> None:
    body = json.dumps({"case": case, "output": output}).encode()
    assert_in_words(client.raw("/api/cases/try", body), case)


@hypothesis.settings(
    max_examples=60, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(order=st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=5))
def test_any_order_is_understood_or_refused_in_words(client: Client, order: Any) -> None:
    body = json.dumps({"tracks": ["calibration"], "models": ["fake:echo"], **order}).encode()
    assert_in_words(client.raw("/api/order", body), order)
