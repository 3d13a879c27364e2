"""The table a user sees last, at 80 columns."""

from collections.abc import Callable

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import build, terminal_table
from bakeoff.tracks import TRACKS
from tests_unit.report.synthetic import TRACK, RunMaker

Answered = Callable[..., list[Record]]


def test_table_has_score_interval_n_health_speed_memory_and_families(maker: RunMaker, answered: Answered) -> None:
    maker.arm("tiny-bf16", answered(lambda i: i % 7 == 0))
    maker.arm("tiny-gguf-bf16", answered(lambda i: i % 7 == 0 or i in {5, 11}), backend="gguf")
    assert terminal_table(build(maker.write())).splitlines() == [
        "                 Toy        95%    n  errors  cut off  unparsed  /min    peak",
        "tiny-bf16       85.0  77.3–90.4  120       0        0         0   120  3.6\u202fGB",
        "tiny-gguf-bf16  83.3  75.5–89.0  120       0        0         0   120  3.6\u202fGB",
        "",
        "family          boxes  choices  words",
        "tiny-bf16       34/40    34/40  34/40",
        "tiny-gguf-bf16  34/40    34/40  32/40",
        "",
        "size            large  small",
        "tiny-bf16       51/60  51/60",
        "tiny-gguf-bf16  51/60  49/60",
        "",
        "can’t tell  Whether tiny-gguf-bf16 is worse than tiny-bf16 on Toy is open. About",
        "            1\u202f100 pairs would settle it, and the track has only 120.",
        "            −1.7 pp, 95% −9.4 to +6.2; margin ±2 pp; 120 pairs; 118 of 120",
        "            outputs identical",
        "            Flipped 2 of 120: text differs 2.",
    ]


def test_several_tracks_stand_side_by_side_with_n_in_the_head(
    maker: RunMaker, answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("toy2", "toy3"):
        monkeypatch.setitem(TRACKS, name, msgspec.structs.replace(TRACKS[TRACK], name=name, title=name.title()))

    def on(name: str, records: list[Record]) -> list[Record]:
        return [msgspec.structs.replace(r, track=name, sample_id=f"{name}-{r.sample_id}") for r in records]

    ids = [sample.id for sample in maker.samples]
    selected = {TRACK: ids, **{name: [f"{name}-{key}" for key in ids] for name in ("toy2", "toy3")}}
    cut = [msgspec.structs.replace(found, status="truncated") for found in answered()[:1]]
    maker.arm(
        "one", [*answered(lambda i: i % 5 == 0), *on("toy2", answered()), *on("toy3", answered())], selected=selected
    )
    maker.arm(
        "two",
        [*cut, *answered()[1:], *on("toy2", answered()[:60])],
        selected={name: ids for name, ids in selected.items() if name != "toy3"},
    )
    table = terminal_table(build(maker.write()))
    assert table.splitlines()[:12] == [
        "score, 95%            Toy          Toy2          Toy3",
        "                    n 120         n 120         n 120",
        "one            80.0 72–86  100.0 91–100  100.0 91–100",
        "two         100.0 91–100!   100 84–100<       not run",
        "",
        "! some answers were cut off",
        "< not all selected samples were answered",
        "",
        "all tracks  errors  cut off  unparsed  /min    peak",
        "one              0        0         0   359  3.6\u202fGB",
        "two              0        1         0   180  3.6\u202fGB",
        "",
    ]


@pytest.mark.parametrize("width", [80, 100, 200, 20])
def test_no_line_is_wider_than_promised(maker: RunMaker, answered: Answered, width: int) -> None:
    for number in range(6):
        maker.arm(f"an-arm-with-a-long-name-{number}bit", answered(lambda i, n=number: i % 5 < n), backend="gguf")
    table = terminal_table(build(maker.write()), width=width)
    assert max(len(line) for line in table.splitlines()) <= min(max(width, 80), 100)


def test_ascii_terminals_get_the_same_words_in_ascii(maker: RunMaker, answered: Answered) -> None:
    results = build(maker.arm("one", answered()).arm("two", None).write())
    table = terminal_table(results, ascii_only=True)
    assert table.isascii()
    assert "two has no answer yet" in table


def test_only_five_sentences_are_told_and_the_rest_counted(maker: RunMaker, answered: Answered) -> None:
    for number in range(5):
        maker.arm(f"arm-{number}", answered(lambda i, n=number: i % 9 == n))
    results = build(maker.write())
    assert len(results.comparisons) == 10
    table = terminal_table(results)
    assert sum(comparison.sentence[:20] in " ".join(table.split()) for comparison in results.comparisons[:5]) == 5
    assert table.endswith("5 more comparisons are in the report.")
