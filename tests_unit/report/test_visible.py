"""What cannot be seen is spelled out; what a model says never becomes markup."""

import html.parser
import re
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, strategies as st

from bakeoff.records import Record
from bakeoff.report import build, terminal_table
from bakeoff.report.visible import encodable, shortened, visible, visible_line
from tests_unit.report.synthetic import RunMaker, failed

NASTY = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" 'single' </pre></style>\n"
    "| a | `b` | [c](javascript:d) | \x1b[31mred\x1b[0m \x00 \x07 \r \u2028 \u2029 \u202edesrever\u202c \u200b \ud800 "
    "{{ 7 * 7 }} {% raw %} ``` \U000e0041 مرحبا"
)

SPEAKABLE = NASTY.replace("\ud800", "")  # run.json is UTF-8, journals are ASCII


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("\x1b[31m", "␛[31m"),
        ("\r\x00\x7f", "␍␀␡"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\u2028", "⟨U+2028⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\x9b", "⟨U+009B⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("naïve 中文 مرحبا 👩\u200d🚀", "naïve 中文 مرحبا 👩\u200d🚀"),
    ],
)
def test_unseen_characters_are_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_line_shows_its_line_ends() -> None:
    assert visible_line("a\nb\tc") == "a␊b␉c"


def test_shortened_text_says_what_is_left_out() -> None:
    assert shortened("abcdef", 4) == "abcd … (2 more characters)"
    assert shortened("abcd", 4) == "abcd"


@given(st.text(alphabet=st.characters(codec=None)))
def test_visible_text_is_utf8_without_controls(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


def test_json_values_lose_only_their_surrogates() -> None:
    assert encodable({"a\ud800": ["\x1b", 1, None, {"b": "\udfff"}]}) == {
        "a⟨U+D800⟩": ["\x1b", 1, None, {"b": "⟨U+DFFF⟩"}]
    }


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self.images = 0
        self.handlers: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.images += tag == "img"
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_hostile_text_everywhere_stays_text(maker: RunMaker, answered: Callable[..., list[Record]]) -> None:
    nasty = [
        msgspec.structs.replace(
            found, output=NASTY, answer=NASTY, score=0.0, correct=False, groups={**found.groups, "size": NASTY}
        )
        for found in answered()[:30]
    ]
    errors = [failed(sample, NASTY) for sample in maker.samples[30:40]]
    maker.arm("one", [*nasty, *errors])
    maker.arm("two", answered(), backend=SPEAKABLE)
    run = maker.write(note=SPEAKABLE)
    manifest = run.manifest()
    run.write_manifest(
        msgspec.structs.replace(
            manifest,
            argv=(SPEAKABLE,),
            environment={"os": "<b>os</b>"},
            arms={
                **manifest.arms,
                "one": msgspec.structs.replace(manifest.arms["one"], identity={"weights_sha256": "<i>"}),
            },
        )
    )
    results = build(run)
    page = (run.path / "report.html").read_bytes().decode("utf-8")
    tags = _Tags()
    tags.feed(page)
    assert (tags.scripts, tags.images, tags.handlers) == (1, 0, [])
    said = "".join(tags.text)
    assert "<script>alert(1)</script>" in said
    assert "␛[31mred" in said
    assert "{{ 7 * 7 }}" in said
    markdown = (run.path / "report.md").read_bytes().decode("utf-8")
    prose, _, code = markdown.partition("## How to repeat")
    assert "<script>" not in prose.replace("\\<", "")
    assert code.strip().startswith("````\n")  # a fence longer than any in the text
    for text in (page, markdown, terminal_table(results)):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", text)


def test_arm_names_of_any_length_keep_the_table_in_its_width(
    maker: RunMaker, answered: Callable[..., list[Record]]
) -> None:
    name = "a-model-with-a-very-long-name-" * 3 + "q8"
    maker.arm(name, answered()).arm("two", answered(), backend="gguf")
    table = terminal_table(build(maker.write()))
    assert max(len(line) for line in table.splitlines() if not line.startswith(" " * 4)) <= 80
