"""p values agree with the drawn interval; over several tracks a word gives way to the strongest that survives Holm."""

import msgspec
import pytest
from hypothesis import given, strategies as st

from bakeoff.report import tables
from bakeoff.report.comparing import drawn_interval
from bakeoff.report.results import Comparison, Word
from bakeoff.report.several import after_holm, interval_p_values
from bakeoff.report.verdicts import read_verdict
from bakeoff.stats import paired_difference

MARGIN = 0.05
BASE = Comparison(
    a="a",
    b="b",
    track="t0",
    metric="m",
    relation="other",
    n=500,
    diff_pp=-3.0,
    ci95_pp=(-5.5, -0.5),
    p=0.02,
    test="t",
    verdict="worse",
    beyond_margin=False,
    margin_pp=2.0,
    sentence="a is worse than b on T0; how much is uncertain.",
    evidence="numbers",
    reason=None,
    lost=30,
    gained=15,
    identical=400,
    pairs_needed=None,
    p_same=0.9,
    p_beyond=0.6,
    p_not_worse=0.8,
)
TITLES = {f"t{number}": f"T{number}" for number in range(6)}


@given(
    scores=st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 60)), min_size=2, max_size=300),
    agreeing=st.integers(0, 600),
)
def test_p_values_are_below_5_percent_exactly_when_the_interval_says_so(
    scores: list[tuple[bool, bool, int]], agreeing: int
) -> None:
    rows = [*scores, *((True, True, 100 + number) for number in range(agreeing))]
    found = paired_difference(
        [float(a) for a, _, _ in rows],
        [float(b) for _, b, _ in rows],
        margin=MARGIN,
        clusters=[str(image) for _, _, image in rows],
    )
    bounds, p = drawn_interval(found), interval_p_values(found)
    if bounds is None or p is None:
        return
    word, beyond = read_verdict(*bounds, MARGIN)
    assert (p.difference < 0.05) is (bounds[0] > 0 or bounds[1] < 0)
    assert (p.same < 0.05) is (word == "same")
    assert (p.not_worse < 0.05) >= (word in {"same", "not worse"})
    assert (p.beyond < 0.05) is beyond


def others(number: int) -> list[Comparison]:
    return [
        msgspec.structs.replace(BASE, track=f"t{n + 1}", p=0.5, p_same=0.5, p_beyond=1.0, p_not_worse=0.5)
        for n in range(number)
    ]


def test_one_track_is_left_as_it_is() -> None:
    assert after_holm([BASE], TITLES) == (BASE,)


def test_a_difference_that_does_not_survive_becomes_open_and_says_after_holm() -> None:
    found = after_holm([BASE, *others(2)], TITLES)[0]
    assert found.holm is not None
    assert (found.verdict, found.holm.verdict_alone, found.holm.tracks) == ("undecided", "worse", 3)
    assert found.holm.p == pytest.approx(0.06)
    assert found.sentence == (
        "Whether a is worse than b on T0 is open after Holm over 3 tracks; by itself its interval says “worse”."
    )
    assert tables.word_text(found) == "can’t tell, after Holm"
    assert found.ci95_pp == BASE.ci95_pp


def test_a_difference_that_survives_keeps_its_sentence() -> None:
    strong = msgspec.structs.replace(BASE, p=0.001)
    found = after_holm([strong, *others(4)], TITLES)[0]
    assert (found.verdict, found.sentence) == ("worse", BASE.sentence)
    assert found.evidence == "numbers; after Holm over 5 tracks"
    assert tables.word_text(found) == "worse"


@pytest.mark.parametrize(
    ("changes", "word", "beyond"),
    [
        ({"verdict": "same", "p": 0.9, "p_same": 0.03, "p_not_worse": 0.005}, "not worse", False),
        ({"verdict": "same", "p": 0.9, "p_same": 0.01, "p_not_worse": 0.005}, "same", False),
        ({"verdict": "better", "p": 0.03, "p_not_worse": 0.01}, "not worse", False),
        ({"verdict": "worse", "p": 0.001, "p_beyond": 0.03, "beyond_margin": True}, "worse", False),
        ({"verdict": "worse", "p": 0.001, "p_beyond": 0.01, "beyond_margin": True}, "worse", True),
    ],
)
def test_a_weakened_claim_gives_way_to_the_strongest_that_survives(
    changes: dict[str, object], word: Word, *, beyond: bool
) -> None:
    claim = msgspec.structs.replace(BASE, **changes)
    found = after_holm([claim, *others(2)], TITLES)[0]
    assert (found.verdict, found.beyond_margin) == (word, beyond)
    is_weaker = (word, beyond) != (claim.verdict, claim.beyond_margin)
    assert ("after Holm" in tables.word_text(found)) is is_weaker
    assert ("after Holm" in found.sentence) is is_weaker


def test_a_track_without_a_verdict_stays_in_the_family() -> None:
    empty = msgspec.structs.replace(
        BASE, track="t1", p=None, p_same=None, p_beyond=None, p_not_worse=None, ci95_pp=None, verdict="not comparable"
    )
    found = after_holm([msgspec.structs.replace(BASE, p=0.03), empty], TITLES)
    assert found[0].verdict == "undecided"
    assert found[1] == empty


def test_pairs_are_families_of_their_own() -> None:
    other_pair = msgspec.structs.replace(BASE, b="c", track="t1")
    assert after_holm([BASE, other_pair], TITLES) == (BASE, other_pair)
