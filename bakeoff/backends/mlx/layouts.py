"""How images seen before lie in the prompt, so that a second question does not decode, resize and normalise them again.

mlx-vlm's LFM2-VL processor writes the text of an image from its grid of tiles and its size alone. Those few numbers are
kept for each image; when the images are asked about again, the processor gets them back in the place of its own work,
and blank pictures in the place of the images.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from PIL import Image as Picture
from transformers.feature_extraction_utils import BatchFeature

MAX_LAYOUTS = 4096
"""Sets of images whose layout is kept: a few hundred bytes each."""


class Layouts:
    """Layouts by the hashes of the images of a prompt. Not thread-safe: the Preparer's lock guards it.

    Args:
        image_processor: mlx-vlm's image processor of the model, whose `preprocess` is watched.
    """

    def __init__(self, image_processor: Any) -> None:
        self._processor = image_processor
        self._known: dict[tuple[str, ...], dict[str, Any]] = {}

    def knows(self, keys: tuple[str, ...]) -> bool:
        """Return whether these images were learned."""
        return keys in self._known

    @contextlib.contextmanager
    def learning(self, keys: tuple[str, ...]) -> Iterator[None]:
        """Keep the layout of the images that are preprocessed meanwhile."""
        original = self._processor.preprocess

        def preprocess(*args: Any, **kwargs: Any) -> Any:
            found = original(*args, **kwargs)
            self._known[keys] = {name: value for name, value in found.items() if not name.startswith("pixel_")}
            while len(self._known) > MAX_LAYOUTS:
                del self._known[next(iter(self._known))]
            return found

        with self._instead(preprocess):
            yield

    @contextlib.contextmanager
    def recalling(self, keys: tuple[str, ...]) -> Iterator[list[Any]]:
        """Answer the processor out of memory meanwhile, and give the blank pictures that stand for the images."""
        with self._instead(lambda *_args, **_kwargs: BatchFeature(data=dict(self._known[keys]))):
            yield [Picture.new("RGB", (1, 1)) for _ in keys]

    @contextlib.contextmanager
    def _instead(self, preprocess: Any) -> Iterator[None]:
        self._processor.preprocess = preprocess
        try:
            yield
        finally:
            del self._processor.preprocess  # the method of the class is behind it
