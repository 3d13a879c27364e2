"""The part of LiteRT-LM's Python interface that the arm uses, over an engine that repeats what it was told.

A token is a word. `<file>.litertlm` is JSON: `{"vision": true, "slow": false, "fails": false}`.
"""

import base64
import dataclasses
import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

told: list[dict[str, Any]] = []
"""What every conversation was made with and sent."""

has_begun = threading.Event()
"""Set when a message was sent."""


class Backend:
    def get_name(self) -> str:
        return type(self).__name__.lower()


class CPU(Backend):
    def __init__(self, *, thread_count: int | None = None) -> None:
        self.thread_count = thread_count


Backend.CPU = CPU  # type: ignore[attr-defined] # as the package does


@dataclasses.dataclass
class SamplerConfig:
    top_k: int | None = None
    top_p: float | None = None
    temperature: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.top_k is not None and self.top_k <= 0:
            raise ValueError("top_k should be positive")


@dataclasses.dataclass
class RepetitionPenaltyConfig:
    repetition_penalty: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    window_size: int | None = None


@dataclasses.dataclass
class ThinkingConfig:
    enable_thinking: bool = True
    thinking_token_budget: int = -1


class ModelInfo:
    def __init__(self, model_path: str) -> None:
        self._model = _read(model_path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @property
    def input_modalities(self) -> Any:
        return SimpleNamespace(text=True, vision=self._model["vision"], audio=False, video=False)


class Conversation:
    def __init__(self, model: dict[str, Any], given: dict[str, Any]) -> None:
        self._model, self._given = model, given
        self._cancelled = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def send_message(
        self,
        message: Any,
        *,
        repetition_penalty_config: RepetitionPenaltyConfig | None = None,
        no_repeat_ngram_config: Any = None,
        suppress_tokens_config: Any = None,
        max_output_tokens: int | None = None,
        thinking_config: ThinkingConfig | None = None,
        response_format: Any = None,
    ) -> dict[str, Any]:
        del no_repeat_ngram_config, suppress_tokens_config, max_output_tokens, thinking_config, response_format
        told.append({**self._given, "message": message, "penalty": repetition_penalty_config})
        has_begun.set()
        if self._model.get("fails"):
            raise RuntimeError("litert_lm_conversation_send_message failed")
        if self._model.get("slow") and self._cancelled.wait(60):
            raise RuntimeError("litert_lm_conversation_send_message failed")
        images = [base64.b64decode(part["blob"]) for part in message["content"] if part["type"] == "image"]
        words = " ".join(part["text"] for part in message["content"] if part["type"] == "text").split()
        self._counts = (len(words) + 70 * len(images), min(len(words), self._given["max_output_tokens"]))
        said = " ".join(words[: self._counts[1]])
        return {"role": "assistant", "content": [{"type": "text", "text": said}]}

    def get_benchmark_info(self) -> Any:
        return SimpleNamespace(
            init_time_in_second=0.1,
            time_to_first_token_in_second=0.25,
            last_prefill_token_count=self._counts[0],
            last_prefill_tokens_per_second=100.0,
            last_decode_token_count=self._counts[1],
            last_decode_tokens_per_second=10.0,
        )

    def cancel_process(self) -> None:
        self._cancelled.set()


class Engine:
    def __init__(  # noqa: PLR0917 - as the package has it
        self,
        model_path: str,
        backend: Backend,
        max_num_tokens: int | None = None,
        max_num_images: int | None = None,
        cache_dir: str | None = None,
        vision_backend: Backend | None = None,
        audio_backend: Backend | None = None,
        lora_rank_config: Any = None,
        activation_data_type: Any = None,
        enable_benchmark: bool = False,  # noqa: FBT001, FBT002 - as above
        use_ringbuffers_local_attention: bool | None = None,  # noqa: FBT001 - as above
        enable_ynnpack: bool | None = None,  # noqa: FBT001 - as above
    ) -> None:
        del backend, max_num_tokens, cache_dir, audio_backend, lora_rank_config, activation_data_type
        del use_ringbuffers_local_attention, enable_ynnpack
        self._model = _read(model_path)
        assert enable_benchmark, "without it there are no counts"
        assert (vision_backend is not None) == (max_num_images is not None) == self._model["vision"]

    def create_conversation(
        self,
        *,
        messages: Any = None,
        tools: Any = None,
        tool_event_handler: Any = None,
        automatic_tool_calling: bool = True,
        extra_context: Any = None,
        filter_channel_content_from_kv_cache: bool | None = None,
        thinking_config: ThinkingConfig | None = None,
        sampler_config: SamplerConfig | None = None,
        system_message: str | None = None,
        constrained_decoding_config: Any = None,
        lora_config: Any = None,
        max_output_tokens: int | None = None,
        chat_template: str | None = None,
        enable_speculative_decoding: bool | None = None,
    ) -> Conversation:
        del tools, tool_event_handler, automatic_tool_calling, extra_context, filter_channel_content_from_kv_cache
        del system_message, constrained_decoding_config, lora_config, chat_template, enable_speculative_decoding
        given = {"before": messages, "sampler": sampler_config, "thinking": thinking_config}
        return Conversation(self._model, {**given, "max_output_tokens": max_output_tokens})

    def close(self) -> None:
        pass


def install(patch: pytest.MonkeyPatch) -> None:
    """Put the double in the place of `litert_lm`."""
    told.clear()
    has_begun.clear()
    patch.setitem(sys.modules, "litert_lm", sys.modules[__name__])
    patch.delitem(sys.modules, "bakeoff.backends.litert.backend", raising=False)


def _read(model_path: str) -> dict[str, Any]:
    try:
        return dict(json.loads(Path(model_path).read_text("utf-8")))
    except ValueError as error:
        raise RuntimeError(f"Failed to create LiteRT-LM engine for {model_path}") from error
