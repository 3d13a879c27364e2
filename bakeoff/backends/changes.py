"""What was changed in images before runtimes were given them, so that records can tell."""

from collections.abc import Iterable

from bakeoff.records import Image

_CHANGED: dict[str, tuple[str, ...]] = {}


def remember(image: Image, changes: tuple[str, ...]) -> None:
    """Keep what was changed in an image, and that nothing was."""
    _CHANGED[image.sha256] = changes


def is_unchanged(image: Image) -> bool:
    """Return whether this process has looked at the image before and found nothing to change."""
    return _CHANGED.get(image.sha256) == ()


def changes_of(images: Iterable[Image]) -> tuple[str, ...]:
    """Return what was changed in any of `images` by this process, each change once."""
    return tuple(dict.fromkeys(change for image in images for change in _CHANGED.get(image.sha256, ())))
