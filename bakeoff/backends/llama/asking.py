"""Asks one prompt on one slot: the primer where it pays, the question, and the Output that both make."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from bakeoff.backends.llama.api import completion_request, content_of, forced_request, primer_request, tokens_of
from bakeoff.backends.llama.chat import CHAT, chat_request, completion_form
from bakeoff.backends.llama.client import LlamaClient
from bakeoff.backends.llama.prompts import Ready
from bakeoff.backends.llama.slots import Job, Slot
from bakeoff.backends.llama.start import Manner
from bakeoff.errors import BackendDied, BackendError, BackendTimeout, ContextOverflow
from bakeoff.records import Output, Prompt
from bakeoff.text import thought
from bakeoff.traces import IMAGE_PLACE, Token, Trace


class Asker:
    """Asks a server in its manner.

    Args:
        client: the server.
        manner: endpoint, and whether images need a primer; what a later answer shows to be wrong is corrected.
        is_followed: whether another prompt with the same beginning waits or is known to come.
        peak_memory: the largest memory of the server so far, in bytes.
    """

    def __init__(
        self,
        client: LlamaClient,
        manner: Manner,
        *,
        is_followed: Callable[[Job], bool],
        peak_memory: Callable[[], int | None],
    ) -> None:
        self.primers = 0
        self._client = client
        self._manner = manner
        self._needs_primer = manner.needs_primer
        self._is_followed = is_followed
        self._peak_memory = peak_memory

    def answer(self, prompt: Prompt, queued_at: float, slot: Slot, job: Job) -> Output:
        """Return the answer to a prompt."""
        ready: Ready = job.readied()
        began = time.perf_counter()
        continues = bool(job.key) and slot.holds == job.key
        slot.holds = ""  # whatever goes wrong below, nothing is known of the slot's state then
        primer = None if continues else self._prime(ready, slot, job)
        reply = self._ask(prompt, ready, slot, continues=continues or primer is not None)
        ended = time.perf_counter()
        timings = reply.get("timings", {})
        prompt_tokens = int(reply["tokens_evaluated"])
        image_tokens = prompt_tokens - ready.text_tokens if ready.images else 0
        cached = int(timings.get("cache_n", 0))
        reaches = cached >= ready.beginning_text_tokens + image_tokens
        if job.key and self._is_in_place(reply, slot):
            self._note(slot, job, primed=primer is not None, continues=continues, reaches=reaches)
        decode_s = float(timings.get("predicted_ms", 0.0)) / 1000
        prefill_s = (float(timings.get("prompt_ms", 0.0)) + _primed(primer, "prompt_ms")) / 1000
        text = content_of(reply)
        return Output(
            text=text,
            finish_reason=finish_reason(reply),
            prompt_tokens=prompt_tokens,
            image_tokens=image_tokens,
            completion_tokens=int(reply["tokens_predicted"]),
            thinking_tokens=self._count(thought(text)),
            cached_tokens=cached if primer is None else int(_primed(primer, "cache_n")),
            queue_s=began - queued_at,
            ttft_s=ended - began - decode_s,
            prefill_s=prefill_s,
            decode_s=decode_s,
            total_s=ended - began,
            peak_memory_bytes=self._peak_memory(),
            trace=self._trace(ready, reply, image_tokens) if prompt.top_logprobs else None,
        )

    def _count(self, text: str) -> int:
        """Return how many tokens a text is; no request is made for none."""
        body = {"content": text, "add_special": False, "parse_special": True}
        return len(self._client.post("/tokenize", body)["tokens"]) if text else 0

    def force(self, prompt: Prompt, tokens: tuple[int, ...], slot: Slot, job: Job) -> Trace:
        """Return how likely given tokens are after a prompt."""
        ready: Ready = job.readied()
        slot.holds = ""
        text = ready.text(self._client.marker)
        body = completion_request(prompt, text, ready.images, slot=slot.number, continues=False)
        found = tokens_of(self._client.post("/completion", forced_request(body, tokens)))
        if tuple(token.id for token in found[: len(tokens)]) != tokens:
            raise BackendError("this llama.cpp server does not follow a grammar of token ids")
        return Trace(tokens=found[: len(tokens)])

    def _prime(self, ready: Ready, slot: Slot, job: Job) -> Mapping[str, Any] | None:
        """Let the slot read up to the end of the last image, if another prompt follows that begins like this one."""
        if not (job.key and self._needs_primer and self._manner.endpoint == "completion" and self._is_followed(job)):
            return None
        beginning = ready.beginning(self._client.marker)
        try:
            reply = self._client.post("/completion", primer_request(beginning, ready.images, slot=slot.number))
        except (BackendDied, BackendTimeout):
            raise
        except BackendError:  # the question meets the same trouble and tells it in its own words
            return None
        self.primers += 1
        return reply

    def _ask(self, prompt: Prompt, ready: Ready, slot: Slot, *, continues: bool) -> Mapping[str, Any]:
        if self._manner.endpoint == "chat":
            body = chat_request(prompt, ready.images, slot=slot.number, continues=continues)
            reply: Mapping[str, Any] = completion_form(self._client.post(CHAT, body))
        else:
            text = ready.text(self._client.marker)
            body = completion_request(prompt, text, ready.images, slot=slot.number, continues=continues)
            reply = self._client.post("/completion", body)
        said = int(reply["tokens_predicted"])
        if finish_reason(reply) == "length" and said < prompt.max_tokens:
            raise ContextOverflow(
                f"the answer was cut after {said} of {prompt.max_tokens} tokens, because the slot's context of "
                f"{self._client.slot_tokens} tokens was full"
            )
        return reply

    def _is_in_place(self, reply: Mapping[str, Any], slot: Slot) -> bool:
        """Return whether the slot that was named did answer; a server may take another one without a word."""
        return int(reply.get("id_slot", slot.number)) == slot.number

    def _note(self, slot: Slot, job: Job, *, primed: bool, continues: bool, reaches: bool) -> None:
        """Keep in mind what the slot can be continued from, and learn from a beginning that was not."""
        if (continues or primed) and not reaches:
            self._needs_primer = True
        elif continues or primed or not self._needs_primer:
            slot.holds = job.key

    def _trace(self, ready: Ready, reply: Mapping[str, Any], image_tokens: int) -> Trace:
        """Return what a probe asks for; the server counts the tokens of all images together."""
        first = self._client.post("/tokenize", {"content": "", "add_special": True})["tokens"]
        tokens: tuple[Token, ...] = tokens_of(reply)
        return Trace(
            rendered=ready.text("<image>"),
            text_ids=ready.ids,
            bos=ready.ids.count(int(first[0])) if first else None,
            image_tokens=(image_tokens,) if ready.ids.count(IMAGE_PLACE) == 1 else (),
            tokens=tokens,
        )


def finish_reason(reply: Mapping[str, Any]) -> Literal["stop", "length"] | None:
    """Return why a reply ended; None for a reason that is neither."""
    kinds: dict[str, Literal["stop", "length"]] = {"eos": "stop", "word": "stop", "limit": "length"}
    return kinds.get(str(reply.get("stop_type")))


def _primed(primer: Mapping[str, Any] | None, field: str) -> float:
    """Return a figure of the primer's own timings; 0 without a primer."""
    return 0.0 if primer is None else float(primer.get("timings", {}).get(field, 0.0))
