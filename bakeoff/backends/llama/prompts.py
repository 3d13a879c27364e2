"""Prompts made ready for a llama.cpp server: rendered by its template, images checked and encoded, tokens counted."""

import base64
import threading
from collections import OrderedDict

import msgspec

from bakeoff.backends.images import image_bytes
from bakeoff.backends.llama.api import Post, rendered_prompt, text_ids
from bakeoff.hashing import hash_json
from bakeoff.records import Image, ImagePart, Prompt, Text
from bakeoff.traces import IMAGE_PLACE

KEPT_BYTES = 64 * 2**20
"""Encoded images kept for the next question on them; one image is kept whatever its size."""


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt as it is sent.

    `pieces` is the rendered text cut at the images, so that it outlives a server whose marker changes; `images` are
    base64; `ids` are the tokens of the text with a place for every image.
    """

    pieces: tuple[str, ...]
    images: tuple[str, ...]
    ids: tuple[int, ...]

    @property
    def text_tokens(self) -> int:
        """Tokens of the text around the images, the beginning-of-sequence token included."""
        return sum(token != IMAGE_PLACE for token in self.ids)

    @property
    def beginning_text_tokens(self) -> int:
        """Tokens of the text before the last image."""
        last = max((place for place, token in enumerate(self.ids) if token == IMAGE_PLACE), default=0)
        return sum(token != IMAGE_PLACE for token in self.ids[:last])

    def text(self, marker: str) -> str:
        """Return the whole prompt with `marker` for every image."""
        return marker.join(self.pieces)

    def beginning(self, marker: str) -> str:
        """Return the prompt up to the end of its last image; empty without images."""
        return marker.join((*self.pieces[:-1], ""))


class ImageStore:
    """Encodes images, each once while the questions on it follow each other. May be used from any thread."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._encoded: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._lock = threading.Lock()

    def encoded(self, image: Image) -> str:
        """Return the bytes of an image in base64, as `image_bytes` gives them.

        Raises:
            BackendError: as `image_bytes`, when the file is not the one that was prepared.
        """
        key = (image.path, image.sha256)
        with self._lock:
            if key in self._encoded:
                self._encoded.move_to_end(key)
                return self._encoded[key]
        text = base64.b64encode(image_bytes(image)).decode("ascii")
        with self._lock:
            self._encoded[key] = text
            while len(self._encoded) > 1 and sum(map(len, self._encoded.values())) > self._kept_bytes:
                self._encoded.popitem(last=False)
        return text


def make_ready(post: Post, prompt: Prompt, marker: str, images: ImageStore) -> Ready:
    """Return a prompt as it is sent.

    Raises:
        BackendError: when an image is not the prepared one, or the template does not show it.
    """
    encoded = tuple(images.encoded(image) for image in prompt.images)
    text = rendered_prompt(post, prompt, marker)
    pieces = tuple(text.split(marker)) if marker else (text,)
    return Ready(pieces=pieces, images=encoded, ids=text_ids(post, pieces))


def beginning_key(prompt: Prompt) -> str:
    """Return a hash of all that stands before the end of the last image; empty without images.

    Two prompts with the same key share their images and the text before them, by content: names and sizes say nothing.
    """
    shown = [
        [message.role, *(["text", part.text] if isinstance(part, Text) else ["image", part.image.sha256])]
        for message in prompt.messages
        for part in message.parts
    ]
    is_image = [isinstance(part, ImagePart) for message in prompt.messages for part in message.parts]
    end = max((place + 1 for place, found in enumerate(is_image) if found), default=0)
    return hash_json([prompt.thinking, shown[:end]]) if end else ""
