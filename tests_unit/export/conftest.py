"""A run with every kind of record, and outputs that break tables, lines, encodings and markup."""

from collections.abc import Callable

import pytest

from bakeoff.records import Record, Sample, Session
from bakeoff.runs import RunDirectory
from tests_unit.report.synthetic import RunMaker, answered, failed, maker, record, samples

__all__ = ["answered", "maker", "samples"]

HOSTILE = (
    '=HYPERLINK("https://example.org","x")',
    "+1+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "-2+3",
    'say "yes", or, "no"',
    "one\ntwo\r\nthree\rfour",
    "nul \0 inside",
    "\ufeffmark first",
    "\u2028line\u2029paragraph\x85next",
    "| pipe | `tick` | <script>alert(1)</script> |",
    "\u202eright to left",
    "smile \U0001f600 and \x1b[31mred",
    "",
    "NA",
    "null",
    "007",
    "1e5",
    "true",
    " leading and trailing ",
    "x" * 100_000,
)
LONE = "lone \ud800 surrogate"
NAMED = "lone ⟨U+D800⟩ surrogate"


@pytest.fixture
def mixed(maker: RunMaker, samples: tuple[Sample, ...]) -> RunDirectory:
    """Two arms; the first has hostile outputs, an error, a cut-off and an unparsed answer, and a sample twice."""
    hostile = [record(sample, output=text, answer=text) for sample, text in zip(samples, HOSTILE, strict=False)]
    rest = iter(samples[len(HOSTILE) :])
    first: list[Record | Session] = [
        Session(event="start", at="2026-11-30T08:59:00.000+00:00", loaded_s=1.5),
        *hostile,
        record(next(rest), output=LONE, answer=LONE),
        failed(next(rest), 'the runtime died, "quoted",\nand more'),
        record(next(rest), status="truncated", finish_reason="length"),
        record(next(rest), right=False, answer=None),
        *(record(sample, at=position) for position, sample in enumerate(rest)),
        record(samples[-1], output="the second answer", answer="the second answer", attempt=2),
    ]
    second = [record(sample, right=position % 4 != 0, at=position) for position, sample in enumerate(samples)]
    return maker.arm("tiny-bf16", first).arm("tiny-gguf", second, backend="gguf").write()


@pytest.fixture
def expected(samples: tuple[Sample, ...]) -> Callable[[], dict[str, str]]:
    """The outputs of the first arm that a format must give back, by sample id."""

    def outputs() -> dict[str, str]:
        found = {sample.id: text for sample, text in zip(samples, HOSTILE, strict=False)}
        return {**found, samples[-1].id: "the second answer", samples[len(HOSTILE)].id: NAMED}

    return outputs
