"""The samples that some arm has wrong: what was asked, what is right, what each arm said. Disagreements come first."""

from collections.abc import Mapping, Sequence

import msgspec

from bakeoff.records import BoxTarget, NumberTarget, OptionTarget, Record, Sample, TextTarget
from bakeoff.report import numbers
from bakeoff.report.boxes import Rectangle, answer_box, box_text, in_pixels, rectangle
from bakeoff.report.pictures import Album, Picture
from bakeoff.report.reading import Run, prepared_samples
from bakeoff.report.visible import shortened, visible, visible_line

MOST_PER_ARM = 6
_MOST_CHARACTERS = 2000


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What one arm said. The output is cut in three so that the answer read from it can be marked."""

    arm: str
    is_right: bool
    before: str
    marked: str
    after: str
    answer: str | None
    is_cut_off: bool
    line: str
    box: Rectangle | None
    box_text: str | None


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One sample that some arm has wrong. Boxes are in pixels of the first image."""

    id: str
    track: str
    groups: str
    question: str | None
    target: str
    target_box: Rectangle | None
    pictures: tuple[Picture, ...]
    answers: tuple[Answer, ...]
    note: str | None


class Wrong(msgspec.Struct, frozen=True, kw_only=True):
    """All cards of a page, and by arm how many of how many wrong answers they show."""

    cards: tuple[Card, ...]
    shown: dict[str, tuple[int, int]]
    images: dict[str, str]


def wrong_samples(run: Run) -> Wrong:
    """Return the cards of a run; each arm shows at most its first `MOST_PER_ARM` wrong answers."""
    by_sample = _by_sample(run)
    order = sorted(by_sample, key=lambda key: (not _is_disputed(by_sample[key]), run.tracks.index(key[0]), key[1]))
    chosen: dict[tuple[str, str], None] = {}
    totals: dict[str, int] = {}
    for arm in run.arms:
        wrong = [key for key in order if arm in by_sample[key] and not by_sample[key][arm].correct]
        totals[arm] = len(wrong)
        chosen.update(dict.fromkeys(wrong[:MOST_PER_ARM]))
    album = Album()
    samples = {track: prepared_samples(run, track) for track in run.tracks}
    cards = tuple(_card(samples[key[0]], key, by_sample[key], album) for key in order if key in chosen)
    shown = {arm: sum(not by_sample[key][arm].correct for key in chosen if arm in by_sample[key]) for arm in run.arms}
    return Wrong(cards=cards, shown={arm: (shown[arm], totals[arm]) for arm in run.arms}, images=album.uris)


def _by_sample(run: Run) -> dict[tuple[str, str], dict[str, Record]]:
    found: dict[tuple[str, str], dict[str, Record]] = {}
    for arm in run.arms.values():
        for track in arm.tracks:
            for key, record in arm.answered(track).items():
                found.setdefault((track, key), {})[arm.name] = record
    return {key: records for key, records in found.items() if not all(r.correct for r in records.values())}


def _is_disputed(records: Mapping[str, Record]) -> bool:
    return any(record.correct for record in records.values())


def _card(samples: Mapping[str, Sample], key: tuple[str, str], records: Mapping[str, Record], album: Album) -> Card:
    track, sample_id = key
    asked = next(iter(records.values()))
    sample = samples.get(sample_id)
    note = None if sample else "question and target not found: the samples of this track are not prepared here"
    if sample and tuple(image.sha256 for image in sample.images) != asked.image_sha256:
        sample, note = None, "question and target left out: the prepared sample is not the one that was asked"
    size = (sample.images[0].width, sample.images[0].height) if sample and sample.images else None
    target = sample.target if sample and isinstance(sample.target, BoxTarget) else None
    return Card(
        id=visible_line(sample_id),
        track=track,
        groups=", ".join(visible_line(f"{name} {value}") for name, value in sorted(asked.groups.items())),
        question=visible(sample.question) if sample else None,
        target=target_text(sample, size) if sample else numbers.NO_DATA,
        target_box=rectangle(in_pixels(target.box, size)) if target and size else None,
        pictures=_pictures(sample, asked.image_sha256, album),
        answers=tuple(_answer(arm, record, target, size) for arm, record in records.items()),
        note=note,
    )


def _pictures(sample: Sample | None, asked: Sequence[str], album: Album) -> tuple[Picture, ...]:
    if sample is None:
        return tuple(Picture(key=None, width=0, height=0, missing="image not found") for _ in asked)
    return tuple(album.picture(image, digest) for image, digest in zip(sample.images, asked, strict=True))


def target_text(sample: Sample, size: tuple[int, int] | None) -> str:
    """Return the target in words; `size` is that of the first image, in which boxes are told."""
    match sample.target:
        case BoxTarget(box=box):
            return box_text(in_pixels(box, size)) if size else "a box"
        case OptionTarget(letter=letter, options=texts):
            index = ord(letter[:1].upper()) - ord("A") if letter else -1
            known = texts or sample.options
            text = known[index] if 0 <= index < len(known) else None
            return visible_line(letter if text is None else f"{letter}: {text}")
        case NumberTarget(value=value):
            return visible_line(value.replace("-", numbers.MINUS))
        case TextTarget(answers=answers):
            more = f" + {len(answers) - 1} more accepted" if len(answers) > 1 else ""
            return visible_line(answers[0]) + more if answers else numbers.NO_DATA


def _answer(arm: str, record: Record, target: BoxTarget | None, size: tuple[int, int] | None) -> Answer:
    before, marked, after = _split(record.output or "", record.answer)
    box = answer_box(record, target, size) if target and size else None
    return Answer(
        arm=arm,
        is_right=bool(record.correct),
        before=visible(shortened(before, _MOST_CHARACTERS)),
        marked=visible(marked),
        after=visible(shortened(after, _MOST_CHARACTERS)),
        answer=None if record.answer is None else visible_line(shortened(record.answer, _MOST_CHARACTERS)),
        is_cut_off=record.status == "truncated",
        line=_line(record),
        box=rectangle(box) if box else None,
        box_text=box_text(box) if box else None,
    )


def _split(output: str, answer: str | None) -> tuple[str, str, str]:
    """Cut the output around the answer where it stands in it once, so that it is clear which place is meant."""
    if not answer or output.count(answer) != 1:
        return output, "", ""
    return output.partition(answer)


def _line(record: Record) -> str:
    """Return score, tokens, ending and time of one answer in a line."""
    parts = [f"score {numbers.ratio(record.score)}"]
    parts += [f"{visible_line(name)} {numbers.ratio(value)}" for name, value in sorted(record.metrics.items())]
    if record.completion_tokens is not None:
        parts.append(numbers.some(record.completion_tokens, "token"))
    parts.append("cut off at the limit" if record.status == "truncated" else "ended by itself")
    if record.total_s is not None:
        parts.append(numbers.latency(record.total_s))
    return ", ".join(parts)
