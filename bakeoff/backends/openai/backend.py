"""Any OpenAI-compatible server: vLLM, SGLang, LM Studio, Ollama, mlx_vlm.server, a llama-server elsewhere.

`openai:<base url>[|<base url>…]#<model name>`; several addresses share the load. The server renders prompts with its
own template, which this backend cannot see; image tokens are counted for probes only, as a difference of two prompts.
"""

import datetime as dt
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import msgspec

from bakeoff.backends.backend import Capabilities, Settings
from bakeoff.backends.client_threads import ClientThreads
from bakeoff.backends.openai.api import (
    chat_request,
    count,
    finish_of,
    messages_of,
    text_of,
    tokens_of,
)
from bakeoff.backends.openai.http import Reply, Servers
from bakeoff.backends.openai.key import without_key
from bakeoff.backends.openai.place import Place, place_of
from bakeoff.backends.openai.probe import NOT_SEEN, Examiner, Found
from bakeoff.errors import BackendDied, ContextOverflow, UsageProblem
from bakeoff.records import Output, Prompt
from bakeoff.spec import ModelSpec
from bakeoff.traces import Trace

SLOTS_A_SERVER = 4
"""Prompts in flight at one address where `--concurrency` says nothing."""

RETURN_TIMEOUT_S = 60.0
_OK = 200


class OpenAIBackend:
    """A client of servers that somebody else runs."""

    pid = 0

    def __init__(
        self, servers: Servers, place: Place, found: Found, *, identity: Mapping[str, Any], slots: int, load_s: float
    ) -> None:
        self.url = "|".join(place.urls)
        self.identity = identity
        self.found: Mapping[str, Any] = msgspec.to_builtins(found)
        self.load_s = load_s
        self.capabilities = Capabilities(slots=slots, max_images=found.max_images)
        self._servers = servers
        self._model = place.model
        self._found = found
        self._threads = ClientThreads(slots, "openai client")

    def submit(self, prompt: Prompt) -> Future[Output]:
        """Queue a prompt; as many are in flight as there are slots."""
        return self._threads.submit(self._answer, prompt, time.perf_counter())

    def restart(self) -> None:
        """Wait until one of the servers answers again.

        Raises:
            BackendDied: when none does in a minute.
        """
        deadline = time.monotonic() + RETURN_TIMEOUT_S
        while not any(self._servers.is_reachable(url) for url in self._servers.urls):
            if time.monotonic() > deadline or self._servers.pause(0.5):
                raise BackendDied(f"no server answers at {self.url}")

    def close(self) -> None:
        """Fail what is in flight, at once; a server may go on with it for itself."""
        self._servers.close()
        self._threads.close()

    def _answer(self, prompt: Prompt, queued_at: float) -> Output:
        began = time.perf_counter()
        body = chat_request(self._model, prompt, self._found.refused, self._found.budget_field)
        if prompt.top_logprobs:
            if self._found.logprobs in {"refused", "none"}:
                body = {name: value for name, value in body.items() if name not in {"logprobs", "top_logprobs"}}
            body |= self._found.extra
        answer = self._ask(body)
        took = time.perf_counter() - began
        choice, reply = answer.choice(), answer.body
        text, completion = text_of(choice), count(reply, "completion_tokens")
        finish = finish_of(choice)
        if finish == "stop" and self._found.finish_reasons.startswith("not believable"):
            finish = None if completion is None else "length" if completion >= prompt.max_tokens else "stop"
        elif finish == "length" and completion is not None and not self._found.undercounts:
            _verify_length(completion, prompt.max_tokens)
        prompt_tokens = count(reply, "prompt_tokens")
        details = (reply.get("usage") or {}).get("prompt_tokens_details") or {}
        timings = reply.get("timings") or {}
        decode_s = _seconds(timings, "predicted_ms")
        return Output(
            text=text,
            finish_reason=finish,
            prompt_tokens=prompt_tokens,
            image_tokens=self._image_tokens(prompt, body, prompt_tokens),
            completion_tokens=completion,
            cached_tokens=details.get("cached_tokens"),
            queue_s=began - queued_at,
            ttft_s=None if decode_s is None else max(0.0, took - decode_s),
            prefill_s=_seconds(timings, "prompt_ms"),
            decode_s=decode_s,
            total_s=took,
            trace=Trace(tokens=tokens_of(choice)) if prompt.top_logprobs else None,
        )

    def _image_tokens(self, prompt: Prompt, body: Mapping[str, Any], prompt_tokens: int | None) -> int | None:
        """Return what the images of a probe take: the prompt's tokens less those of the same prompt without them."""
        if not prompt.images:
            return 0
        if not prompt.top_logprobs or prompt_tokens is None:
            return None
        plain = {**body, "messages": messages_of(prompt.messages, images=False), self._found.budget_field: 1}
        without = count(self._ask(plain).body, "prompt_tokens")
        return None if without is None else prompt_tokens - without

    def _ask(self, body: Mapping[str, Any]) -> Reply:
        reply = self._servers.post("/chat/completions", body)
        if reply.status != _OK or not isinstance(reply.body, dict):
            raise reply.failure()
        return reply


def open_backend(spec: ModelSpec, settings: Settings) -> OpenAIBackend:
    """Ask every server what it can do, and make a client of all of them; what another process found is taken over.

    Raises:
        UsageProblem: when an address or a model is not there, a key is wrong, images are not seen, or two servers
            differ in what they can do.
        BackendError: when a server does not answer.
    """
    place = place_of(spec.location)
    began = time.perf_counter()

    def note(line: str) -> None:
        settings.log_path.parent.mkdir(parents=True, exist_ok=True)
        with settings.log_path.open("a", encoding="utf-8") as log:
            log.write(f"{dt.datetime.now(dt.UTC).isoformat(timespec='seconds')} {line}\n")

    servers = Servers(place.urls, timeout_s=settings.timeout_s, note=note)
    if settings.found:
        known = msgspec.convert(settings.found, Found)
        return OpenAIBackend(servers, place, known, identity={}, slots=settings.concurrency or 1, load_s=0.0)
    examiners = {url: Examiner(servers, url, place.model) for url in place.urls}
    with ThreadPoolExecutor(max_workers=16) as pool:
        settings.progress(f"{spec.name}: asking {len(place.urls)} server(s) what they can do")
        asked = {url: pool.submit(one.examine, images=settings.needs_images) for url, one in examiners.items()}
        found = {url: future.result() for url, future in asked.items()}
    first = _same(servers, found)
    for field in first.refused:
        settings.progress(f"{spec.name}: the server refuses {field}, so it is not sent; recorded in the identity")
    idle = [name for name, effect in first.effects.items() if effect == NOT_SEEN]
    if idle:
        settings.progress(f"{spec.name}: the server takes {', '.join(idle)}, but no effect of it was seen")
    slots = settings.concurrency or SLOTS_A_SERVER * len(place.urls)
    identity = _identity(servers, place, first)
    return OpenAIBackend(servers, place, first, identity=identity, slots=slots, load_s=time.perf_counter() - began)


def _same(servers: Servers, found: Mapping[str, Found]) -> Found:
    """Return what all servers can do.

    Raises:
        UsageProblem: when they differ in something that moves scores.
    """
    (url, first), *others = found.items()
    for other, second in others:
        for field in ("answers_as", "budget_field", "refused", "images", "max_images"):
            if getattr(first, field) != getattr(second, field):
                told = (servers.hide(repr(getattr(one, field))) for one in (first, second))
                raise UsageProblem(
                    f"{url} and {other} cannot share the load: {field} is {' at one and '.join(told)} at the other. "
                    "Run them as two models"
                )
    return first


def _identity(servers: Servers, place: Place, found: Found) -> dict[str, Any]:
    """Return who answers, as far as servers tell it: no server tells the hash of its weights.

    Raises:
        UsageProblem: when a server answers with the one model it has, whatever name it is asked for.
    """
    url = place.urls[0]
    listed = servers.get(url, f"{url}/models")
    entries = listed.get("data") if isinstance(listed, dict) else None
    names = [entry for entry in entries or () if isinstance(entry, dict)]
    entry = next((entry for entry in names if entry.get("id") == place.model), None)
    other = found.answers_as
    if entry is None and other != place.model and any(named.get("id") == other for named in names):
        other = servers.hide(str(other))
        raise UsageProblem(f"{url} has no model {place.model!r} and answers with {other!r}. Write openai:{url}#{other}")
    if other is not None and other != place.model:
        found = msgspec.structs.replace(found, answers_as=servers.hide(other))
    told = {
        "runtime_version": _version(servers, url),
        "served": entry or {"names": [str(other.get("id")) for other in names[:20]]},
    }
    return {
        "runtime": "openai-compatible server",
        **without_key(told, servers.hide, servers.hide_secrets),
        "model": place.model,
        "answers_as": found.answers_as,
        "refused_fields": list(found.refused),
        "servers": list(place.urls),
        "capabilities": msgspec.to_builtins(found),
    }


def _verify_length(said: int, budget: int) -> None:
    """Refuse an answer that is cut, but not by its budget.

    Raises:
        ContextOverflow: when it has fewer tokens than the budget allows.
    """
    if said < budget:
        raise ContextOverflow(
            f"the answer was cut after {said} of {budget} tokens, because the server's context was full. Serve the "
            "model with a longer context"
        )


def _version(servers: Servers, url: str) -> str:
    """Return what the server says of its version at one of the places where servers say it."""
    address = urlsplit(url)
    root = f"{address.scheme}://{address.netloc}"
    for path, field in (("/version", "version"), ("/api/version", "version"), ("/props", "build_info")):
        told = servers.get(url, root + path)
        if isinstance(told, dict) and isinstance(told.get(field), str):
            return str(told[field])
    return "unknown"


def _seconds(timings: Mapping[str, Any], name: str) -> float | None:
    value = timings.get(name)
    return float(value) / 1000 if isinstance(value, int | float) else None
