"""The sample viewer's data: `samples/` beside `report.html`, which a person moves through without a server.

    samples/index.js               arms, tracks, causes: what the viewer needs before anything is chosen
    samples/<track>/index.js       small columns over all samples of a track, for filters, counts and order
    samples/<track>/page-000.js    prompts, targets and outputs of some samples, loaded when one of them is opened
    samples/thumbnails/<sha>.webp  small copies of images, so that the folder can be moved to another machine

Browsers refuse `fetch` beside a file and load scripts, so every data file is one call of `bakeoffSamples` with JSON.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bakeoff.records import Record, Sample
from bakeoff.report.arms import marks, runtime
from bakeoff.report.causes import CAUSES
from bakeoff.report.measuring import natural
from bakeoff.report.reading import Run, prepared_samples
from bakeoff.report.viewer.asked import Asked
from bakeoff.report.viewer.columns import is_disputed, track_index
from bakeoff.report.viewer.details import details
from bakeoff.report.viewer.files import DataFiles, folder_names, in_pages
from bakeoff.report.viewer.thumbnails import Thumbnails
from bakeoff.report.visible import visible_line
from bakeoff.tracks import TRACKS

Row = Sequence[Record | None]
"""The records of one sample, an arm each, None where an arm has none."""

SCHEMA = 1


def write_viewer(folder: Path, run: Run, pairs: Mapping[str, tuple[str, str]] | None = None) -> None:
    """Write the viewer's data of `run` into `folder`, which stands beside the page, and remove what an older one left.

    `pairs` names for a track the two arms it opens with, first arm first: "lost" is right in the second one alone.
    What was written before is not read, but for thumbnails, which are named by the bytes they were made from.
    """
    arms = tuple(run.arms)
    tracks = {name: rows for name in run.tracks if (rows := _rows(run, name))}
    samples = {name: prepared_samples(run, name) for name in tracks}
    thumbnails = Thumbnails(folder / "thumbnails", page=folder.parent)
    thumbnails.make(_wanted(tracks, samples))
    files = DataFiles(folder)
    names = folder_names(tracks)
    for name, rows in tracks.items():
        asked = Asked(name, arms)
        items = (details(row, samples[name].get(key), asked, thumbnails) for key, row in rows.items())
        starts = in_pages(files, names[name], items)
        columns = track_index(rows, starts, [run.retold.get(arm) for arm in arms])
        files.write(f"{names[name]}/index.js", {"kind": "track", "folder": names[name], **columns})
    files.write("index.js", _manifest(run, names, tracks, thumbnails, pairs or {}))
    files.remove_others()
    thumbnails.remove_others()


def _manifest(
    run: Run,
    names: Mapping[str, str],
    tracks: Mapping[str, Mapping[str, Row]],
    thumbnails: Thumbnails,
    pairs: Mapping[str, tuple[str, str]],
) -> dict[str, Any]:
    place = {name: number for number, name in enumerate(run.arms)}
    mark_of = marks(tuple(arm.manifest.backend for arm in run.arms.values()))
    return {
        "kind": "run",
        "schema": SCHEMA,
        "run": run.name,
        "arms": [
            {"name": name, "mark": mark_of[arm.manifest.backend], "runtime": runtime(arm.manifest.backend)}
            for name, arm in run.arms.items()
        ],
        "tracks": [
            {
                "name": name,
                "title": TRACKS[name].title if name in TRACKS else visible_line(name),
                "folder": names[name],
                "n": len(rows),
                **({"pair": [place[arm] for arm in pairs[name]]} if name in pairs else {}),
            }
            for name, rows in tracks.items()
        ],
        "causes": [[name, text] for name, text in CAUSES.items()],
        "images": thumbnails.summary,
    }


def _rows(run: Run, track: str) -> dict[str, Row]:
    """Return the records of every sample that some arm has tried, by id in natural order."""
    found = [{record.sample_id: record for record in arm.records.get(track, ())} for arm in run.arms.values()]
    ids = sorted({key for records in found for key in records}, key=natural)
    return {key: [records.get(key) for records in found] for key in ids}


def _wanted(
    tracks: Mapping[str, Mapping[str, Row]], samples: Mapping[str, Mapping[str, Sample]]
) -> list[tuple[str, Sample | None]]:
    """Return images as hash and sample, first those looked at first: disputed, wrong, right; tracks in turn."""
    order: list[tuple[int, int, str, str]] = []
    for name, rows in tracks.items():
        ranked = sorted(rows, key=lambda key: _rank(rows[key]))
        order += [(_rank(rows[key]), place, name, key) for place, key in enumerate(ranked)]
    wanted: list[tuple[str, Sample | None]] = []
    for _, _, name, key in sorted(order, key=lambda entry: entry[:2]):
        record = next(found for found in tracks[name][key] if found is not None)
        wanted += [(digest, samples[name].get(key)) for digest in record.image_sha256]
    return wanted


def _rank(row: Row) -> int:
    if is_disputed(row):
        return 0
    return 1 if any(record is not None and not record.correct for record in row) else 2
