"""Who may talk to the app: hosts, origins, tokens, types, sizes, sessions, headers, frames."""

import http.client
import json
import re

import pytest
import requests

from bakeoff.web import guard
from bakeoff.web.guard import make_access
from bakeoff.web.place import Place
from tests_unit.web.conftest import Client, serving

PAGES = (
    "/",
    "/live",
    "/runs",
    "/compare",
    "/cases",
    "/new.json",
    "/runs.json",
    "/cases.json",
    "/live.json",
    "/api/token",
)


def ask(client: Client, path: str = "/api/token", method: str = "GET", **headers: str) -> tuple[int, bytes]:
    """Send exactly these headers, Host included."""
    connection = http.client.HTTPConnection("127.0.0.1", client.access.port, timeout=60)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1:1",
        "127.0.0.1.evil.example:{port}",
        "localhost",
        "",
        "[::2]:{port}",
    ],
)
def test_another_host_is_refused(client: Client, host: str) -> None:
    assert ask(client, Host=host.format(port=client.access.port))[0] in {400, 421}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_our_own_names_are_answered(client: Client, host: str) -> None:
    assert ask(client, Host=f"{host}:{client.access.port}")[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
def test_another_origin_is_refused_for_reading_and_changing(client: Client, origin: str) -> None:
    origin = origin.format(port=client.access.port)
    assert client.get("/api/token", headers={"Origin": origin}).status_code == 403
    assert client.post("/api/order", {"tracks": ["calibration"]}, Origin=origin).status_code == 403


def test_our_own_origin_may_change(client: Client) -> None:
    assert client.post("/api/order", {"tracks": ["calibration"]}, Origin=client.base).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_causes_is_refused_but_a_link_to_a_page_works(client: Client, site: str) -> None:
    assert client.get("/runs.json", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}).status_code == 403
    assert client.get("/api/token", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}).status_code == 403
    assert client.get("/runs", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}).status_code == 200


def test_a_change_needs_the_token(client: Client) -> None:
    for token in ("", "x", client.access.change_token[:-1], client.access.file_key):
        answer = client.post("/api/order", {"tracks": ["calibration"]}, **{"X-Bakeoff-Token": token})
        assert (answer.status_code, answer.json()["code"]) == (403, "token")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_change_must_be_json(client: Client, kind: str) -> None:
    assert client.raw("/api/order", b'{"tracks": ["calibration"]}', **{"Content-Type": kind}).status_code == 415


def test_large_bodies_are_cut_off_with_and_without_a_length(client: Client) -> None:
    assert client.raw("/api/order", b" " * (guard.MOST_BODY + 1)).status_code == 413
    chunks = (b" " * 100_000 for _ in range(20))
    sent = {**client.headers, "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", client.access.port, timeout=60)
    connection.request("POST", "/api/order", body=chunks, headers=sent, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_a_body_that_does_not_come_ends_the_request(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_BODY_TIMEOUT_S", 0.2)
    connection = http.client.HTTPConnection("127.0.0.1", client.access.port, timeout=60)
    connection.putrequest("POST", "/api/order")
    for name, value in {**client.headers, "Content-Type": "application/json", "Content-Length": "10"}.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 408
    connection.close()


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_forbids_framing_sniffing_and_foreign_content(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert "Server" not in answer.headers or "uvicorn" not in answer.headers["Server"]


@pytest.mark.parametrize("path", PAGES[:5])
def test_pages_hold_no_script_style_or_address_of_elsewhere(client: Client, path: str) -> None:
    page = client.get(path).text
    assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:|https?://", page)


def test_refusals_are_guarded_too(client: Client) -> None:
    for answer in (client.get("/nothing"), client.get("/api/token", headers={"Origin": "null"})):
        assert answer.status_code in {403, 404}
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.json()["error"]


def test_a_websocket_is_not_spoken(client: Client) -> None:
    key = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "x" * 24,
        "Sec-WebSocket-Version": "13",
    }
    assert client.get("/live", headers=key).status_code in {200, 400, 426}


def test_beyond_loopback_only_the_printed_link_lets_in(place: Place) -> None:
    with serving(place, host="0.0.0.0") as client:  # noqa: S104 -- what is tested
        assert client.access.link_token
        for path in (*PAGES, "/static/app.css", "/api/live/events"):
            assert client.get(path).status_code == 401
        assert client.post("/api/order", {"tracks": ["calibration"]}).status_code == 401
        for token in ("", "x", client.access.session):
            assert client.get(f"/enter?token={token}").status_code == 401
        entered = client.get(f"/enter?token={client.access.link_token}")
        assert (entered.status_code, entered.headers["Location"]) == (303, "/")
        cookie = entered.headers["Set-Cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert client.access.link_token.lower() not in cookie
        jar = {guard.COOKIE: client.access.session}
        assert client.get("/runs.json", cookies=jar).status_code == 200
        assert client.get("/runs.json", cookies={guard.COOKIE: "x"}).status_code == 401
        assert (
            client.get("/runs.json", cookies=jar, headers={"Host": f"evil.example:{client.access.port}"}).status_code
            == 421
        )


def test_loopback_asks_for_a_token_when_told_to_and_names_can_be_added() -> None:
    assert make_access("127.0.0.1", 1, token=False).link_token is None
    assert make_access("127.0.0.1", 1, token=True).link_token
    assert make_access("192.168.1.5", 1, token=False).link_token
    named = make_access("127.0.0.1", 80, token=False, names=("Box.local",))
    assert named.is_ours("box.local:80")
    assert named.is_ours("box.local")
    assert not named.is_ours("other.local")


def test_two_starts_share_no_secret() -> None:
    one, two = (make_access("127.0.0.1", 1, token=True) for _ in range(2))
    secrets = [one.change_token, one.file_key, one.session, one.link_token]
    assert len({*secrets, two.change_token, two.file_key, two.session, two.link_token}) == 8


def test_a_report_is_sandboxed_and_its_address_cannot_be_guessed(client: Client) -> None:
    run = client.place.reports / "r"
    run.mkdir()
    (run / "run.json").write_text("{}", "utf-8")
    (run / "report.html").write_text("<script>1</script>", "utf-8")
    (run / "x.bin").write_text("x", "utf-8")
    base = f"/files/{client.access.file_key}/runs/r"
    answer = client.get(f"{base}/report.html")
    assert answer.status_code == 200
    assert answer.headers["Content-Security-Policy"].startswith("sandbox allow-scripts;")
    assert "allow-same-origin" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "attachment" in client.get(f"{base}/x.bin").headers["Content-Disposition"]
    for path in (
        "/files/x/runs/r/report.html",
        "/files//runs/r/report.html",
        "/runs/r/report.html",
        "/reports/r/report.html",
    ):
        assert client.get(path).status_code == 404


def test_a_slow_reader_of_events_does_not_hold_up_others(client: Client) -> None:
    streams = [requests.get(client.base + "/api/live/events", stream=True, timeout=60) for _ in range(20)]
    assert all(stream.status_code == 200 for stream in streams)
    assert json.loads(client.get("/live.json").text) is None
    for stream in streams:
        stream.close()


def test_the_app_wears_the_colours_of_the_report(client: Client) -> None:
    served = client.get("/static/tokens.css")
    assert (served.status_code, served.headers["Content-Type"].split(";")[0]) == (200, "text/css")
    assert "--accent:" in served.text
    assert '<link rel="stylesheet" href="/static/tokens.css">' in client.get("/").text
