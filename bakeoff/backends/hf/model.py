"""The reference implementation as functions: loading, preparing a prompt, choosing tokens, reading given ones."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers

from bakeoff.backends.backend import REPEAT_WINDOW
from bakeoff.backends.images import image_bytes, picture_of
from bakeoff.errors import ContextOverflow, UsageProblem
from bakeoff.records import ImagePart, Message, Prompt, Sampling, Text
from bakeoff.traces import IMAGE_PLACE, Token

DTYPES = {"float32": torch.float32, "bf16": torch.bfloat16}


class Loaded(NamedTuple):
    """A model with its processor, and whose image processor that is."""

    model: Any
    processor: Any
    image_processor: str


class Prepared(NamedTuple):
    """A rendered prompt and the model's inputs, a batch of one."""

    text: str
    inputs: dict[str, torch.Tensor]

    @property
    def ids(self) -> list[int]:
        """Tokens of the prompt, image tokens included."""
        found: list[int] = self.inputs["input_ids"][0].tolist()
        return found


def load(folder: Path, dtype: str) -> Loaded:
    """Load a model for evaluation.

    Raises:
        UsageProblem: when transformers cannot load it, or no image processor for it can be imported.
    """
    try:
        model = transformers.AutoModelForImageTextToText.from_pretrained(folder, dtype=DTYPES[dtype]).eval()
    except (OSError, ValueError, ImportError) as error:
        raise UsageProblem(f"transformers cannot load {folder}: {error}") from error
    processor = _processor(folder, model.config.model_type)
    module = type(processor.image_processor).__module__
    owner = "mlx-vlm" if module.startswith("mlx_vlm") else "transformers"
    return Loaded(model, processor, f"{owner}: {type(processor.image_processor).__name__}")


def prepare(loaded: Loaded, prompt: Prompt) -> Prepared:
    """Render a prompt with the model's own template and turn images into pixel values.

    Raises:
        BackendError: when an image is not the one that was prepared.
        ContextOverflow: when prompt and budget need more positions than the model has.
    """
    processor, tokenizer = loaded.processor, loaded.processor.tokenizer
    options = {} if prompt.thinking == "default" else {"enable_thinking": prompt.thinking == "on"}
    messages = [{"role": message.role, "content": _content(message)} for message in prompt.messages]
    holder = processor if getattr(processor, "chat_template", None) else tokenizer
    text = str(holder.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **options))
    pictures = [picture_of(image_bytes(image)) for image in prompt.images]
    begins = bool(tokenizer.bos_token) and text.startswith(tokenizer.bos_token)
    given = {"images": pictures} if pictures else {}
    made = processor(text=[text], add_special_tokens=not begins, return_tensors="pt", **given)
    inputs = {name: torch.as_tensor(value) for name, value in made.items() if name != "token_type_ids"}
    for name, value in inputs.items():
        if value.is_floating_point():
            inputs[name] = value.to(loaded.model.dtype)
    length = int(inputs["input_ids"].shape[1]) + prompt.max_tokens
    most = getattr(loaded.model.config.get_text_config(), "max_position_embeddings", None)
    if most is not None and length > most:
        raise ContextOverflow(f"prompt and budget need {length} positions, and the model has {most}")
    return Prepared(text, inputs)


@torch.no_grad()  # type: ignore[untyped-decorator]  # torch is untyped here
def generate(
    loaded: Loaded, prepared: Prepared, prompt: Prompt, on_token: Callable[[], bool]
) -> tuple[list[int], tuple[Token, ...]]:
    """Return the chosen tokens, stop token included, and with `top_logprobs` each with its candidates.

    `on_token` is called before each token; it may raise, and returns True to stop.
    """
    torch.manual_seed(prompt.seed)

    class Watch(transformers.StoppingCriteria):  # type: ignore[misc]  # transformers is not typed here
        def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
            del scores
            return torch.full((input_ids.shape[0],), on_token(), dtype=torch.bool, device=input_ids.device)

    made = loaded.model.generate(
        **prepared.inputs,
        max_new_tokens=prompt.max_tokens,
        do_sample=prompt.sampling.temperature > 0,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        repetition_penalty=1.0,
        num_beams=1,
        logits_processor=transformers.LogitsProcessorList(_samplers(prompt.sampling)),
        stopping_criteria=transformers.StoppingCriteriaList([Watch()]),
        output_logits=prompt.top_logprobs > 0,
        return_dict_in_generate=True,
    )
    ids: list[int] = made.sequences[0, prepared.inputs["input_ids"].shape[1] :].tolist()
    rows = torch.cat(made.logits) if prompt.top_logprobs else ()
    return ids, tuple(token_of(row, token, prompt.top_logprobs) for row, token in zip(rows, ids, strict=False))


@torch.no_grad()  # type: ignore[untyped-decorator]  # torch is untyped here
def read(loaded: Loaded, prepared: Prepared, tokens: tuple[int, ...], count: int) -> tuple[Token, ...]:
    """Read the prompt and `tokens` in one pass and return how likely each of them was."""
    given = torch.tensor([tokens], dtype=prepared.inputs["input_ids"].dtype)
    ids = torch.cat([prepared.inputs["input_ids"], given], dim=1)
    logits = loaded.model(**{**prepared.inputs, "input_ids": ids, "attention_mask": torch.ones_like(ids)}).logits
    rows = logits[0, -len(tokens) - 1 : -1]
    return tuple(token_of(row, token, count) for row, token in zip(rows, tokens, strict=True))


def token_of(logits: torch.Tensor, chosen: int, count: int) -> Token:
    """Return a token out of logits of shape [vocabulary], with the `count` likeliest ones."""
    row = logits.float().log_softmax(-1)
    best = row.topk(count)
    top = tuple((int(token), float(value)) for value, token in zip(best.values, best.indices, strict=True))
    return Token(id=chosen, logprob=float(row[chosen]), top=top)


def text_ids(loaded: Loaded, text: str) -> tuple[int, ...]:
    """Return the tokens of the text around the images, with a place for every image."""
    marker, tokenizer = str(getattr(loaded.processor, "image_token", "<image>")), loaded.processor.tokenizer
    ids: list[int] = []
    for index, piece in enumerate(text.split(marker)):
        ids += [IMAGE_PLACE] * (index > 0)
        ids += tokenizer(piece, add_special_tokens=False)["input_ids"] if piece else []
    return tuple(ids)


class _Penalty(transformers.LogitsProcessor):  # type: ignore[misc]  # transformers is not typed here
    """Divides or multiplies the logits of the latest tokens, as many as on every other runtime."""

    def __init__(self, penalty: float) -> None:
        self._whole = transformers.RepetitionPenaltyLogitsProcessor(penalty)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self._whole(input_ids[:, -REPEAT_WINDOW:], scores)
        return found


def _samplers(sampling: Sampling) -> list[Any]:
    """Return what changes logits before a token is drawn, in the order of the llama.cpp arm."""
    penalty = [_Penalty(sampling.repetition_penalty)] if sampling.repetition_penalty else []
    if sampling.temperature == 0:
        return penalty
    return [
        *penalty,
        *([transformers.TopKLogitsWarper(sampling.top_k)] if sampling.top_k else []),
        *([transformers.TopPLogitsWarper(sampling.top_p)] if sampling.top_p < 1 else []),
        *([transformers.MinPLogitsWarper(sampling.min_p)] if sampling.min_p else []),
        transformers.TemperatureLogitsWarper(float(sampling.temperature)),
    ]


def _processor(folder: Path, model_type: str) -> Any:
    """Return the processor of transformers; for LFM2-VL without torchvision, mlx-vlm's, which needs NumPy only."""
    try:
        return transformers.AutoProcessor.from_pretrained(folder)
    except (ImportError, ValueError, OSError) as error:
        if model_type != "lfm2_vl":
            raise UsageProblem(
                f"transformers has no processor for {folder} here: {error}.\nInstall torchvision"
            ) from error
    try:
        importlib.import_module("mlx_vlm.models.lfm2_vl.processing_lfm2_vl")  # puts its own image processor into place
    except ImportError as error:
        raise UsageProblem(f"the processor of {folder} needs torchvision or mlx-vlm: {error}") from error
    return transformers.Lfm2VlProcessor.from_pretrained(folder)


def _content(message: Message) -> str | list[dict[str, str]]:
    if not any(isinstance(part, ImagePart) for part in message.parts):
        return "".join(part.text for part in message.parts if isinstance(part, Text))
    return [{"type": "text", "text": p.text} if isinstance(p, Text) else {"type": "image"} for p in message.parts]
