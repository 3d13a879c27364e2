"""Run the exported files in mlx-vlm and llama.cpp and compare them with the reference.

``python -m tools.tiny.verify --data data/tiny --arm mlx-bf16 --arm llama-q8_0 ...`` prints, per arm:
agreement of the greedy text, of prompt token counts and ids, of first-token log-probabilities, the
accuracy and the time. ``--arm untiled`` is the reference without image splitting.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch

from tools.tiny.reference import BUDGET, Reference, read_lines
from tools.tiny.scoring import score, table
from tools.tiny.vocabulary import IM_END

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MLX: Final = {"mlx-bf16": "model-bf16", "mlx-8bit": "model-8bit", "mlx-4bit": "model-4bit"}
GGUF: Final = {
    "llama-bf16": ("tiny-bf16.gguf", "mmproj-tiny-bf16.gguf"),
    "llama-q8_0": ("tiny-q8_0.gguf", "mmproj-tiny-q8_0.gguf"),
    "llama-q4_0": ("tiny-q4_0.gguf", "mmproj-tiny-bf16.gguf"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What an arm said: text, prompt tokens, and the first token's id and log-probability if known."""

    text: str
    prompt_tokens: int
    first: tuple[int, float] | None = None


def messages(sample: dict[str, Any], image: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """A sample as chat messages with one part per image; ``image`` overrides that part."""
    parts = [image or {"type": "image"} for _ in sample["images"]]
    turns = [{"role": "system", "content": sample["system"]}] if sample["system"] else []
    return [*turns, {"role": "user", "content": [*parts, {"type": "text", "text": sample["question"]}]}]


def mlx_arm(folder: Path, data: Path) -> Iterator[Callable[[dict[str, Any]], Answer]]:
    """mlx-vlm on the CPU, its padding of small images cut off (the result is the same)."""
    import mlx.core as mx  # noqa: PLC0415 - each arm needs its own runtime only
    from mlx_vlm import load, stream_generate  # noqa: PLC0415
    from mlx_vlm.utils import prepare_inputs  # noqa: PLC0415

    mx.set_default_device(mx.cpu)
    model, processor = load(str(folder))
    seen: dict[tuple[str, ...], Any] = {}

    def ask(sample: dict[str, Any]) -> Answer:
        prompt = processor.tokenizer.apply_chat_template(messages(sample), add_generation_prompt=True, tokenize=False)
        paths = [str(data / image["path"]) for image in sample["images"]]
        inputs = prepare_inputs(
            processor, images=paths, prompts=prompt, image_token_index=model.config.image_token_index
        )
        longest = int(inputs["pixel_attention_mask"].sum(axis=1).max())
        extra = {
            "pixel_values": inputs["pixel_values"][:, :longest],
            "pixel_attention_mask": inputs["pixel_attention_mask"][:, :longest],
            "spatial_shapes": inputs["spatial_shapes"],
        }
        if tuple(paths) not in seen:
            seen.clear()
            seen[tuple(paths)] = model.encode_images(**extra)
        extra["cached_image_features"] = seen[tuple(paths)]
        ids = inputs["input_ids"]
        text, first = "", None
        for part in stream_generate(
            model, processor, "", None, input_ids=ids, max_tokens=BUDGET, temperature=0.0, **extra
        ):
            if first is None:
                first = (int(part.token), float(part.logprobs[part.token]))
            text += part.text
        return Answer(text, ids.shape[1], first)

    yield ask


def llama_arm(model: Path, projector: Path, data: Path) -> Iterator[Callable[[dict[str, Any]], Answer]]:
    """llama.cpp's server inside xllamacpp, one slot."""
    from xllamacpp import CommonParams, Server  # noqa: PLC0415 - each arm needs its own runtime only

    params = CommonParams()
    params.model.path, params.mmproj.path = str(model), str(projector)
    params.n_ctx, params.n_parallel, params.n_batch = 4096, 1, 2048
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.use_jinja, params.warmup = True, False
    server = Server(params)
    address = server.listening_address

    def call(route: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data_bytes = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address + route, data_bytes, {"Content-Type": "application/json"})  # noqa: S310 - local
        with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310 - the server started above
            answer: dict[str, Any] = json.loads(reply.read())
            return answer

    def ask(sample: dict[str, Any]) -> Answer:
        pictures = [base64.b64encode((data / image["path"]).read_bytes()).decode() for image in sample["images"]]
        part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{pictures[0]}"}}
        prompt = call("/apply-template", {"messages": messages(sample, part)})["prompt"]
        reply = call(
            "/completion",
            {
                "prompt": {"prompt_string": prompt, "multimodal_data": pictures},
                "n_predict": BUDGET, "temperature": 0.0, "n_probs": 5, "samplers": ["temperature"],
                "cache_prompt": False, "repeat_penalty": 1.0, "seed": 1,
            },
        )  # fmt: skip
        first = reply["completion_probabilities"][0]
        return Answer(reply["content"], reply["tokens_evaluated"], (first["id"], first["logprob"]))

    yield ask
    del server


def untiled_arm(data: Path) -> Iterator[Callable[[dict[str, Any]], Answer]]:
    """The reference model, shown one downsized view of every image."""
    torch.set_num_threads(1)
    reference = Reference(data / "model-bf16")

    def ask(sample: dict[str, Any]) -> Answer:
        prompt = reference.prompt(sample, data, tiles=False)
        tokens, logs = reference.answer(prompt)
        kept = tokens[:-1] if tokens[-1] == IM_END else tokens
        return Answer(reference.tokenizer.decode(kept), len(prompt.ids), (tokens[0], float(logs[0, tokens[0]])))

    yield ask


def compare(
    name: str, ask: Callable[[dict[str, Any]], Answer], samples: list[dict[str, Any]], known: dict[str, dict[str, Any]]
) -> None:
    """Ask every sample and print how the arm compares with the reference."""
    same = counts = 0
    apart, rows, different = 0.0, [], []
    started = time.monotonic()
    for sample in samples:
        answer, wanted = ask(sample), known[sample["id"]]
        counts += answer.prompt_tokens == wanted["prompt_tokens"]
        if answer.text == wanted["output"]:
            same += 1
        else:
            different.append(f"  {sample['id']} {sample['groups']['stratum']}: {wanted['output']!r} -> {answer.text!r}")
        if answer.first and wanted["first_logprobs"] and answer.first[0] == wanted["first_logprobs"][0]["token_id"]:
            apart = max(apart, abs(answer.first[1] - wanted["first_logprobs"][0]["logprob"]))
        rows.append((sample["groups"], score(answer.text, sample["target"])))
    seconds = time.monotonic() - started
    agreement = f"same text {same}/{len(samples)}, same prompt tokens {counts}/{len(samples)}"
    report = [
        f"== {name}: {agreement}, first log-probability apart at most {apart:.2g}, {seconds:.0f} s",
        *different[:12],
        *(line for line in table(rows).splitlines() if " all " in line or "fine-print" in line),
    ]
    sys.stdout.write("\n".join(report) + "\n")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data/tiny"))
    parser.add_argument("--arm", action="append", choices=[*MLX, *GGUF, "untiled"], required=True)
    parser.add_argument("--stratum", action="append", help="only these strata")
    options = parser.parse_args()
    data: Path = options.data
    samples = read_lines(data / "samples.jsonl")
    if options.stratum:
        samples = [sample for sample in samples if sample["groups"]["stratum"] in options.stratum]
    known = {line["id"]: line for line in read_lines(data / "reference.jsonl")}
    for name in options.arm:
        if name in MLX:
            arm = mlx_arm(data / MLX[name], data)
        elif name in GGUF:
            model, projector = GGUF[name]
            arm = llama_arm(data / "gguf" / model, data / "gguf" / projector, data)
        else:
            arm = untiled_arm(data)
        for ask in arm:
            compare(name, ask, samples, known)


if __name__ == "__main__":
    main()
