"""The app in a real browser with real runs: first visit, stop, resume, reload, tabs, preparing, cases, comparing."""

import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow, ImageDraw

from bakeoff.report import build, numbers
from bakeoff.tracks import TRACKS
from bakeoff.web.place import Place
from tests_unit.commands.calibration import records, write_run
from tests_unit.doubles.data_hub import data_hub
from tests_unit.prepare.real_schemas import write_datasets
from tests_unit.web.conftest import AppProcess, Client, make_place, serving, until

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATIENCE_MS = 240_000
OPENED = {"/runs/one": "Delete"}
PAGES = ("/", "/live", "/runs", "/runs/one", "/compare", "/cases")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium here")
    with playwright.sync_playwright() as found:
        running = found.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


AT_END = """() => {
  const log = document.getElementById("log");
  return log.scrollHeight > log.clientHeight && log.scrollHeight - log.scrollTop - log.clientHeight < 2;
}"""
SMALL = """() => [...document.querySelectorAll("a.button, button, select, input, summary, nav a")]
  .map(e => [e.outerHTML.slice(0, 80), (e.closest("label") ?? e).getBoundingClientRect()])
  .filter(([, r]) => r.width > 1 && (r.height < 24 || r.width < 24)).map(([text]) => text)"""


class Window:
    """A browser window on the app that keeps what the console says and where requests go."""

    def __init__(self, browser: Any, base: str, **options: Any) -> None:
        self.base = base
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.context.set_default_timeout(PATIENCE_MS)
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("weberror", lambda error: self.faults.append(str(error.error)))

    def _on_console(self, message: Any) -> None:
        if message.type == "error":
            self.faults.append(message.text)

    def open(self, path: str) -> Any:
        page = self.context.new_page()
        page.on("console", self._on_console)
        page.goto(self.base + path)
        return page

    def assert_clean(self) -> None:
        assert self.faults == []
        assert {url for url in self.requests if not url.startswith((self.base, "data:", "blob:"))} == set()


@pytest.fixture
def window(browser: Any, client: Client) -> Iterator[Window]:
    found = Window(browser, client.base)
    yield found
    found.context.close()


def choose(page: Any, *arms: str, limit: int) -> None:
    """Choose arms by name on the launcher, typing those that it does not offer."""
    page.wait_for_selector("#start:not([disabled])")
    for box in page.query_selector_all("input[name=arm]:checked"):
        box.uncheck()
    for arm in arms:
        if page.locator(f'input[name=arm][value="{arm}"]').count():
            page.check(f'input[name=arm][value="{arm}"]')
            continue
        page.fill("#typed-name", arm)
        page.wait_for_selector("#typed-add:not([disabled])")
        page.click("#typed-add")
    page.fill("#limit", str(limit))
    page.select_option("#parity", "off")
    page.wait_for_function(
        "n => document.getElementById('sum-words').textContent.includes(n)", arg=f"{limit * len(arms)} answer"
    )
    page.wait_for_selector("#start:not([disabled])")


@pytest.mark.real_runtime
def test_first_visit_to_finished_report_in_one_click(
    browser: Any, place: Place, app_process: Callable[..., AppProcess]
) -> None:
    """The arms are the defaults, real weights in real runtimes; only the number of samples is made smaller."""
    app = app_process()
    window = Window(browser, app.base)
    page = window.open("/")
    page.fill("#limit", "2")
    page.select_option("#parity", "off")
    page.wait_for_function(
        "() => document.getElementById('sum-words').textContent.includes('2 arms × 1 track = 4 answers')"
    )
    page.wait_for_selector("#start:not([disabled])")
    page.click("#start")
    page.wait_for_url("**/live")
    heading = page.frame_locator("#report iframe").locator("h1")
    heading.wait_for()
    assert heading.inner_text() == "tiny-bf16 and tiny-gguf-bf16 on Calibration"
    assert "exit code 0" in page.inner_text("#verdict")
    (run,) = (path.parent for path in place.reports.glob("*/run.json"))
    arms = json.loads((run / "results.json").read_text("utf-8"))["arms"]
    assert {name: arm["tracks"]["calibration"]["n"] for name, arm in arms.items()} == {
        "tiny-bf16": 2,
        "tiny-gguf-bf16": 2,
    }
    window.assert_clean()
    window.context.close()


def test_stop_resume_reload_and_two_tabs(window: Window, client: Client, script: Callable[..., str]) -> None:
    page = window.open("/")
    choose(page, script(delay_s=1.0), limit=45)  # long enough for three tabs on a busy machine
    page.click("#start")
    page.wait_for_url("**/live")
    page.wait_for_selector("#sample img")
    other = window.open("/live")
    other.wait_for_selector("#stop:not([hidden])")
    other.wait_for_selector("#log .step")
    page.reload()
    page.wait_for_selector("#stop:not([hidden])")
    third = window.open("/")
    third.wait_for_selector("text=A run is going on")
    third.wait_for_function("() => document.getElementById('command').textContent.includes('pytest')")
    assert third.is_visible("text=A run is going on")
    assert third.is_disabled("#start")
    assert re.search(r"\d+ of 45 answers are recorded and kept", other.inner_text("#stop-said"))
    other.click("#stop")
    for tab in (page, other):
        tab.wait_for_selector("#resume:not([hidden])")
        assert "samples have no answer; Resume asks them." in tab.inner_text("#verdict")
    answered = client.get("/live.json").json()["arms"][0]["answered"]
    assert 0 < answered < 45
    assert "as asked by SIGUSR2" in page.inner_text("#log")
    page.click("#resume")
    page.wait_for_selector("#verdict.good")
    other.wait_for_selector("#verdict.good")
    assert client.get("/live.json").json()["arms"][0]["answered"] == 45
    assert client.get("/runs.json").json()[0]["status"] == "complete"
    window.assert_clean()


def test_a_run_goes_on_while_the_app_is_restarted_and_the_tab_finds_it_again(
    browser: Any, app_process: Callable[..., AppProcess], script: Callable[..., str]
) -> None:
    app = app_process()
    port = int(app.base.rpartition(":")[2])
    window = Window(browser, app.base)
    page = window.open("/")
    choose(page, script(delay_s=1.0), limit=100)
    page.click("#start")
    page.wait_for_url("**/live")
    page.wait_for_selector("#sample img")
    app.end()
    page.wait_for_selector("text=The app does not answer")
    assert "answered" in page.inner_text("#arms")
    app_process(port=port)
    page.wait_for_selector("#link", state="hidden")
    page.click("#stop-now")  # with the token of the app before
    page.wait_for_selector("#resume:not([hidden])")
    assert "KeyboardInterrupt" in page.inner_text("#log")
    window.context.close()


def test_the_log_stays_at_its_end_until_somebody_scrolls_up(
    window: Window, client: Client, script: Callable[..., str]
) -> None:
    page = window.open("/live")
    started = client.post(
        "/api/start", {"models": [script()], "tracks": ["calibration"], "limit": 40, "parity": "off"}
    ).json()
    page.wait_for_selector("#verdict.good")
    client.finished(started["job"])
    page.wait_for_selector("#log >> text=run ended with exit code 0")
    page.set_viewport_size({"width": 390, "height": 844})  # lines break, and the log gets longer
    page.wait_for_function(AT_END)
    page.evaluate("document.getElementById('log').scrollTop = 0")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("document.getElementById('log').scrollTop") == 0
    written = client.get(f"/api/jobs/{started['job']}/log").text.rstrip("\n").split("\n")
    assert page.locator("#log > div").count() == len(written)  # and none without a line in the file


def test_twenty_tabs_stay_alive(window: Window, client: Client, script: Callable[..., str]) -> None:
    tabs = [window.open("/live") for _ in range(20)]
    started = client.post(
        "/api/start", {"models": [script(delay_s=0.2)], "tracks": ["calibration"], "limit": 10, "parity": "off"}
    )
    assert started.status_code == 200
    for tab in tabs:
        tab.wait_for_selector("#verdict.good")
    assert len([url for url in window.requests if url.endswith("/api/live/events")]) < 20
    tabs[0].close()
    again = client.post(
        "/api/start", {"models": [script(delay_s=0.2)], "tracks": ["calibration"], "limit": 5, "parity": "off"}
    ).json()
    for tab in tabs[1:]:
        tab.wait_for_function("run => document.getElementById('facts').textContent.includes(run)", arg=again["run"])
    window.assert_clean()


def test_asking_for_more_than_is_prepared_prepares_first(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = TRACKS["gsm8k"].source
    assert source is not None
    write_datasets(tmp_path / "hub", source.splits)
    place = make_place(tmp_path / "bench", ("gsm8k",))
    with data_hub(tmp_path / "hub") as hub:
        for name, value in {
            "HF_ENDPOINT": hub.endpoint,
            "HF_HOME": str(tmp_path / "hf"),
            "BAKEOFF_DATA": str(tmp_path / "data"),
        }.items():
            monkeypatch.setenv(name, value)
        with serving(place) as client:
            window = Window(browser, client.base)
            page = window.open("/")
            choose(page, "fake:oracle", limit=6)
            assert "gsm8k, 6 samples" in page.inner_text("#sum-prepare")
            page.wait_for_selector("text=its files on the hub are under 1\u202fMB. At most that is fetched")
            assert page.inner_text("#start") == "Prepare, then start"
            assert "bakeoff prepare gsm8k=6" in page.inner_text("#command")
            page.click("#start")
            page.wait_for_url("**/live")
            page.wait_for_selector("#verdict.good")
            assert [step["code"] for step in client.get("/live.json").json()["steps"]] == [0, 0]
            (row,) = client.get("/runs.json").json()
            assert (row["status"], row["answered"]) == ("complete", 6)
            page = window.open("/")
            choose(page, "fake:oracle", limit=6)
            assert page.is_hidden("#sum-prepare")
            window.assert_clean()
            window.context.close()


def draw_picture(path: Path) -> Path:
    picture = Pillow.new("RGB", (400, 200), (240, 240, 235))
    ImageDraw.Draw(picture).rectangle((100, 50, 300, 150), fill=(200, 40, 40))
    picture.save(path)
    return path


def test_a_custom_case_is_drawn_tried_asked_and_saved(window: Window, client: Client, tmp_path: Path) -> None:
    page = window.open("/cases")
    page.wait_for_selector("text=None yet.")
    page.click("#new-case")
    page.set_input_files("#image-file", draw_picture(tmp_path / "Red <b> box.png"))
    page.wait_for_selector("text=400 × 200 px")
    page.fill("#id", "red_box")
    page.fill("#prompt", "Where is the red box? Reply as x1, y1, x2, y2 from 0 to 1000.")
    page.select_option("#scorer", "bbox_iou")
    page.click("#save")
    assert "expected.bbox" in page.wait_for_selector("#problem:not([hidden])").inner_text()
    page.locator("#shown").scroll_into_view_if_needed()
    place = page.locator("#shown").bounding_box()
    corner = [place["x"] + place["width"] / 4, place["y"] + place["height"] / 4]
    page.mouse.move(*corner)
    page.mouse.down()
    page.mouse.move(corner[0] + place["width"] / 4, corner[1] + place["height"] / 4)
    page.mouse.move(corner[0] + place["width"] / 2, corner[1] + place["height"] / 2)
    page.mouse.up()
    drawn = [float(page.input_value(f"#expected-{key}")) for key in ("x1", "y1", "x2", "y2")]
    assert drawn == pytest.approx([250, 250, 750, 750], abs=8)
    page.fill("#id", "red box")
    page.click("#try")
    page.wait_for_selector("#problem:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "id"
    assert page.evaluate("document.getElementById('problem').previousElementSibling.contains(document.activeElement)")
    page.fill("#id", "red_box")
    for output, verdict in (
        ("250, 250, 750, 750", "✓ right"),
        ("0, 0, 100, 100", "✕ wrong"),
        ("no idea", "read as nothing"),
    ):
        page.fill("#output", output)
        page.click("#try")
        page.wait_for_function("word => document.getElementById('tried').textContent.includes(word)", arg=verdict)
    script = tmp_path / "answers.json"
    script.write_text(json.dumps({"default": "[255, 250, 750, 745]"}), "utf-8")
    page.evaluate("name => document.getElementById('arm').append(new Option(name, name, true, true))", f"fake:{script}")
    page.click("#ask")
    page.wait_for_function("() => document.getElementById('tried').textContent.includes('The answer stands above')")
    assert page.input_value("#output") == "[255, 250, 750, 745]"
    assert "✓ right" in page.inner_text("#tried")
    assert client.get("/runs.json").json() == []
    page.click("#save")
    page.wait_for_selector("text=Saved red_box in cases.json.")
    (found,) = client.get("/cases.json").json()["cases"]
    assert found["case"]["expected"]["bbox"] == drawn
    assert found["case"]["images"][0].startswith("custom/Red-b-box-")
    assert client.post("/api/order", {"models": ["fake:echo"], "tracks": ["custom"]}).json()["estimate"]["answers"] == 1
    page.click("#remove")
    page.click("#remove")
    page.wait_for_selector("text=None yet.")
    assert window.faults == ["Failed to load resource: the server responded with a status of 400 (Bad Request)"] * 2


@pytest.fixture
def two_runs(place: Place) -> tuple[str, str]:
    found = records()
    write_run(place.reports / "one", {"a": found})
    write_run(place.reports / "two", {"a": found[:200], "b": found})
    return ("one", "two")


def test_two_runs_are_compared_rescored_and_deleted(window: Window, client: Client, two_runs: tuple[str, str]) -> None:
    page = window.open("/runs")
    for name in two_runs:
        page.check(f'tr[data-run="{name}"] input')
    page.click("#compare")
    page.wait_for_url("**/compare?a=one&b=two")
    frame = page.frame_locator("#report iframe")
    frame.locator("h1").wait_for()
    assert "3 arms on Calibration" in frame.locator("h1").inner_text()
    page.click("summary")
    assert "badge:" in page.inner_text("#text")
    page = window.open("/runs/one")
    page.click("text=Rebuild report")
    page.frame_locator("#report iframe").locator("h1").wait_for()
    page.click("text=Rescore")
    page.click("text=Write these scores")
    page.wait_for_selector("text=Scored again.")
    page.click("button:text('Delete')")
    page.fill("#confirm", "on")
    assert page.is_disabled("text=Delete for good")
    page.fill("#confirm", "one")
    page.click("text=Delete for good")
    page.wait_for_url("**/runs")
    page.wait_for_selector("tr[data-run=two]")
    assert [row["run"] for row in client.get("/runs.json").json()] == ["two"]
    window.assert_clean()


def test_the_viewer_works_in_its_frame_and_its_address_is_that_of_the_page(window: Window, place: Place) -> None:
    found = records()
    build(write_run(place.reports / "pair", {"a": found, "b": records(lambda _: "nothing")}))
    page = window.open("/runs/pair")
    page.click("#tabs >> text=Samples")
    frame = page.frame_locator("#report iframe")
    frame.locator("#v-status", has_text="265 samples").wait_for()
    picture = frame.locator("#v-card img, #v-card image").first
    picture.wait_for()
    assert picture.evaluate("p => p.decode().then(() => true)")  # one that cannot be read throws
    first = frame.locator("#v-rows [aria-selected=true]").inner_text()
    frame.locator("#v-list").focus()
    page.keyboard.press("j")
    frame.locator("#v-rows [aria-selected=true]").filter(has_not_text=first.split()[0]).wait_for()
    page.wait_for_function("() => location.hash.startsWith('#samples/calibration/')")
    frame.locator("#v-q").fill("numbers-016")
    frame.locator("#v-status", has_text="1 sample, ").wait_for()
    page.wait_for_function("() => location.hash.includes('q=numbers-016')")
    kept = page.evaluate("location.hash")
    assert page.evaluate("location.pathname") == "/runs/pair"
    page.reload()
    frame.locator("#v-status", has_text="1 sample, ").wait_for()
    assert page.get_attribute("#tabs button:nth-child(2)", "aria-pressed") == "true"
    assert frame.locator("#v-q").input_value() == "numbers-016"
    assert page.evaluate("location.hash") == kept
    frame.locator("#v-help").click()
    frame.locator("#v-dialog").wait_for()
    page.keyboard.press("Escape")
    for theme in ("light", "dark"):
        page.click("#theme")
        frame.locator(f"html[data-theme={theme}]").wait_for()
    assert not frame.locator("#theme").is_visible()
    frame.locator("#v-list").focus()
    page.keyboard.press("c")
    frame.locator("#v-status", has_text="The link stands in the address bar").wait_for()
    window.assert_clean()


@pytest.mark.usefixtures("two_runs")
def test_what_a_report_holds_stays_in_its_frame(window: Window, client: Client) -> None:
    """A report whose script tries to reach the app: no token, no cookie, no page around it."""
    attack = (
        "<script>(async () => { const out = [];"
        "try { parent.document.title; out.push('parent'); } catch { out.push('-'); }"
        "try { document.cookie; out.push('cookie'); } catch { out.push('-'); }"
        "try { localStorage.x; out.push('storage'); } catch { out.push('-'); }"
        "try { await (await fetch('/api/token')).json(); out.push('token'); } catch { out.push('-'); }"
        "const json = {'Content-Type': 'application/json'};"
        "try { const r = await fetch('/api/start', {method: 'POST', headers: json, body: '{}'});"
        "out.push(r.status); } catch { out.push('-'); }"
        "for (const hash of ['#x', '/../../live', '#samples/' + 'a'.repeat(3000), {}])"
        "parent.postMessage({bakeoff: 'address', hash}, '*');"
        "document.body.textContent = out.join(' '); })()</script><body>waiting</body>"
    )
    (client.place.reports / "one" / "report.html").write_text(attack, "utf-8")
    page = window.open("/runs/one")
    body = page.frame_locator("#report iframe").locator("body")
    until(lambda: "waiting" not in body.inner_text(), "the attack")
    assert body.inner_text() == "- - - - -"
    assert page.url == f"{client.base}/runs/one"
    direct = window.open(f"/files/{client.access.file_key}/runs/one/report.html")
    until(lambda: "waiting" not in direct.inner_text("body"), "the attack")
    assert direct.inner_text("body").split()[1:] == ["-", "-", "-", "-"]
    assert client.jobs.newest() is None


@pytest.mark.usefixtures("two_runs")
def test_names_that_are_markup_are_shown_as_text(window: Window, client: Client) -> None:
    evil = "<img src=x onerror=document.title='pwned'>"
    for file in (client.place.reports / "one" / "run.json", client.place.reports / "one" / "selection.json"):
        content = json.loads(file.read_text("utf-8"))
        if "arms" in content:
            content["arms"] = {evil: content["arms"]["a"]}
            content["tracks"][evil] = content["tracks"]["calibration"]
        file.write_text(json.dumps(content), "utf-8")
    case = {"id": "x", "category": evil, "images": [], "prompt": evil, "scorer": "contains", "expected": {"text": evil}}
    assert client.post("/api/cases/save", {"case": case}).status_code == 200
    for path, selector in (
        ("/runs", f'text="{evil}"'),
        ("/runs/one", "#actions button"),
        ("/cases", ".case-row"),
        ("/compare?a=one", "#a option"),
    ):
        page = window.open(path)
        page.wait_for_selector(selector, state="attached")
        assert page.locator("img[src=x]").count() == 0
        assert "pwned" not in page.title()


def ready(page: Any) -> None:
    page.wait_for_function(
        "() => !document.querySelector('.loading') && !(document.getElementById('start')?.disabled ?? false)"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.usefixtures("two_runs")
def test_axe_finds_nothing_serious_and_nothing_scrolls_sideways(
    browser: Any, client: Client, script: Callable[..., str], scheme: str
) -> None:
    started = client.post(
        "/api/start", {"models": [script()], "tracks": ["calibration"], "limit": 4, "parity": "off"}
    ).json()
    client.finished(started["job"])
    window = Window(browser, client.base, color_scheme=scheme, bypass_csp=True)
    page = window.context.new_page()
    for path, width in itertools.product(PAGES, (390, 1280)):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(window.base + path)
        ready(page)
        if path in OPENED:
            page.click(f"#actions button:text('{OPENED[path]}')")
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        found = axe.Axe().run(page, options={"resultTypes": ["violations"], "iframes": False})
        serious = [
            f"{v['id']}: {v['nodes'][0]['html'][:200]}"
            for v in found.response["violations"]
            if v["impact"] in {"serious", "critical"}
        ]
        assert serious == [], (path, width)
        for narrow in (width, 320):
            page.set_viewport_size({"width": narrow, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (path, narrow)
        small = page.evaluate(SMALL)
        assert small == [], (path, width)
    window.context.close()


def test_everything_can_be_done_with_the_keyboard(window: Window) -> None:
    page = window.open("/")
    ready(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id"))
    assert {"typed-name", "tracks-all", "limit", "margin", "start", "copy"} <= seen


def test_numbers_are_written_as_the_report_writes_them(window: Window) -> None:
    page = window.open("/runs")
    whole = [0, 7, 999, 1000, 1272, 25770, 1234567]
    shares = [(v, n) for v in (None, 0.0, 0.0001, 0.0004, 0.5, 0.7961, 0.99951, 0.9999, 1.0) for n in (20, 100, 1272)]
    rates = [None, 0.00123, 0.008, 0.0801, 0.1652, 0.1659, 1.02, 20.5, 200.0]
    times = [None, 0.0, 0.0004, 0.72, 0.9994, 0.9996, 1.314, 9.99, 10.0, 59.6, 75.0, 3599.7, 11560.0, 100800.0]
    sizes = [None, 0, 499_999, 1_500_001, 999_499_999, 999_500_000, 8_123_456_789]
    intervals = [(None, 5), ((0.773, 0.817), 1272), ((0.0, 1.0), 20)]
    got = page.evaluate(
        """async ([whole, shares, rates, times, sizes, intervals]) => {
          const f = await import("/static/format.js");
          const score = ([v, n]) => f.score(v, n), interval = ([v, n]) => f.interval(v, n);
          return [
            whole.map(f.count), shares.map(score), rates.map(f.perMinute), times.map(f.duration), times.map(f.latency),
            sizes.map(f.memory), intervals.map(interval), f.instant("2026-11-30T09:12:44.5+00:00"),
            [0.2, 6.96, 9.2, 13].map(f.left), f.broken("uv run pytest a.py -v --run-dir='/my -own' --color=no"),
          ];
        }""",
        [whole, shares, rates, times, sizes, intervals],
    )
    assert got == [
        [numbers.count(v) for v in whole],
        [numbers.score(v, n) for v, n in shares],
        [numbers.per_minute(v) for v in rates],
        [numbers.duration(v) for v in times],
        [numbers.latency(v) for v in times],
        [numbers.memory(v) for v in sizes],
        [numbers.score_interval(v, n) for v, n in intervals],
        numbers.instant("2026-11-30T09:12:44.5+00:00"),
        ["1\u202fs", "7\u202fs", "10\u202fs", "0:13\u202fmin"],
        "uv run pytest a.py \\\n  -v \\\n  --run-dir='/my -own' \\\n  --color=no",
    ]
