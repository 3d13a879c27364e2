"""Freezing one track: rows are read, some chosen, their images stored, samples built, and all put in place at once."""

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import filelock

from bakeoff.errors import UsageProblem
from bakeoff.prepare.asked import Request
from bakeoff.prepare.building import build, choose
from bakeoff.prepare.checks import Consent, check_count, check_disk, check_images, keep_larger
from bakeoff.prepare.commits import names_one_state
from bakeoff.prepare.dataset import Dataset
from bakeoff.prepare.fetching import Fetcher
from bakeoff.prepare.images import ImageStore
from bakeoff.prepare.ledger import Ledger, place_of
from bakeoff.prepare.link import Link, silent
from bakeoff.prepare.manifest import (
    SCHEMA,
    Manifest,
    Origin,
    is_as_prepared,
    read_manifest,
    rows_prepared,
    summary,
    write_prepared,
)
from bakeoff.prepare.problems import disk_problem, megabytes
from bakeoff.prepare.screen import Screen
from bakeoff.records import Sample, from_line, to_line
from bakeoff.tracks.census import differences
from bakeoff.tracks.source import Row


def freeze(request: Request, folder: Path, *, link: Link, screen: Screen, consent: Consent) -> Manifest | None:
    """Prepare one track into `folder`; return what lies there then, None when that is larger and is kept.

    What lay in the folder stays usable until the new samples are complete.

    Raises:
        UsageProblem: when larger data would be replaced without consent, or another process prepares the track.
        DataMissing: when the dataset cannot be read, is not what the track expects, or holds images of no use.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(folder / ".prepare.lock", timeout=0):
            return _freeze(request, folder, link, screen, consent)
    except filelock.Timeout as error:
        raise UsageProblem(f"{folder} is being prepared by another process; wait for it or stop it") from error
    except OSError as error:
        raise disk_problem(error, folder) from error
    finally:
        link.advance = silent


def _freeze(request: Request, folder: Path, link: Link, screen: Screen, consent: Consent) -> Manifest | None:
    name, source = request.track.name, request.source
    store = ImageStore(folder)
    current = _current(request, folder, store)
    if current is not None:
        screen.say(f"{name}: up to date, prepared on {current.prepared_at[:10]}: {summary(current)}")
        return current
    before = link.fetched
    datasets = {split.label: Dataset(split, link) for split in source.splits}
    for dataset in datasets.values():
        dataset.check_columns(source.columns, source.image_columns)
        check_count(request, dataset, screen)
    rows = _read_rows(request, list(datasets.values()), link, screen)
    chosen = choose(request, rows)
    there = rows_prepared(folder)
    if len(chosen) < there and not consent.yes:
        keep_larger(request, folder, there, len(chosen), screen)
        return None
    with Ledger(folder) as ledger:
        fetcher = Fetcher(datasets, source.image_columns, ledger, store)
        work = fetcher.work_left(chosen)
        shard_bytes = sum(dataset.size for dataset in datasets.values())
        screen.say(
            f"{name}: {len(chosen)} of {len(rows)} rows; {work.describe()} of shards of {megabytes(shard_bytes)}"
        )
        check_disk(folder, work.cost)
        with screen.task(f"{name}: images", work.cost) as task:
            link.advance = task.advance
            fetched = fetcher.fetch(work, task, link.workers)
        check_images(request, fetched, screen, consent)
        samples, left_out = build(request, chosen, fetched)
        lines = "".join(to_line(sample) + "\n" for sample in samples).encode("ascii")
        paths = {image.path for sample in samples for image in sample.images}
        manifest = Manifest(
            schema=SCHEMA,
            track=name,
            version=request.track.version,
            prepared_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            size=request.size,
            origins=tuple(_origin(dataset, chosen) for dataset in datasets.values()),
            rows_read=len(rows),
            rows_taken=len(chosen),
            samples=len(samples),
            left_out=dict(Counter(reason for _, reason in left_out)),
            left_out_rows=tuple(f"{row.split}[{row.index}]: {reason}" for row, reason in left_out),
            images=len(paths),
            image_bytes=sum((folder / path).stat().st_size for path in paths),
            fetched_bytes=link.fetched - before,
            shard_bytes=shard_bytes,
            unexpected=differences(request.track, samples),
            samples_sha256=hashlib.sha256(lines).hexdigest(),
        )
        write_prepared(folder, lines, manifest)
        wanted = {(place_of(datasets[r.split]), r.index, c) for r in chosen for c in source.image_columns}
        # Without consent, what a larger preparation had stored when it was broken off is left for it to go on with.
        left = set() if consent.yes else ledger.keys_of({place_of(dataset) for dataset in datasets.values()}) - wanted
        ledger.rewrite(wanted | left)
        paths |= ledger.paths()
    store.prune(paths)
    screen.say(f"{name}: {summary(manifest)}")
    if len(paths) > manifest.images:
        screen.say(
            f"{name}: {len(paths) - manifest.images} more images, of a larger preparation that was broken off, are "
            f"kept for it. To remove them: {request.again('--yes')}"
        )
    for told in manifest.unexpected:
        screen.say(f"warning: {told}: the dataset changed, and scores may not compare")
    return manifest


def _current(request: Request, folder: Path, store: ImageStore) -> Manifest | None:
    """Return the manifest when the folder holds what is asked for, whole, from commits that cannot change."""
    manifest = read_manifest(folder)
    if manifest is None or not is_as_prepared(folder, manifest):
        return None
    asked = [(s.label, s.repository, s.config, s.split, s.revision) for s in request.source.splits]
    there = [(o.label, o.repository, o.config, o.split, o.revision) for o in manifest.origins]
    is_pinned = all(names_one_state(origin.revision, origin.commit) for origin in manifest.origins)
    if not is_pinned or asked != there or (manifest.size, manifest.version) != (request.size, request.track.version):
        return None
    try:
        lines = (folder / "samples.jsonl").read_text("utf-8").splitlines()
        images = {image for line in lines for image in from_line(line, Sample).images}
    except ValueError:  # written by another version of the suite
        return None
    return manifest if all(store.holds(image) for image in images) else None


def _read_rows(request: Request, datasets: Sequence[Dataset], link: Link, screen: Screen) -> list[Row]:
    columns = request.source.columns
    rows: list[Row] = []
    total = sum(dataset.cost(list(columns)) for dataset in datasets)
    with screen.task(f"{request.track.name}: rows", total) as task:
        link.advance = task.advance
        for dataset in datasets:
            task.note(dataset.split.label)
            rows.extend(dataset.rows(columns))
    return rows


def _origin(dataset: Dataset, chosen: Sequence[Row]) -> Origin:
    split = dataset.split
    return Origin(
        label=split.label,
        repository=split.repository,
        config=split.config,
        split=split.split,
        revision=split.revision,
        commit=dataset.commit,
        rows=dataset.row_count,
        rows_taken=sum(row.split == split.label for row in chosen),
    )
