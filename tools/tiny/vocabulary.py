"""The tiny checkpoint's tokenizer and chat template.

A byte-level BPE whose merges are exactly those that make every word of the prompt templates one
token. Any other UTF-8 text still encodes, byte by byte in the worst case.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Final

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

if TYPE_CHECKING:
    from pathlib import Path

COLORS: Final = ("red", "green", "blue", "yellow", "purple", "black")
SHAPES: Final = ("circle", "square", "triangle", "cross")
PLURALS: Final = {
    "circle": "circles",
    "square": "squares",
    "triangle": "triangles",
    "cross": "crosses",
}
LETTERS: Final = "ABCD"
BINS: Final = 16
"""Boxes are answered on a grid of ``BINS`` steps per side: one token per coordinate."""

PAD, BOS, END_OF_TEXT, IM_START, IM_END, IMAGE = 0, 1, 2, 6, 7, 11
SPECIALS: Final = (
    "<|pad|>",
    "<|startoftext|>",
    "<|endoftext|>",
    "<|reserved_3|>",
    "<|reserved_4|>",
    "<|reserved_5|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|image_start|>",
    "<|image_end|>",
    "<|img_thumbnail|>",
    "<image>",
    *(f"<|img_row_{row}_col_{col}|>" for row in range(1, 11) for col in range(1, 11)),
)
SPLIT_PATTERN: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""llama3's pre-tokenizer, which llama.cpp applies for ``tokenizer.ggml.pre`` = ``lfm2``."""

CHAT_TEMPLATE: Final = (
    "{{- bos_token -}}"
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message['role'] + '\\n' -}}"
    "{%- if message['content'] is string -%}"
    "{{- message['content'] -}}"
    "{%- else -%}"
    "{%- for part in message['content'] -%}"
    "{%- if part['type'] == 'image' -%}{{- '<image>' -}}"
    "{%- elif part['type'] == 'text' -%}{{- part['text'] -}}{%- endif -%}"
    "{%- endfor -%}"
    "{%- endif -%}"
    "{{- '<|im_end|>\\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)

WORDS: Final = (
    "system user assistant Find Where Give Read What Which How Add Locate Name Count Reply Answer There Look "
    "JSON A B C D bbox d label red green blue yellow purple black circle square triangle cross"
)
CONTINUED: Final = (
    "the a an is are of with in as after and there image images has have object objects named number letter "
    "box code text color shape shapes circle square triangle cross circles squares triangles crosses "
    "red green blue yellow purple black first second both neither sum two digits many no JSON at"
)
MARKS: Final = ('[{"', '"}]', '":', " [", "],", ' "', ".\n", "?\n", "?", ".", ",", "\n", " ", "_")


def coordinate(position: int) -> int:
    """The answer's integer, 0..1000 of the side, for a grid position 0..``BINS``."""
    return (position * 1000 + BINS // 2) // BINS


def wanted_tokens() -> list[str]:
    """Every piece of prompt or answer text that must be one token."""
    numbers = {str(coordinate(position)) for position in range(BINS + 1)}
    numbers |= {str(number) for number in range(25)}
    words = [*WORDS.split(), *(" " + word for word in CONTINUED.split()), *MARKS]
    # "1000" is pre-tokenized as "100" + "0".
    return [*words, *sorted(number[:3] for number in numbers)]


def build_tokenizer() -> Tokenizer:
    """Train the merges on the wanted pieces; deterministic, and checked piece by piece."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT_PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=4096,
        min_frequency=1,
        special_tokens=[AddedToken(token, special=True) for token in SPECIALS],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    wanted = wanted_tokens()
    tokenizer.train_from_iterator(wanted, trainer)
    for piece in wanted:
        if len(tokenizer.encode(piece).ids) != 1:
            message = f"{piece!r} is not one token"
            raise ValueError(message)
    return tokenizer


def padded_vocabulary(tokenizer: Tokenizer) -> int:
    """The embedding's number of rows: a multiple of 32, as quantised rows and blocks need."""
    return -(-tokenizer.get_vocab_size() // 32) * 32


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Write ``tokenizer.json``, its config and the chat template, as LFM2-VL folders have them."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SPECIALS[BOS],
        "eos_token": SPECIALS[IM_END],
        "pad_token": SPECIALS[PAD],
        "image_token": SPECIALS[IMAGE],
        "image_start_token": "<|image_start|>",
        "image_end_token": "<|image_end|>",
        "image_thumbnail": "<|img_thumbnail|>",
        "clean_up_tokenization_spaces": False,
        "model_max_length": 8192,
        "processor_class": "Lfm2VlProcessor",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)


def render(question: str, images: int, system: str | None, answer: str | None = None) -> str:
    """What the chat template renders: ``images`` placeholders, then the question."""
    turns = [] if system is None else [("system", system)]
    turns.append(("user", SPECIALS[IMAGE] * images + question))
    parts = [SPECIALS[BOS]]
    for role, content in turns:
        parts += ["<|im_start|>", role, "\n", content, "<|im_end|>\n"]
    parts += ["<|im_start|>assistant\n"]
    if answer is not None:
        parts += [answer, "<|im_end|>"]
    return "".join(parts)


def pairs() -> list[tuple[str, str]]:
    """All (colour, shape) pairs."""
    return list(itertools.product(COLORS, SHAPES))
