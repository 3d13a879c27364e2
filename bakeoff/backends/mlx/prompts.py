"""Prompts as mlx-vlm wants them: rendered with the model's own template, tokenised, images cut into patches.

Preparing needs no model and no MLX stream, so a thread of its own does it while the accelerator decodes other prompts.
"""

import threading
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from mlx_vlm.generate.dispatch import should_add_special_tokens
from mlx_vlm.utils import prepare_inputs

from bakeoff.backends.images import image_bytes, picture_of
from bakeoff.backends.mlx.layouts import Layouts
from bakeoff.backends.templates import rendered
from bakeoff.errors import BackendError, UsageProblem
from bakeoff.records import Prompt


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt as tokens and patches.

    `text` is the rendered prompt and `ids` its tokens, image tokens included; `mask` has shape [1, tokens];
    `image_end` is the position after the last image, 0 without images; `image_keys` are the hashes of the image files
    in order. `pixels` are the processor's arrays by name, the padding still on; None where the images were seen before
    and only their layout was wanted.
    """

    text: str
    ids: list[int]
    mask: Any
    image_tokens: int
    image_end: int
    image_keys: tuple[str, ...]
    pixels: dict[str, Any] | None


class Preparer:
    """Prepares prompts of one model. All methods may be called from any thread.

    Args:
        config: the model's configuration, as mlx-vlm read it.
        processor: mlx-vlm's processor of the model.
        folder: where the model lies, for messages.
        layouts: how images seen before were laid out; None to preprocess every image of every prompt.
    """

    def __init__(self, config: Any, processor: Any, folder: Path, layouts: Layouts | None) -> None:
        self._config = config
        self._processor = processor
        self._folder = folder
        self._layouts = layouts
        self.lock = threading.Lock()  # a tokenizer must not be asked by two threads at once

    @property
    def template_holder(self) -> Any:
        """The processor or the tokenizer, whichever carries the chat template.

        Raises:
            UsageProblem: when neither does.
        """
        for holder in (self._processor, self._processor.tokenizer):
            if getattr(holder, "chat_template", None):
                return holder
        raise UsageProblem(f"{self._folder} has no chat template, so its prompts would be a guess")

    def render(self, prompt: Prompt) -> str:
        """Write the messages with the model's own template."""
        return rendered(self.template_holder, prompt)

    def prepare(self, prompt: Prompt, *, needs_pixels: bool = False) -> Prepared:
        """Tokenise `prompt` and preprocess its images, unless their layout is known and `needs_pixels` is false.

        Raises:
            BackendError: when an image is not the prepared one, or the processor refuses the images.
        """
        contents = [image_bytes(image) for image in prompt.images]
        keys = tuple(image.sha256 for image in prompt.images)
        with self.lock:
            text = self.render(prompt)
            if self._layouts is None or not contents:
                return self._prepared(text, keys, self._inputs(text, [picture_of(content) for content in contents]))
            if needs_pixels or not self._layouts.knows(keys):
                with self._layouts.learning(keys):
                    return self._prepared(text, keys, self._inputs(text, [picture_of(content) for content in contents]))
            with self._layouts.recalling(keys) as blanks:
                inputs = self._inputs(text, blanks)
            return msgspec.structs.replace(self._prepared(text, keys, inputs), pixels=None)

    def _inputs(self, text: str, pictures: list[Any]) -> dict[str, Any]:
        try:
            inputs: dict[str, Any] = prepare_inputs(
                self._processor,
                images=pictures or None,
                prompts=text,
                image_token_index=getattr(self._config, "image_token_index", None),
                add_special_tokens=should_add_special_tokens(self._config.model_type, self._processor),
            )
        except (ValueError, OSError) as error:
            raise BackendError(f"mlx-vlm cannot prepare the prompt: {error}") from error
        return inputs

    def _prepared(self, text: str, keys: tuple[str, ...], inputs: dict[str, Any]) -> Prepared:
        ids = [int(token) for token in np.asarray(inputs["input_ids"]).reshape(-1)]
        return Prepared(
            text=text,
            ids=ids,
            mask=inputs.get("attention_mask"),
            image_tokens=len(ids) - self._text_tokens(text) if keys else 0,
            image_end=self._after_images(ids) if keys else 0,
            image_keys=keys,
            pixels={name: value for name, value in inputs.items() if name not in {"input_ids", "attention_mask"}},
        )

    def _after_images(self, ids: list[int]) -> int:
        """Return the position after the last image, its closing marker included; 0 when there is none."""
        closing = self._processor.tokenizer.convert_tokens_to_ids("<|image_end|>")
        image = getattr(self._config, "image_token_index", None)
        return next((place + 1 for place in reversed(range(len(ids))) if ids[place] in {closing, image}), 0)

    def _text_tokens(self, text: str) -> int:
        """Return how many tokens the text around the images takes."""
        marker = str(getattr(self._processor, "image_token", "<image>"))
        pieces = [piece for piece in text.split(marker) if piece]
        return sum(len(self._processor.tokenizer(piece, add_special_tokens=False)["input_ids"]) for piece in pieces)
