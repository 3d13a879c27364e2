"""Prompts as the compiled decoder takes them: the model's own template, its tokens, and places for the image's rows."""

from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec
from transformers import AutoTokenizer

from bakeoff.backends.coreai.shape import Shape
from bakeoff.backends.templates import rendered
from bakeoff.errors import BackendError, UsageProblem
from bakeoff.records import Prompt
from bakeoff.traces import IMAGE_PLACE, Token, Trace


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt as tokens.

    `text` is the rendered prompt; `ids` are its tokens, in which row k of the image's embeddings stands as the token
    `vocabulary + k`; `image_tokens` counts those and the markers around them.
    """

    text: str
    ids: tuple[int, ...]
    image_tokens: int


class Texts:
    """The tokenizer and template of one model. Not thread-safe.

    Raises:
        UsageProblem: when the tokenizer cannot be loaded or has no chat template.
    """

    def __init__(self, folder: Path, shape: Shape) -> None:
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        except (OSError, ValueError) as error:
            raise UsageProblem(f"the tokenizer in {folder} cannot be loaded: {error}") from error
        if not self.tokenizer.chat_template:
            raise UsageProblem(f"{folder} has no chat template, so its prompts would be a guess")
        self._shape = shape
        names = self.tokenizer.get_vocab()
        self._image = str(self.tokenizer.convert_ids_to_tokens(shape.image_token))
        markers = ("<|image_start|>", "<|image_end|>") if shape.has_markers else ()
        missing = [name for name in markers if name not in names]
        if missing:
            raise UsageProblem(f"the tokenizer in {folder} has no token {', '.join(missing)}")
        self._markers = tuple(names[name] for name in markers)
        self._around = markers or ("", "")
        end = {names["<|im_end|>"]} if "<|im_end|>" in names else set()
        self.stops = frozenset({*shape.eos, self.tokenizer.eos_token_id, *end} - {None})

    @property
    def template(self) -> str:
        """The chat template."""
        return str(self.tokenizer.chat_template)

    def ready(self, prompt: Prompt) -> Ready:
        """Return `prompt` as tokens.

        Raises:
            BackendError: when the rendered prompt does not show each of its images once.
        """
        text = rendered(self.tokenizer, prompt)
        shown = text.count(self._image)
        if shown != len(prompt.images):
            raise BackendError(
                f"the rendered prompt has {shown} image markers for {len(prompt.images)} images of {prompt.sample_id}"
            )
        count, (start, end) = self._shape.image_tokens, self._around
        ids = self.tokens(text.replace(self._image, f"{start}{self._image * count}{end}"))
        places = [place for place, token in enumerate(ids) if token == self._shape.image_token]
        for row, place in enumerate(places):
            ids[place] = self._shape.vocab + row
        return Ready(text=text, ids=tuple(ids), image_tokens=shown * (count + len(self._markers)))

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of `text` as it stands."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def text(self, tokens: list[int]) -> str:
        """Return what an answer's tokens say.

        Raises:
            BackendError: when the tokenizer has no such token.
        """
        stray = next((token for token in tokens if token >= len(self.tokenizer)), None)
        if stray is not None:
            raise BackendError(f"the model gave token {stray}, which its tokenizer does not have")
        return str(self.tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def trace(self, ready: Ready, tokens: tuple[Token, ...]) -> Trace:
        """Return what a probe asks of a prompt."""
        ids: list[int] = []
        for token in ready.ids:
            if token >= self._shape.vocab:
                ids += [IMAGE_PLACE] if not ids or ids[-1] != IMAGE_PLACE else []
            elif token not in self._markers:
                ids.append(token)
        bos = self.tokenizer.bos_token_id
        return Trace(
            rendered=ready.text.removeprefix(str(self.tokenizer.bos_token or "")).replace(self._image, "<image>"),
            text_ids=tuple(ids),
            bos=None if bos is None else sum(1 for _ in takewhile(lambda token: token == bos, ready.ids)),
            image_tokens=(ready.image_tokens,) if ready.image_tokens else (),
            tiles=((1, 1),) if ready.image_tokens else (),
            tokens=tokens,
        )
