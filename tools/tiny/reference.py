"""Answers of the reference: transformers in float32 on the bf16-rounded weights.

``python -m tools.tiny.reference --data data/tiny`` writes ``reference.jsonl`` and prints a table.
Pixel values come from mlx-vlm's NumPy processor, because transformers' own needs torchvision; all
arithmetic after that is transformers'.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from PIL import Image
from tokenizers import Tokenizer
from transformers import Lfm2VlForConditionalGeneration

from tools.tiny.batches import View, image_text, views_of
from tools.tiny.scoring import score, table
from tools.tiny.vocabulary import IM_END, IMAGE, SPECIALS, render

if TYPE_CHECKING:
    from torch import Tensor

BUDGET: Final = 64
CHOSEN, BEST = 8, 5
"""How many tokens have their log-probability stored, and how many rivals of the first one."""


@dataclass(slots=True)
class Prompt:
    """One sample as the model gets it."""

    text: str
    ids: list[int]
    views: list[View]

    def inputs(self) -> dict[str, Tensor]:
        """Keyword tensors of the transformers model, batch of one."""
        patches = max(len(view.patches) for view in self.views)
        pixels = torch.zeros(len(self.views), patches, self.views[0].patches.shape[1])
        mask = torch.zeros(len(self.views), patches, dtype=torch.long)
        for index, view in enumerate(self.views):
            pixels[index, : len(view.patches)] = torch.from_numpy(view.patches)
            mask[index, : len(view.patches)] = 1
        shapes = torch.tensor([[2 * view.rows, 2 * view.columns] for view in self.views])
        return {
            "input_ids": torch.tensor([self.ids]),
            "attention_mask": torch.ones(1, len(self.ids), dtype=torch.long),
            "pixel_values": pixels,
            "pixel_attention_mask": mask,
            "spatial_shapes": shapes,
        }


class Reference:
    """The reference model of one exported folder."""

    def __init__(self, folder: Path, dtype: torch.dtype = torch.float32) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.model = Lfm2VlForConditionalGeneration.from_pretrained(folder, dtype=dtype).eval()
        self.dtype = dtype

    def prompt(self, sample: dict[str, Any], data: Path, *, tiles: bool = True) -> Prompt:
        """Read a sample's images and expand its prompt; ``tiles=False`` shows thumbnails only."""
        views, expanded = [], []
        for index, image in enumerate(sample["images"]):
            cut = views_of(index, np.asarray(Image.open(data / image["path"]).convert("RGB")), tiles=tiles)
            views += cut
            expanded.append(image_text(cut))
        text = render(sample["question"], len(expanded), sample["system"])
        full = text.replace(SPECIALS[IMAGE] * len(expanded), "".join(expanded), 1)
        return Prompt(text, self.tokenizer.encode(full).ids, views)

    @torch.no_grad()  # type: ignore[untyped-decorator]  # torch is untyped here
    def answer(self, prompt: Prompt) -> tuple[list[int], Tensor]:
        """Greedy tokens, stop token included, and log-probabilities [tokens, vocabulary]."""
        inputs = prompt.inputs()
        inputs["pixel_values"] = inputs["pixel_values"].to(self.dtype)
        made = self.model.generate(
            **inputs, do_sample=False, max_new_tokens=BUDGET, output_logits=True, return_dict_in_generate=True
        )
        tokens = made.sequences[0, len(prompt.ids) :].tolist()
        return tokens, torch.cat(made.logits).float().log_softmax(-1)

    def record(self, sample: dict[str, Any], prompt: Prompt) -> tuple[dict[str, Any], float]:
        """The line of ``reference.jsonl``, and the smallest lead of a chosen token over its rival."""
        tokens, logs = self.answer(prompt)
        lead = logs.topk(2, -1).values
        margin = float((lead[:, 0] - lead[:, 1]).min())
        stopped = tokens[-1] == IM_END
        kept = tokens[:-1] if stopped else tokens
        first = logs[0].topk(BEST)
        return {
            "id": sample["id"],
            "prompt_sha256": hashlib.sha256(prompt.text.encode()).hexdigest(),
            "prompt_token_ids": prompt.ids,
            "prompt_tokens": len(prompt.ids),
            "image_tokens": prompt.ids.count(IMAGE),
            "output": self.tokenizer.decode(kept, skip_special_tokens=False),
            "output_token_ids": kept,
            "finish_reason": "stop" if stopped else "length",
            "first_logprobs": [
                {"token_id": token, "logprob": round(float(logs[index, token]), 6)}
                for index, token in enumerate(kept[:CHOSEN])
            ],
            "first_topk": [
                [int(token), round(float(value), 6)] for value, token in zip(first.values, first.indices, strict=True)
            ],
        }, margin


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data/tiny"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--lead", type=float, default=0.05, help="drop samples where a token leads by less (nats)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    reference = Reference(options.data / "model-bf16")
    samples = read_lines(options.data / "samples.jsonl")
    lines, rows, margins, kept = [], [], [], []
    for sample in samples:
        record, margin = reference.record(sample, reference.prompt(sample, options.data))
        if margin < options.lead:
            print("dropped:", sample["id"], margin)
            continue
        kept.append(json.dumps(sample))
        lines.append(json.dumps(record))
        margins.append((margin, sample["id"], sample["groups"]["stratum"], record["output"]))
        rows.append((sample["groups"], score(record["output"], sample["target"])))
    wanted = {image["path"] for line in kept for image in json.loads(line)["images"]}
    for path in (options.data / "images").glob("*.png"):
        if f"images/{path.name}" not in wanted:
            path.unlink()
    (options.data / "samples.jsonl").write_text("\n".join(kept) + "\n", encoding="ascii")
    (options.data / "reference.jsonl").write_text("\n".join(lines) + "\n", encoding="ascii")
    print(table(rows))
    for least in sorted(margins)[:12]:
        print(*least)


if __name__ == "__main__":
    main()
