"""The flags of metrics in words: what a number lacks, mixes, or rests on. A flag is never only in results.json."""

from collections.abc import Iterable, Mapping

from bakeoff.report.comparing import shown_metric
from bakeoff.report.grid import ordered_arms, tracks_of
from bakeoff.report.results import Results
from bakeoff.report.visible import visible_line

_ALONE: Mapping[str, str] = {
    "few_samples": "few samples: the interval is rough",
    "few_clusters": "few different images: the interval is rough",
    "few_informative_clusters": "few images with differing answers: the interval is rough",
    "no_interval": "no interval: too little to estimate one",
}
_PREFIXED: Mapping[str, str] = {
    "missing": "no sample of {}",
    "mixture": "holds {}, which mixes samples of several splits and is not the published split of that name",
    "labels": "labels as of {}",
}


def flag_texts(flags: Iterable[str]) -> tuple[str, ...]:
    """Return flags in words, those of one kind together; a flag that is not known is shown as it is."""
    values: dict[str, list[str]] = {}
    for flag in flags:
        kind, colon, value = flag.partition(":")
        values.setdefault(kind if colon else flag, []).append(value)
    return tuple(_text(kind, listed) for kind, listed in values.items())


def metric_notes(results: Results) -> tuple[tuple[str, str], ...]:
    """Return track and note for each flag of the metrics shown; an arm is named where the note is not true of all.

    Tracks of which the same is to be said stand together, without their metrics.
    """
    notes: dict[str, list[tuple[str, str]]] = {}
    for name, tracks in tracks_of(results).items():
        metric = shown_metric(tracks) or ""
        by_text: dict[str, list[str]] = {}
        having = [arm for arm, found in ordered_arms(results).items() if name in found.tracks]
        for arm in having:
            found = results.arms[arm].tracks[name].metrics.get(metric)
            for text in flag_texts(found.flags) if found else ():
                by_text.setdefault(text, []).append(arm)
        for text, arms in by_text.items():
            who = "" if len(arms) == len(having) else f" ({', '.join(arms)})"
            notes.setdefault(f"{text}{who}", []).append((tracks[0].title, metric))
    return tuple(
        (", ".join(title for title, _ in said), text if len(said) > 1 else f"{said[0][1]}: {text}")
        for text, said in notes.items()
    )


def _text(kind: str, values: list[str]) -> str:
    listed = ", ".join(visible_line(value) for value in dict.fromkeys(values))
    if kind in _PREFIXED and listed:
        return _PREFIXED[kind].format(listed)
    return _ALONE.get(kind) or (f"{kind}: {listed}" if listed else kind)
