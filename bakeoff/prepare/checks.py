"""What is held against the request before anything is replaced: row counts, larger data, disk space, images."""

import shutil
from pathlib import Path

import msgspec

from bakeoff.errors import DataMissing, UsageProblem
from bakeoff.prepare.asked import Request
from bakeoff.prepare.dataset import Dataset
from bakeoff.prepare.fetching import Fetched
from bakeoff.prepare.listing import incomplete
from bakeoff.prepare.problems import NothingWorks, SchemaChanged, megabytes
from bakeoff.prepare.screen import Screen
from bakeoff.wording import some

SPARE_BYTES = 50_000_000
"""Disk space that is left free beyond the estimate."""


class Consent(msgspec.Struct, frozen=True, kw_only=True):
    """What the user agreed to: that less data replaces more (`yes`), that rows without a usable image are left out."""

    yes: bool = False
    skip_corrupt: bool = False


def check_count(request: Request, dataset: Dataset, screen: Screen) -> None:
    """Hold the number of rows against the declared one; with a revision given by hand a difference is only told.

    Raises:
        SchemaChanged: when it differs at the revision that the track pins.
        DataMissing: when the hub's cache is read, and holds too few.
    """
    split = dataset.split
    if dataset.row_count == split.rows:
        return
    if dataset.listing.is_cached and dataset.row_count < split.rows:
        raise incomplete(dataset.listing, split.revision)
    text = f"{dataset.name} has {dataset.row_count} rows, and {request.track.name} was written for {split.rows}"
    if split.repository not in request.overridden:
        raise SchemaChanged(
            f"{text}. Its subsets and published numbers are of that size. Name another revision, or this one to accept "
            f"it as it is: --revision {request.track.name}:{split.repository}={dataset.commit}"
        )
    screen.say(f"{request.track.name}: warning: {text}")


def keep_larger(request: Request, folder: Path, there: int, chosen: int, screen: Screen) -> None:
    """Leave larger data alone, and say how to replace it.

    Raises:
        UsageProblem: when the track was named, so that less was asked for.
    """
    name = request.track.name
    text = f"{folder} holds {there} rows, more than the {chosen} of size {request.size}"
    remedy = request.again("--yes")
    if request.named:
        raise UsageProblem(f"{name}: {text}, and stays as it is. To replace it by less: {remedy}")
    screen.say(f"{name}: kept: {text}. To replace it by less: {remedy}")


def check_disk(folder: Path, cost: int) -> None:
    """Hold the estimate of what is to come against the free space.

    Raises:
        NothingWorks: when it does not fit.
    """
    free = shutil.disk_usage(folder).free
    if free < cost + SPARE_BYTES:
        raise NothingWorks(
            f"{folder} has {megabytes(free)} free, and up to {megabytes(cost)} of images are to come. Make room, take "
            "a smaller size (TRACK=subset), or set BAKEOFF_DATA to a folder on another disk."
        )


def check_images(request: Request, fetched: Fetched, screen: Screen, consent: Consent) -> None:
    """Name every row with an image that cannot be used.

    Raises:
        DataMissing: when there is one and the user did not agree to leave it out.
    """
    name = request.track.name
    if not fetched.unusable:
        return
    lines = [f"{label}[{index}]: {reason}" for (label, index), reason in sorted(fetched.unusable.items())]
    if not consent.skip_corrupt:
        raise DataMissing(
            f"{name}: {some(len(lines), 'row')} with an image that cannot be used:\n  " + "\n  ".join(lines) + "\n"
            "The samples of before are kept, and so are the good images. Try another revision (--revision TRACK=SHA), "
            f"or leave these rows out: {request.again('--skip-corrupt')}"
        )
    for line in lines:
        screen.say(f"{name}: left out: {line}")
