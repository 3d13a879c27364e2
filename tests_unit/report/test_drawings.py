"""Drawings: every arm is where its numbers say, names touch nothing, and nothing of the drawer's own leaves."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings, strategies as st

from bakeoff.report.drawing import Panel, Scale, Spot, rate_scale
from bakeoff.report.labels import Box, overlap, place
from bakeoff.report.plots import draw

HOSTILE = "<script>$\\frac{1}{2}$ & \"'|`"


def panel(*spots: Spot, **changes: object) -> Panel:
    fields: dict[str, object] = {
        "title": "Toy, accuracy, %",
        "x_title": "samples per minute, log →",
        "x": rate_scale([spot.x for spot in spots]),
        "y": Scale(low=0.0, high=100.0, ticks=((0.0, "0"), (50.0, "50"), (100.0, "100"))),
        "spots": spots,
        "ladders": (),
    }
    return Panel(**{**fields, **changes})  # type: ignore[arg-type]  # fields of several types in one table


def spot(name: str = "arm", mark: str = "mlx", x: float = 60.0, y: float = 50.0) -> Spot:
    return Spot(name=name, mark=mark, x=x, y=y, low=y - 4, high=y + 4)


SPOTS = (spot("a", "mlx", 60.0, 80.0), spot("b", "gguf", 120.0, 70.0), spot("c", "coreai", 600.0, 20.0))


def drawn(one: Panel, kind: str = "toy broad") -> str:
    return draw([one], columns=1, size=(700, 360), label="Toy", kind=kind)[0]


def test_the_same_panels_give_the_same_bytes() -> None:
    assert drawn(panel(*SPOTS)) == drawn(panel(*SPOTS))


def test_colours_are_those_of_the_page_and_no_style_or_font_is_left() -> None:
    svg = drawn(panel(*SPOTS))
    assert {"var(--mlx)", "var(--gguf)", "var(--coreai)", "var(--ink)", "var(--line)"} <= set(
        re.findall(r"var\(--\w+\)", svg)
    )
    assert not re.search(r"#1100|style|font-family|clip|xlink|<defs/>", svg)
    assert 'role="img"' in svg
    assert 'aria-label="Toy"' in svg


def test_ids_of_two_drawings_do_not_meet() -> None:
    ids = [set(re.findall(r' id="([^"]+)"', drawn(panel(*SPOTS), kind))) for kind in ("toy broad", "toy slim")]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert set(re.findall(r'href="#([^"]+)"', drawn(panel(*SPOTS)))) == ids[0]


def test_names_are_text_whatever_they_hold() -> None:
    root = ET.fromstring(drawn(panel(spot(HOSTILE), *SPOTS)))  # noqa: S314 -- our own drawing
    assert HOSTILE in [node.text for node in root.iter("text")]


def test_marks_and_intervals_lie_where_the_numbers_say() -> None:
    root = ET.fromstring(drawn(panel(*SPOTS)))  # noqa: S314 -- our own drawing
    marks = {
        node.get("stroke") if node.get("fill") == "var(--bg)" else node.get("fill"): node for node in root.iter("use")
    }
    inner = (360 - 28 - 44, 700 - 44 - 18)
    for mark, y in (("mlx", 80.0), ("gguf", 70.0), ("coreai", 20.0)):
        node = marks[f"var(--{mark})"]
        assert float(node.get("y", "")) == pytest.approx(28 + inner[0] * (1 - y / 100), abs=0.1)
    across = [float(marks[f"var(--{mark})"].get("x", "")) for mark in ("mlx", "gguf", "coreai")]
    assert across == sorted(across)
    assert (across[1] - across[0]) / (across[2] - across[0]) == pytest.approx(0.301, abs=0.001)


def test_arms_of_a_ladder_are_joined_and_a_published_value_is_a_line() -> None:
    plain = drawn(panel(*SPOTS))
    joined = drawn(panel(*SPOTS, ladders=(("mlx", (0, 1)),)))
    level = drawn(panel(*SPOTS, level=60.0, level_text="published 60.0"))
    assert joined.count('stroke="var(--mlx)"') == plain.count('stroke="var(--mlx)"') + 1
    assert "published 60.0" in level
    assert "stroke-dasharray" in level


def test_a_name_without_room_is_a_number_told_beside_the_drawing() -> None:
    names = [f"a name so long that it has no room {number}" for number in range(3)]
    spots = [spot(name, "mlx", x, 50.0) for name, x in zip(names, (60.0, 61.0, 600.0), strict=True)]
    svg, unplaced = draw([panel(*spots)], columns=1, size=(200, 200), label="Toy", kind="toy slim")
    texts = [node.text for node in ET.fromstring(svg).iter("text")]  # noqa: S314 -- our own drawing
    assert [name[name.index("a ") :] for name in unplaced] == names
    numbers = [name.split()[0] for name in unplaced if name[0].isdigit()]
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert len(numbers) >= 2
    assert set(numbers) <= set(texts)
    assert not set(names) & set(texts)


def test_no_number_is_left_out_where_a_mark_has_room_for_none() -> None:
    names = [f"a name so long that it has no room {number}" for number in range(7)]
    spots = [spot(name, "mlx", x, 50.0) for name, x in zip(names, (*[60.0] * 6, 600.0), strict=True)]
    unplaced = draw([panel(*spots)], columns=1, size=(200, 200), label="Toy", kind="toy slim")[1]
    numbers = [name.split()[0] for name in unplaced if name[0].isdigit()]
    assert len(unplaced) == 7
    assert 1 < len(numbers) < 7
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


@settings(deadline=None)
@given(
    marks=st.lists(st.tuples(st.floats(0, 640), st.floats(0, 290), st.integers(1, 24)), min_size=3, max_size=12),
    width=st.sampled_from([640.0, 284.0]),
)
def test_a_name_touches_neither_marks_nor_whiskers_nor_another_name(
    marks: list[tuple[float, float, int]], width: float
) -> None:
    taken: list[Box] = [(x - 9, y - 30, x + 9, y + 30) for x, y, _ in marks]
    own = list(taken)
    for (x, y, length), bar in zip(marks, own, strict=True):
        found = place("x" * length, (x, y), bar, taken, (0.0, 0.0, width, 290.0))
        if found is not None:
            assert not any(overlap(found.box, other) for other in taken)
            assert found.box[0] >= 0
            assert found.box[2] <= width
            taken.append(found.box)


@pytest.mark.parametrize("rates", [[9, 11], [30, 32], [194, 206], [818], [990, 1010]], ids=str)
def test_rates_close_to_each_other_have_a_handful_of_ticks(rates: list[float]) -> None:
    texts = [text for _, text in rate_scale(rates).ticks]
    assert 3 <= len(texts) <= 8
    assert len(set(texts)) == len(texts)


@given(rates=st.lists(st.floats(0.01, 100000), min_size=1, max_size=8))
def test_an_axis_of_rates_holds_them_all_and_has_round_ticks(rates: list[float]) -> None:
    scale = rate_scale(rates)
    assert scale.low < min(rates)
    assert max(rates) < scale.high
    assert len(scale.ticks) >= 3
    assert all(scale.low <= value <= scale.high for value, _ in scale.ticks)
