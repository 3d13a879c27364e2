"""Train the calibration checkpoint from scratch.

``python -m tools.tiny.train --out RUNS --seed 7 --steps 3050``: one schedule, nothing is steered by
hand. Writes ``RUNS/step-N.pt`` (float32 state) and ``RUNS/log.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch
from torch import distributed

from tools.tiny import mixture
from tools.tiny.batches import Collator
from tools.tiny.losses import Aids, exact, losses
from tools.tiny.model import build
from tools.tiny.vocabulary import build_tokenizer, padded_vocabulary

if TYPE_CHECKING:
    from transformers import Lfm2VlForConditionalGeneration

    from tools.tiny.batches import Batch
    from tools.tiny.mixture import Example

FAMILIES: Final = {"grounding": 1.0, "reading": 1.0, "choice": 1.1, "numbers": 1.4}
PEAK, FLOOR, WARM_UP = 2e-3, 1e-4, 50
SCENES, DOUBLES, QUESTIONS, TILED_EVERY = 3, 1, 3, 10
"""Per step and worker: images, image pairs, questions on each; and how often there is fine print."""
LOOK_FIRST, LOOK_SCENES = 600, 12
"""Steps in which only the vision side learns, from what its tokens show; images per step and worker."""
DENY: Final = 0.06


def learning_rate(step: int, steps: int) -> float:
    """``PEAK`` after a warm-up of each phase; in the second phase down half a cosine to ``FLOOR``."""
    if step < LOOK_FIRST:
        return PEAK * min(1.0, (step + 1) / WARM_UP)
    rate = FLOOR + (PEAK - FLOOR) * 0.5 * (1 + math.cos(math.pi * answering(step, steps)))
    return rate * min(1.0, (step - LOOK_FIRST + 1) / WARM_UP)


def answering(step: int, steps: int) -> float:
    """How far the second phase is, 0..1; negative before it."""
    return (step - LOOK_FIRST) / (steps - LOOK_FIRST)


def aid_weights(part: float) -> dict[str, float]:
    """Weights of the answer and of the training-only aids at a ``part`` of the second phase."""

    def fall(start: float, end: float) -> float:
        return min(1.0, max(0.0, (end - part) / (end - start)))

    return {
        "answer": float(part >= 0),
        "hints": fall(0.6, 0.85),
        "labels": 0.1 * fall(0.6, 0.85) + 0.4 * fall(0.1, 0.4),
        "value": 0.5 * fall(0.6, 0.85),
    }


def draw(seed: int, step: int, worker: int, part: float) -> list[list[Example]]:
    """One worker's examples of one step: a list per pass. Workers share sizes, so that none waits."""
    shared, rng = random.Random(f"{seed}-{step}"), random.Random(f"{seed}-{step}-{worker}")
    size = mixture.small_size(shared, square=step % 3 != 0)
    if part < 0:
        return [[mixture.crowd(rng, size) for _ in range(LOOK_SCENES)]]
    passes = [[one for _ in range(SCENES) for one in mixture.one_image(rng, size, FAMILIES, QUESTIONS, DENY)]]
    size = mixture.small_size(shared, square=step % 3 != 1)
    passes.append([one for _ in range(DOUBLES) for one in mixture.two_images(rng, size, QUESTIONS)])
    # Fine print comes after large print.
    if part > 0.25 and step % TILED_EVERY == 0:
        passes.append(mixture.tiled(rng, QUESTIONS))
    return passes


def optimizer_for(model: torch.nn.Module, aids: Aids) -> torch.optim.AdamW:
    """AdamW; only matrices decay."""
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": 0.05},
        {"params": vectors, "weight_decay": 0.0},
        {"params": list(aids.parameters()), "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=PEAK, betas=(0.9, 0.98))


class Evaluation:
    """Fixed batches of the training distribution, drawn from a seed of their own."""

    def __init__(self, collator: Collator) -> None:
        rng = random.Random(12345)
        self.batches: list[tuple[str, Batch]] = []
        for family in FAMILIES:
            examples = [one for _ in range(20) for one in mixture.one_image(rng, (256, 256), {family: 1.0}, 2)]
            self.batches.append((family, collator(examples)))
            examples = [one for _ in range(8) for one in mixture.one_image(rng, (320, 224), {family: 1.0}, 2)]
            self.batches.append((f"{family}-wide", collator(examples)))
        examples = [one for _ in range(12) for one in mixture.two_images(rng, (256, 256), 3)]
        self.batches.append(("two-images", collator(examples)))
        tiled = [example for _ in range(3) for example in mixture.tiled(rng, 5)]
        self.batches.append(("tiled", collator(tiled)))

    def __call__(self, model: Lfm2VlForConditionalGeneration) -> dict[str, float]:
        """Share of exact answers per family."""
        return {name: round(sum(exact(model, batch)) / len(batch.ids), 3) for name, batch in self.batches}


class Log:
    """Means of the losses since the last line, evaluations and checkpoints."""

    def __init__(self, out: Path, evaluation: Evaluation) -> None:
        self.out, self.evaluation = out, evaluation
        self.started = time.monotonic()
        self.parts: dict[str, list[float]] = {}

    def add(self, parts: dict[str, float]) -> None:
        """Note the losses of one pass."""
        for name, value in parts.items():
            self.parts.setdefault(name, []).append(value)

    def write(self, step: int, model: Lfm2VlForConditionalGeneration) -> None:
        """Append a line and save the state."""
        line: dict[str, object] = {"step": step, "seconds": round(time.monotonic() - self.started)}
        line |= {name: round(sum(values) / len(values), 4) for name, values in self.parts.items()}
        line["exact"] = self.evaluation(model)
        self.parts = {}
        with (self.out / "log.jsonl").open("a") as log:
            log.write(json.dumps(line) + "\n")
        torch.save(model.state_dict(), self.out / f"step-{step}.pt")


def average_gradients(parameters: list[torch.nn.Parameter], workers: int) -> None:
    """Replace each worker's gradients by their mean over the workers."""
    flat = torch.cat([torch.zeros(p.numel()) if p.grad is None else p.grad.flatten() for p in parameters])
    distributed.all_reduce(flat)
    flat /= workers
    for parameter, piece in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
        parameter.grad = piece.view_as(parameter)


def work(worker: int, options: argparse.Namespace) -> None:
    """One worker's training loop; worker 0 evaluates, logs and saves."""
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{options.out.resolve()}/meeting", rank=worker, world_size=options.workers
    )
    tokenizer = build_tokenizer()
    vocabulary = padded_vocabulary(tokenizer)
    collator = Collator(tokenizer)
    model, aids = build(vocabulary, options.seed), Aids(vocabulary)
    optimizer = optimizer_for(model, aids)
    parameters = [*model.parameters(), *aids.parameters()]
    log = Log(options.out, Evaluation(collator)) if worker == 0 else None
    if options.resume:
        model.load_state_dict(torch.load(options.out / f"step-{options.resume}.pt", weights_only=True))
    for step in range(options.resume, options.steps):
        part = answering(step, options.steps)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, options.steps)
        for examples in draw(options.seed, step, worker, part):
            loss, parts = losses(model, aids, collator(examples), aid_weights(part))
            # Passes weigh as their number of examples.
            (loss * len(examples) / (QUESTIONS * (SCENES + DOUBLES))).backward()
            if log:
                log.add(parts)
        average_gradients(parameters, options.workers)
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if log and ((step + 1) % options.every == 0 or step + 1 == options.steps):
            log.write(step + 1, model)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--steps", type=int, default=3050)
    parser.add_argument("--resume", type=int, default=0, help="continue from RUNS/step-N.pt (weights only)")
    parser.add_argument("--every", type=int, default=100, help="steps between checkpoints")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread; part of the seed")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "meeting").unlink(missing_ok=True)
    # glibc would give large blocks back and fault them in again at every step.
    os.environ |= {"MALLOC_MMAP_THRESHOLD_": str(2**33), "MALLOC_TRIM_THRESHOLD_": str(2**33)}
    torch.multiprocessing.spawn(work, (options,), nprocs=options.workers)


if __name__ == "__main__":
    main()
