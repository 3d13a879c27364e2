"""The training objective: answers, and three training-only aids that are annealed to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import nn

from tools.tiny.batches import IGNORE, LABEL_SIZES, LABELS
from tools.tiny.model import WIDTH, decode, encode_images

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Lfm2VlForConditionalGeneration

    from tools.tiny.batches import Batch


class Aids(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """Heads that exist in training only: what an image token shows, what a middle layer knows."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.labels = nn.Linear(WIDTH, sum(LABEL_SIZES))
        self.value = nn.Linear(WIDTH, vocabulary)


def label_losses(aids: Aids, features: Tensor, labels: Tensor) -> list[Tensor]:
    """Cross-entropy of what the tokens show, per label; half of it over tokens that show something.

    ``features`` is [views, tokens, WIDTH], ``labels`` [views, tokens, len(LABEL_SIZES)].
    """
    found = []
    for index, logits in enumerate(aids.labels(features).split(LABEL_SIZES, -1)):
        target = labels[..., index].flatten()
        known = target != IGNORE
        if not bool(known.any()):
            found.append(features.new_zeros(()))
            continue
        each = F.cross_entropy(logits.flatten(0, 1)[known], target[known], reduction="none")
        shown = target[known] > 0
        loss = 0.5 * each.mean()
        found.append(loss + 0.5 * each[shown].mean() if bool(shown.any()) else loss)
    return found


def hint_losses(scores: list[Tensor], hints: list[tuple[Tensor, Tensor, Tensor]]) -> list[Tensor]:
    """Cross-entropy of attention against its target, one per site (two heads of each layer).

    ``scores`` are [batch, heads, length, length] per attention layer.
    """
    losses = []
    for site, (rows, queries, target) in enumerate(hints):
        if len(rows):
            picked = scores[site // 2][rows, site % 2, queries]
            losses.append(-(target * picked.log_softmax(-1)).sum(-1).mean())
        else:
            losses.append(scores[0].new_zeros(()))
    return losses


def answer_logits(model: Lfm2VlForConditionalGeneration, states: Tensor, batch: Batch) -> Tensor:
    """Logits [answer tokens, vocabulary] at the positions that predict an answer token."""
    rows, queries, _ = batch.answers
    return states[rows, queries] @ model.model.language_model.embed_tokens.weight.T


def losses(
    model: Lfm2VlForConditionalGeneration, aids: Aids, batch: Batch, weights: dict[str, float]
) -> tuple[Tensor, dict[str, float]]:
    """The weighted sum to minimise, and each part for the log."""
    features = encode_images(model, batch.pixels, batch.shapes)
    labels = label_losses(aids, features, batch.labels) if weights["labels"] > 0 else []
    parts = {name: loss.item() for name, loss in zip(LABELS, labels, strict=False)}
    total = weights["labels"] * torch.stack(labels).sum() if labels else features.new_zeros(())
    if weights["answer"] == 0:
        return total, parts
    states, middle, scores = decode(model, batch.ids, features.flatten(0, 1), batch.slots)
    each = F.cross_entropy(answer_logits(model, states, batch), batch.answers[2], reduction="none")
    # A sum per example, so that the fixed pieces of JSON do not dilute what is hard.
    answer = each.sum() / (3 * len(batch.ids))
    total, parts = total + weights["answer"] * answer, {**parts, "answer": answer.item()}
    if weights["hints"] > 0:
        sites = hint_losses(scores, batch.hints)
        total = total + weights["hints"] * torch.stack(sites).sum() / 3
        parts |= {f"hint{index}": loss.item() for index, loss in enumerate(sites)}
    rows, queries, wanted = batch.values
    if weights["value"] > 0 and len(rows):
        value = F.cross_entropy(aids.value(middle[rows, queries]), wanted)
        total, parts = total + weights["value"] * value, {**parts, "value": value.item()}
    return total, parts


@torch.no_grad()  # type: ignore[untyped-decorator]  # torch is untyped here
def exact(model: Lfm2VlForConditionalGeneration, batch: Batch) -> list[bool]:
    """Per example, whether greedy decoding writes its answer exactly (checked by teacher forcing)."""
    features = encode_images(model, batch.pixels, batch.shapes)
    states, _, _ = decode(model, batch.ids, features.flatten(0, 1), batch.slots)
    right = answer_logits(model, states, batch).argmax(-1) == batch.answers[2]
    return [bool(right[batch.answers[0] == row].all()) for row in range(len(batch.ids))]
