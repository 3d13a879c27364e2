"""`docs/reading-a-report.md` explains every heading, column, check and word of the page."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import pytest

import bakeoff.report
from bakeoff.report import constant, drawing, evidence, flips, published, summarize, tables, verdicts
from bakeoff.report.checks import LABELS
from bakeoff.report.reading import Run
from bakeoff.report.results import Results, Word
from bakeoff.runs import Manifest

GUIDE = (Path(__file__).parents[2] / "docs" / "reading-a-report.md").read_text("utf-8")
TEMPLATES = Path(bakeoff.report.__file__).parent / "templates"
SOURCE = "\n".join(path.read_text("utf-8") for path in sorted(TEMPLATES.glob("*.j2")))


def explained(text: str) -> bool:
    """Whether the guide has a heading of that name, or the text in bold."""
    known = text.replace("|", "\\|").lower()
    return (
        f"**{known}**" in GUIDE.lower()
        or re.search(rf"^#+ {re.escape(known)}$", GUIDE.lower(), re.MULTILINE) is not None
    )


def written(pattern: str) -> set[str]:
    """What the templates themselves write in place of `pattern`'s group; what is filled in is another matter."""
    found = (re.sub(r"<small>.*?</small>|<[^>]+>", "", text).strip() for text in re.findall(pattern, SOURCE))
    return {text for text in found if text and "{" not in text}


def heads() -> Iterable[str]:
    manifest = Manifest(run="r", created="2026-11-30T09:00:00+00:00", argv=(), options={}, environment={})
    empty: Results = summarize(Run(name="r", manifest=manifest, arms={}, gates=()))
    made: tuple[Any, ...] = (
        tables.time_table(empty),
        tables.health_table(empty),
        drawing.ladder_table(empty),
        flips.flip_table(empty),
        flips.flip_slices(empty),
        constant.baseline_table(empty),
        published.published_table(empty),
        (published.WITH_ARMS, ()),
        evidence.agreement_table(empty),
        evidence.agreement_details(empty),
        evidence.control_table(empty),
        evidence.audit_table(empty),
    )
    return (head for table in made for head in table[0])


@pytest.mark.parametrize(
    "heading", sorted(written(r"<h[234][^>]*>(.*?)</h[234]>") | written(r"<summary>(.*?)</summary>"))
)
def test_every_heading_is_explained(heading: str) -> None:
    assert explained(heading), heading


@pytest.mark.parametrize("head", sorted({*heads(), *written(r"<th [^>]*>(.*?)</th>")}))
def test_every_column_is_explained(head: str) -> None:
    assert explained(head), head


@pytest.mark.parametrize("text", sorted({*LABELS.values(), *verdicts.SHOWN.values()}))
def test_every_check_and_every_verdict_is_explained(text: str) -> None:
    assert explained(text), text


def test_every_verdict_has_a_word() -> None:
    assert set(verdicts.SHOWN) == set(get_args(Word))


def test_the_guide_names_nothing_that_is_not_on_the_page() -> None:
    bold = {text.replace("\\|", "|") for text in re.findall(r"\*\*(.+?)\*\*", GUIDE)}
    everything = f"{SOURCE} {' '.join(heads())} {' '.join(LABELS.values())} {' '.join(verdicts.SHOWN.values())}".lower()
    assert {text for text in bold if text.lower() not in everything} <= {"Speed", "Peak"}


@pytest.mark.parametrize("page", ["README.md", "docs/reading-a-report.md"])
def test_pictures_are_there_and_small(page: str) -> None:
    path = Path(__file__).parents[2] / page
    names = re.findall(r"(?:docs/)?images/[\w-]+\.png", path.read_text("utf-8"))
    assert names
    assert all((path.parent / name).stat().st_size < 300_000 for name in names)
