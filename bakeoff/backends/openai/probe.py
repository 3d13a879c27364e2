"""What an OpenAI-compatible server can do, found out by asking it: about fifteen requests of a few tokens each.

A field that a server refuses is left out and named; a field that it takes without any effect is found by its effect.
"""

import base64
import io
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from PIL import Image

from bakeoff.backends.openai.api import count, finish_of, sampling_fields, text_of, tokens_of
from bakeoff.backends.openai.http import Reply, Servers
from bakeoff.errors import BackendError, UsageProblem
from bakeoff.records import Sampling

BUDGETS: Final = ("max_tokens", "max_completion_tokens")
"""Names of the token budget, the usual one first."""

NOT_SEEN: Final = "taken, no effect seen"
"""Said of a field whose narrowest setting does not give the greedy text."""

_WARM: Final = Sampling(temperature=1.5, top_k=0, top_p=1.0, min_p=0.0)
_TEXT: Final = "Write ten words that have nothing to do with each other."
_SHORT: Final = 12
_UNAUTHORIZED: Final = frozenset({401, 403})
_MISSING: Final = 404
_OK: Final = 200
_CANDIDATES: Final = 5
_AS_IDS: Final = "return_tokens_as_token_ids"


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What one server does. A value in words is for people; None is "could not be told".

    `refused` are sampling fields that it answers with an error; `effects` says of a field whether it does something;
    one that `undercounts` does not count the one token of an answer that a budget of one token ended.
    """

    budget_field: str
    refused: tuple[str, ...]
    answers_as: str | None = None
    images: str = "not asked"
    max_images: int | None = None
    logprobs: str = "not asked"
    finish_reasons: str = "not asked"
    usage: bool = False
    undercounts: bool = False
    effects: Mapping[str, str] = {}

    @property
    def extra(self) -> dict[str, Any]:
        """Fields that a request for log-probabilities needs besides the usual ones."""
        return {_AS_IDS: True} if self.logprobs == f"with token ids by {_AS_IDS}" else {}


class Examiner:
    """Asks one server."""

    def __init__(self, servers: Servers, url: str, model: str) -> None:
        self._servers = servers
        self._url = url
        self._model = model
        self._base: dict[str, Any] = {}

    def accepted(self) -> Found:
        """Return which fields the server takes: two requests where it takes all.

        Raises:
            UsageProblem: when it cannot be asked at all: no such address, key or model.
            BackendError: when it does not answer.
        """
        budget = BUDGETS[0]
        reply = self._ask({budget: 1})
        if reply.status != _OK and budget in str(reply.body):
            budget = BUDGETS[1]
            reply = self._ask({budget: 1})
        if reply.status != _OK:
            raise self._refusal(reply)
        answers_as = reply.body.get("model") if isinstance(reply.body, dict) else None
        reply.choice()
        self._base = {budget: _SHORT}
        fields = sampling_fields(Sampling(), seed=1)
        refused: tuple[str, ...] = ()
        if self._ask({**self._base, **fields}).status != _OK:
            refused = tuple(n for n, v in fields.items() if self._ask({**self._base, n: v}).status != _OK)
        return Found(budget_field=budget, refused=refused, answers_as=answers_as)

    def examine(self, *, images: bool) -> Found:
        """Return all that a few questions show.

        Raises:
            UsageProblem: as `accepted`, and when `images` are needed and not seen.
            BackendError: when it does not answer.
        """
        found = self.accepted()
        seen, most = self._images() if images else ("not asked", None)
        reply = self._ask({found.budget_field: 1})
        choice, plain = reply.choice(), reply.body
        return msgspec.structs.replace(
            found,
            images=seen,
            max_images=most,
            logprobs=self._logprobs(),
            usage=count(plain, "prompt_tokens") is not None,
            undercounts=finish_of(choice) == "length" and count(plain, "completion_tokens") == 0,
            finish_reasons=_finish(finish_of(choice), text_of(choice)),
            effects=self._effects(found.refused),
        )

    def _images(self) -> tuple[str, int | None]:
        """Return whether a picture is taken and counted, and how many of them a prompt may have at most."""
        without = self._ask(self._base)
        one, two = (self._ask(self._base, pictures=number) for number in (1, 2))
        if one.status != _OK:
            raise UsageProblem(
                f"{self._model} at {self._url} takes no images, and the selected samples have some: "
                f"{one.failure()}.\nServe a vision model, or select tracks without images"
            )
        counts = [count(reply.body, "prompt_tokens") for reply in (without, one)]
        if None in counts:
            return "taken; whether they are seen is not told", None if two.status == _OK else 1
        if counts[0] == counts[1]:
            raise UsageProblem(
                f"{self._model} at {self._url} takes images and ignores them: a prompt has {counts[0]} tokens with a "
                "picture and without.\nServe it with its vision part (--mmproj in llama.cpp), or select other tracks"
            )
        return "seen", None if two.status == _OK else 1

    def _logprobs(self) -> str:
        wanted = {**self._base, "logprobs": True, "top_logprobs": _CANDIDATES}
        for words, extra in (("with token ids", {}), (f"with token ids by {_AS_IDS}", {_AS_IDS: True})):
            reply = self._ask({**wanted, **extra})
            if reply.status != _OK:
                return "refused"
            choice = reply.choice()
            entries = (choice.get("logprobs") or {}).get("content")
            if not entries:
                return "none"
            if tokens_of(choice):
                return words
        return "without token ids"

    def _effects(self, refused: tuple[str, ...]) -> dict[str, str]:
        """Return what each sampling field does, as far as a warm and otherwise free choice of words shows it."""

        def text(seed: int, **changed: Any) -> str:
            fields = {**sampling_fields(_WARM, seed), **changed}
            body = {name: value for name, value in fields.items() if name not in refused}
            reply = self._ask({**self._base, **body})
            return text_of(reply.choice()) if reply.status == _OK else f"refused {sorted(changed)}"

        warm = [text(seed) for seed in (1, 1, 2, 3)]
        if len(set(warm)) == 1:
            return {"seed": "not told: every answer is the same"}
        greedy = text(1, temperature=0.0)
        narrow = {"top_k": 1, "top_p": 0.01, "min_p": 1.0}
        found = {"seed": "honoured" if warm[0] == warm[1] else "not honoured: one seed gave two answers"}
        for name, value in narrow.items():
            is_held = name not in refused and [text(seed, **{name: value}) for seed in (2, 3)] == [greedy] * 2
            found[name] = "honoured" if is_held else "refused" if name in refused else NOT_SEEN
        return found

    def _ask(self, fields: Mapping[str, Any], *, pictures: int = 0) -> Reply:
        content: Any = _TEXT
        if pictures:
            content = [*(_picture(number) for number in range(pictures)), {"type": "text", "text": _TEXT}]
        body = {"model": self._model, "messages": [{"role": "user", "content": content}], **fields}
        return self._servers.post("/chat/completions", body, only=self._url)

    def _refusal(self, reply: Reply) -> BackendError | UsageProblem:
        error = reply.failure()
        if reply.status in _UNAUTHORIZED:
            return UsageProblem(f"{self._url}: {error}.\nPut the key into the environment: BAKEOFF_API_KEY=… uv run …")
        if reply.status == _MISSING:
            listed = self._servers.get(self._url, f"{self._url}/models") or {}
            names = [str(entry.get("id")) for entry in listed.get("data", ())] if isinstance(listed, dict) else []
            known = (
                f"it serves: {self._servers.hide(', '.join(names))}" if names else "a base address usually ends in /v1"
            )
            return UsageProblem(f"{self._url} has no model {self._model!r} or no /chat/completions: {error}.\n{known}")
        return UsageProblem(f"{self._url} refuses the simplest request for {self._model!r}: {error}")


def _finish(reason: str | None, text: str) -> str:
    """Return what a budget of one token was said to end with."""
    if reason == "stop" and text.strip():
        return "not believable: «stop» after a budget of one token"
    return {"length": "told", "stop": "not seen: the answer was empty"}.get(str(reason), "not told")


def _picture(number: int) -> dict[str, Any]:
    file = io.BytesIO()
    Image.new("RGB", (64, 64), ("red", "blue")[number % 2]).save(file, "PNG")
    url = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")
    return {"type": "image_url", "image_url": {"url": url}}
