"""Why two arms differ on a sample: every flipped sample gets one cause, the first in the order of `CAUSES` that holds.

A flip is a sample that one arm has right and the other has not, an errored one included. The order goes from what the
harness did to what the model said: a flip is put down to the text only when nothing before the text differed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from bakeoff.records import Record, Sample
from bakeoff.report.flip_results import Causes, FlipSlice
from bakeoff.report.gathering import gathered
from bakeoff.validity.retold import NEAR, Gap

Test = Callable[[Record, Record], bool]

UNEXPLAINED = "text differs"
"""The cause that files alone cannot look behind."""

SIZE = "image size"
"""Dimension of the slices that comes from the prepared images rather than from the track's groups."""
_NOT_KNOWN = "not known"
_MEGAPIXEL = 1024 * 1024
_SIZE_CLASSES = ((0.25, "up to 0.25 MP"), (1.0, "0.25 to 1 MP"), (4.0, "1 to 4 MP"))
_LARGEST = "over 4 MP"
TILES = "tokens an image"
"""Dimension of the slices that tells tiled images from others."""
_TOKEN_CLASSES = ((70, "up to 70"), (270, "71 to 270"), (1100, "271 to 1,100"))
_MOST_TOKENS = "over 1,100"


def cause_of(a: Record, b: Record, gap: Gap | None = None) -> str:
    """Return the cause of a flip; `gap` is how the arms held the words where the two part, None where not known."""
    cause = next(name for name, holds in _TESTS.items() if holds(a, b))
    if cause != UNEXPLAINED or gap is None:
        return cause
    if gap.apart >= NEAR:
        return "model"
    return "near tie" if gap.tie < NEAR else "drawn"


def flip_causes(
    pairs: Sequence[tuple[Record, Record]],
    samples: Mapping[str, Sample],
    dimensions: Iterable[str],
    gaps: Mapping[str, Gap] | None = None,
) -> Causes:
    """Return the causes of all flips among `pairs`, as a whole and by image size and by each of `dimensions`.

    Args:
        pairs: records of both arms for the samples both have tried, errors included.
        samples: the prepared samples by id, for the size of their images; those of other images are not known.
        dimensions: keys of the records' groups to slice by.
        gaps: what `validity.retold` knows of the pair, by sample id.
    """
    known = gaps or {}
    flips = {
        a.sample_id: cause_of(a, b, known.get(a.sample_id)) for a, b in pairs if bool(a.correct) != bool(b.correct)
    }
    slices: dict[str, Callable[[Record], str | None]] = {SIZE: lambda record: _size_class(record, samples)}
    slices[TILES] = _tiles_class
    slices |= {name: partial(_group, name) for name in dimensions}
    placed = {dimension: [place(a) for a, _ in pairs] for dimension, place in slices.items()}
    return Causes(
        flips=len(flips),
        n=len(pairs),
        causes=_counted(flips.values()),
        by={dimension: _slices([a for a, _ in pairs], flips, values) for dimension, values in placed.items()},
        gathered=gathered(pairs, placed),
    )


def _slices(records: Sequence[Record], flips: Mapping[str, str], values: Sequence[str | None]) -> dict[str, FlipSlice]:
    members: dict[str, list[str]] = {}
    for record, value in zip(records, values, strict=True):
        if value is not None:
            members.setdefault(value, []).append(record.sample_id)
    return {
        value: FlipSlice(
            n=len(ids),
            flips=sum(key in flips for key in ids),
            causes=_counted(flips[key] for key in ids if key in flips),
        )
        for value, ids in sorted(members.items())
    }


def _counted(causes: Iterable[str]) -> dict[str, int]:
    """Count causes, in their order; those that did not occur are left out."""
    found = list(causes)
    return {name: count for name in CAUSES if (count := found.count(name))}


def _group(dimension: str, record: Record) -> str | None:
    return record.groups.get(dimension)


def _size_class(record: Record, samples: Mapping[str, Sample]) -> str:
    """Return the class of the largest image of a sample."""
    if not record.image_sha256:
        return "no image"
    sample = samples.get(record.sample_id)
    if sample is None or tuple(image.sha256 for image in sample.images) != record.image_sha256:
        return _NOT_KNOWN
    pixels = max(image.width * image.height for image in sample.images)
    return next((name for most, name in _SIZE_CLASSES if pixels <= most * _MEGAPIXEL), _LARGEST)


def _tiles_class(record: Record) -> str | None:
    """Return how many tokens the images of a sample take, one image with another; tiled ones take many."""
    if not record.image_sha256 or record.image_tokens is None:
        return None
    each = record.image_tokens / len(record.image_sha256)
    return next((name for most, name in _TOKEN_CLASSES if each <= most), _MOST_TOKENS)


def _tokens_differ(a: Record, b: Record) -> bool:
    return any(
        x is not None and y is not None and x != y
        for x, y in ((a.image_tokens, b.image_tokens), (a.prompt_tokens, b.prompt_tokens))
    )


def _is_extraction(a: Record, b: Record) -> bool:
    """Whether the rule that reads answers made the difference: the texts say the same, and one is read otherwise.

    That is the same text up to white space, or an answer that one arm's text holds word for word although nothing was
    read from it.
    """
    left, right = _squeezed(a.output), _squeezed(b.output)
    return left == right or _is_unread(a, right_answer=b, text=left) or _is_unread(b, right_answer=a, text=right)


def _is_unread(unparsed: Record, *, right_answer: Record, text: str) -> bool:
    if not unparsed.is_unparsed or not right_answer.correct or not right_answer.answer:
        return False
    answer = _squeezed(right_answer.answer)
    return bool(answer) and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) is not None


def _goes_on(short: Record, long: Record) -> bool:
    return bool(short.output) and (long.output or "").startswith(short.output or "")


def _squeezed(text: str | None) -> str:
    return " ".join((text or "").split()).casefold()


_TESTS: dict[str, Test] = {
    "prompt differs": lambda a, b: a.prompt_sha256 != b.prompt_sha256,
    "tokens differ": _tokens_differ,
    "truncated": lambda a, b: "truncated" in {a.status, b.status},
    "error": lambda a, b: "error" in {a.status, b.status},
    "extraction": _is_extraction,
    "stop token": lambda a, b: _goes_on(a, b) or _goes_on(b, a),
    UNEXPLAINED: lambda _a, _b: True,
}

CAUSES: dict[str, str] = {
    "prompt differs": "the text or the images asked are not the same",
    "tokens differ": "the runtimes made another number of image or prompt tokens of the same prompt",
    "truncated": "one answer was cut off",
    "error": "one arm has no valid output",
    "extraction": "the texts say the same and were read differently",
    "stop token": "one answer is the beginning of the other: one arm stopped where the other went on",
    "near tie": "where the texts part, both arms held the two words nearly equally likely: rounding decided",
    "drawn": "where the texts part, both arms held the two words alike: the draw decided, at a temperature above 0",
    "model": "where the texts part, the arms held the two words differently: they do not compute the same",
    UNEXPLAINED: "the same was asked in the same number of tokens, and the arms said something else; "
    "bakeoff explain tells near ties from the rest",
}
"""Causes in the order in which they are tried, each in words."""
