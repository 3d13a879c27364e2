from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.commands.plan import read_effect
from bakeoff.errors import UsageProblem
from bakeoff.records import Record
from bakeoff.report import build
from bakeoff.stats import samples_for_difference
from tests_unit.commands.conftest import Cli
from tests_unit.report.synthetic import RunMaker

Answered = Callable[..., list[Record]]


def words(text: str) -> str:
    return " ".join(text.replace("\u202f", "").split())


def test_without_a_run_round_figures_are_those_of_the_specification(cli: Cli) -> None:
    text = words(cli("plan", "--effect", "2pp").stdout)
    assert "To see a difference of 2 points in 80% of runs" in text
    assert "10% 1960" in text
    assert "312" in words(cli("plan", "--effect", "5").stdout)


def test_an_effect_beyond_the_discordance_is_impossible(cli: Cli) -> None:
    assert "2% impossible" in words(cli("plan", "--effect", "5").stdout)


def test_more_power_needs_more_samples(cli: Cli) -> None:
    needed = samples_for_difference(0.02, 0.1, power=0.95)
    assert needed is not None
    assert needed > 1960
    assert f"10% {needed}" in words(cli("plan", "--effect", "2pp", "--power", "0.95").stdout)


def test_a_stored_pair_gives_discordance_shared_images_and_what_it_can_see(
    cli: Cli, maker: RunMaker, answered: Answered
) -> None:
    run = maker.arm("one", answered()).arm("two", answered(lambda i: i % 10 == 0)).write()
    text = words(cli("plan", "--effect", "5pp", "--from", run.path).stdout)
    assert "two against one on Toy (accuracy): 120 pairs" in text
    assert "Their scores differ on 10% of samples. Because questions share images" in text
    assert "The track has only 120." in text
    assert "With the 120 pairs there are" in text


def test_plan_and_report_name_the_same_number_of_pairs(cli: Cli, maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered(lambda i: i % 9 != 0)).arm("two", answered(lambda i: i % 10 != 0)).write()
    (comparison,) = build(run).comparisons
    assert comparison.pairs_needed is not None
    text = words(cli("plan", "--effect", "2pp", "--from", run.path).stdout)
    assert f"To call equal arms the same within 2 points in 80% of runs: {comparison.pairs_needed} pairs." in text


def test_arms_that_never_differ_give_no_figure(cli: Cli, maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).arm("two", answered()).write()
    assert "No sample tells them apart" in words(cli("plan", "--effect", "5pp", "--from", run.path).stdout)


def test_few_pairs_are_called_a_rough_figure(cli: Cli, maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).arm("two", answered(lambda i: i % 10 == 0)[:40]).write()
    assert "40 pairs are few" in words(cli("plan", "--effect", "5pp", "--from", run.path).stdout)


def test_a_run_without_a_pair_is_refused(cli: Cli, maker: RunMaker, answered: Answered) -> None:
    done = cli("plan", "--effect", "5pp", "--from", maker.arm("one", answered()).write().path)
    assert isinstance(done.exception, UsageProblem)
    assert "no two arms with common answers" in str(done.exception)


@pytest.mark.parametrize("text", ["0", "-1", "two", "101pp", "nan"])
def test_an_effect_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageProblem, match="such as --effect 2pp"):
        read_effect(text)


def test_a_power_below_a_coin_is_refused(cli: Cli, tmp_path: Path) -> None:
    assert isinstance(cli("plan", "--effect", "2", "--power", "0.2").exception, UsageProblem)
    assert isinstance(cli("plan", "--effect", "2", "--from", tmp_path).exception, UsageProblem)
