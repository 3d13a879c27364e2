"""What a fake model computes: words for tokens, and log-probabilities drawn from hashes of all that it was shown.

Two fake arms of the same script agree to the last bit; each field of `Traits` is one way in which real arms do not.
"""

import hashlib

import msgspec

from bakeoff.records import ImagePart, Message, Prompt
from bakeoff.traces import IMAGE_PLACE, Token, Trace

IMAGE_TOKENS = 66
_BOS = 1


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a fake arm.

    It `thinks` before it answers; cuts answers at a `budget` of words of its own; puts `template` before its prompts;
    has the `weights` of another model; `ignores_images`; counts `extra_image_tokens`; `mixes` answers of prompts in
    flight together; `lies` that a cut answer stopped by itself. One that `sees` knows its script's answers only where
    it is shown the very images of the sample, which is how an arm should be. It takes `max_images` a prompt, None for
    any number.
    """

    thinks: bool = False
    budget: int | None = None
    template: str = ""
    weights: int = 0
    ignores_images: bool = False
    extra_image_tokens: int = 0
    sees: bool = False
    mixes: bool = False
    lies: bool = False
    max_images: int | None = None

    def say(self, text: str, limit: int | None) -> tuple[str, bool]:
        """Return what comes of `text`, and whether it was cut."""
        if self.weights:
            text = " ".join(reversed(text.split()))  # another model says something else
        whole = f"<think> let me see </think> {text}" if self.thinks else text
        bound = min((n for n in (self.budget, limit) if n is not None), default=None)
        words = whole.split()
        is_cut = bound is not None and len(words) > bound
        return (" ".join(words[:bound]) if is_cut else whole), is_cut

    def rendered(self, prompt: Prompt) -> str:
        """Return the prompt as this arm's template writes it."""
        turns = (f"<|{message.role}|> {_text(message)} <|end|>" for message in prompt.messages)
        return " ".join([*filter(None, [self.template]), *turns, "<|assistant|>"])

    def trace(self, prompt: Prompt, text: str) -> Trace:
        """Return what a probe asks for."""
        rendered = self.rendered(prompt)
        seen = () if self.ignores_images else tuple(image.sha256 for image in prompt.images)
        ids = tuple(IMAGE_PLACE if word == "<image>" else _number(word) for word in rendered.split())
        said = text.split() or [""]
        return Trace(
            rendered=rendered,
            text_ids=(_BOS, *ids),
            bos=1,
            image_tokens=(IMAGE_TOKENS + self.extra_image_tokens,) * len(prompt.images),
            tokens=tuple(self._token(f"{rendered}{seen}", said[:place], word) for place, word in enumerate(said)),
        )

    def forced(self, prompt: Prompt, tokens: tuple[int, ...]) -> Trace:
        """Return how likely this arm holds given tokens."""
        seen = () if self.ignores_images else tuple(image.sha256 for image in prompt.images)
        shown = f"{self.rendered(prompt)}{seen}"
        found = (self._likely(shown, str(tokens[:place]), token) for place, token in enumerate(tokens))
        return Trace(tokens=tuple(found))

    def _token(self, shown: str, before: list[str], word: str) -> Token:
        return self._likely(shown, " ".join(before), _number(word))

    def _likely(self, shown: str, before: str, token: int) -> Token:
        share = _number(f"{self.weights}/{shown}/{before}") / 60_000
        return Token(id=token, logprob=-share, top=((token, -share), (token + 1, -share - 3.0)))


def _text(message: Message) -> str:
    return " ".join("<image>" if isinstance(part, ImagePart) else part.text for part in message.parts)


def _number(text: str) -> int:
    """Return a number from 2 to 60,001 that hangs on `text` alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % 60_000 + 2
