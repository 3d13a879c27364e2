"""From examples to tensors: image views, token ids, answer positions, hints and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import torch
from mlx_vlm.models.lfm2_vl.processing_lfm2_vl import Lfm2VlNumpyImageProcessor
from PIL import Image

from tools.tiny.drawing import GLYPHS
from tools.tiny.scenes import Item, Scene
from tools.tiny.vocabulary import BINS, COLORS, IMAGE, SHAPES, SPECIALS, render

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer
    from torch import Tensor

    from tools.tiny.drawing import Rect
    from tools.tiny.mixture import Example
    from tools.tiny.tasks import Focus

PROCESSOR: Final = Lfm2VlNumpyImageProcessor(resample=3)
CHAR_CLASSES: Final = {char: index + 1 for index, char in enumerate(sorted(GLYPHS))}
LABELS: Final = ("shape", "color", "char", "anchor", "x1", "y1", "x2", "y2")
LABEL_SIZES: Final = (len(SHAPES) + 1, len(COLORS) + 1, len(CHAR_CLASSES) + 1, 2, *(BINS + 1,) * 4)
IGNORE: Final = -100
SITES: Final = 6
"""Hinted attention: two heads in each of three layers."""


@dataclass(slots=True)
class View:
    """A tile, a thumbnail or a whole image: what part of its image it shows, in how many tokens."""

    image: int
    extent: Rect
    rows: int
    columns: int
    patches: NDArray[np.float32]
    is_thumbnail: bool = False

    @property
    def tokens(self) -> int:
        """Number of image tokens."""
        return self.rows * self.columns


@dataclass(slots=True)
class Batch:
    """Tensors of one pass. ``hints`` holds per site (rows, queries, target [n, length])."""

    pixels: Tensor
    shapes: Tensor
    ids: Tensor
    slots: Tensor
    answers: tuple[Tensor, Tensor, Tensor]
    hints: list[tuple[Tensor, Tensor, Tensor]]
    values: tuple[Tensor, Tensor, Tensor]
    labels: Tensor


def views_of(image: int, picture: NDArray[np.uint8], *, tiles: bool = True) -> list[View]:
    """The views that the model sees of one image, cut by mlx-vlm's own processor."""
    # Its public method pads every view to 1,024 patches; the cutting itself is in a private one.
    pieces, rows, columns, _ = PROCESSOR._views_for_image(Image.fromarray(picture), tiles, 2, 10, True)  # noqa: FBT003, SLF001
    views = []
    for index, piece in enumerate(pieces):
        tile = index < rows * columns and len(pieces) > 1
        row, column = divmod(index, columns)
        extent: Rect = (
            (column / columns, row / rows, (column + 1) / columns, (row + 1) / rows) if tile else (0, 0, 1, 1)
        )
        pixels = (np.asarray(piece, dtype=np.float32) / np.float32(255) - np.float32(0.5)) / np.float32(0.5)
        high, wide = pixels.shape[0] // 16, pixels.shape[1] // 16
        patches = pixels.reshape(high, 16, wide, 16, 3).transpose(0, 2, 1, 3, 4).reshape(high * wide, 768)
        views.append(View(image, extent, high // 2, wide // 2, patches, len(pieces) > 1 and not tile))
    return views


def image_text(views: list[View]) -> str:
    """The tokens that stand for one image in the prompt."""
    placeholder = SPECIALS[IMAGE]
    if len(views) == 1:
        return f"<|image_start|>{placeholder * views[0].tokens}<|image_end|>"
    parts = ["<|image_start|>"]
    tiles = [view for view in views if not view.is_thumbnail]
    columns = round(1 / (tiles[0].extent[2] - tiles[0].extent[0]))
    for index, view in enumerate(tiles):
        row, column = divmod(index, columns)
        parts.append(f"<|img_row_{row + 1}_col_{column + 1}|>{placeholder * view.tokens}")
    parts.append(f"<|img_thumbnail|>{placeholder * views[-1].tokens}<|image_end|>")
    return "".join(parts)


def covered(view: View, rect: Rect) -> list[tuple[int, float]]:
    """Tokens of a view that a rectangle covers notably, with the covered area in tokens."""
    ex1, ey1, ex2, ey2 = view.extent
    x1, x2 = ((x - ex1) / (ex2 - ex1) * view.columns for x in (rect[0], rect[2]))
    y1, y2 = ((y - ey1) / (ey2 - ey1) * view.rows for y in (rect[1], rect[3]))
    enough = min(0.2, 0.4 * (x2 - x1) * (y2 - y1))
    found = []
    for row in range(max(0, int(y1)), min(view.rows, int(np.ceil(y2)))):
        for column in range(max(0, int(x1)), min(view.columns, int(np.ceil(x2)))):
            area = (min(x2, column + 1) - max(x1, column)) * (min(y2, row + 1) - max(y1, row))
            if area >= enough:
                found.append((row * view.columns + column, area))
    return found


def label_view(view: View, scene: Scene, *, single: bool) -> NDArray[np.int64]:
    """What each token of a view shows, [tokens, len(LABELS)]; boxes only for untiled images."""
    labels = np.zeros((view.tokens, len(LABELS)), dtype=np.int64)
    labels[:, 4:] = IGNORE
    if view.is_thumbnail:
        labels[:, 2:4] = IGNORE
    best = np.zeros(view.tokens)
    for item in scene.items:
        cells = covered(view, item.rect)
        for order, (token, area) in enumerate(cells):
            if area > best[token]:
                best[token] = area
                labels[token] = _item_label(item, anchor=order == 0, thumbnail=view.is_thumbnail, single=single)
    return labels


def _item_label(item: Item, *, anchor: bool, thumbnail: bool, single: bool) -> list[int]:
    if item.char is not None:
        return [0, 0, IGNORE if thumbnail else CHAR_CLASSES[item.char], IGNORE, *(IGNORE,) * 4]
    boxes = [round(edge * BINS) for edge in item.rect] if single else [IGNORE] * 4
    kind = [SHAPES.index(item.shape or "") + 1, COLORS.index(item.color) + 1]
    return [*kind, IGNORE if thumbnail else 0, IGNORE if thumbnail else int(anchor), *boxes]


class Collator:
    """Builds batches with one tokenizer; paints each scene once per batch."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    def __call__(self, examples: list[Example], *, multiple: int = 16) -> Batch:
        """Tensors of ``examples``; the sequence length is rounded up to ``multiple``."""
        painted: dict[int, list[View]] = {}
        offsets: dict[int, int] = {}
        views: list[View] = []
        labels: list[NDArray[np.int64]] = []
        rows = []
        for example in examples:
            for index, scene in enumerate(example.scenes):
                if id(scene) not in painted:
                    cut = views_of(index, scene.paint())
                    painted[id(scene)] = cut
                    offsets[id(scene)] = len(views)
                    views += cut
                    labels += [label_view(view, scene, single=len(cut) == 1) for view in cut]
            rows.append(_Row(self.tokenizer, example, [painted[id(scene)] for scene in example.scenes]))
        patches = max(len(view.patches) for view in views)
        pixels = torch.zeros(len(views), patches, 768)
        marks = torch.full((len(views), patches // 4, len(LABELS)), IGNORE)
        for index, view in enumerate(views):
            pixels[index, : len(view.patches)] = torch.from_numpy(view.patches)
            marks[index, : view.tokens] = torch.from_numpy(labels[index])
        shapes = torch.tensor([[2 * view.rows, 2 * view.columns] for view in views])
        length = -(-max(len(row.ids) for row in rows) // multiple) * multiple
        ids = torch.zeros(len(rows), length, dtype=torch.long)
        slots = torch.full((len(rows), length), -1)
        answers: list[tuple[int, int, int]] = []
        values: list[tuple[int, int, int]] = []
        hints: list[list[tuple[int, int, dict[int, float]]]] = [[] for _ in range(SITES)]
        for index, (row, example) in enumerate(zip(rows, examples, strict=True)):
            ids[index, : len(row.ids)] = torch.tensor(row.ids)
            at = torch.tensor(row.image_positions)
            slots[index, at] = torch.tensor(
                [
                    (offsets[id(scene)] + number) * (patches // 4) + token
                    for scene in example.scenes
                    for number, view in enumerate(painted[id(scene)])
                    for token in range(view.tokens)
                ]
            )
            answers += [(index, position - 1, row.ids[position]) for position in range(row.answer, len(row.ids))]
            for focus in example.question.focus:
                row.add_hints(index, focus, hints, values)
        return Batch(
            pixels, shapes, ids, slots, _columns(answers), [_dense(site, length) for site in hints],
            _columns(values), marks,
        )  # fmt: skip


def _columns(triples: list[tuple[int, int, int]]) -> tuple[Tensor, Tensor, Tensor]:
    table = torch.tensor(triples, dtype=torch.long).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _dense(site: list[tuple[int, int, dict[int, float]]], length: int) -> tuple[Tensor, Tensor, Tensor]:
    target = torch.zeros(len(site), length)
    for index, (_, _, weights) in enumerate(site):
        for key, weight in weights.items():
            target[index, key] = weight
    target /= target.sum(-1, keepdim=True).clamp(min=1e-9)
    return torch.tensor([row for row, _, _ in site]), torch.tensor([query for _, query, _ in site]), target


class _Row:
    """One tokenised example: where its images, its question and its answer are."""

    def __init__(self, tokenizer: Tokenizer, example: Example, views: list[list[View]]) -> None:
        question = example.question
        text = render(question.text, 0, question.system, question.answer)
        begin = text.rindex("<|im_start|>user\n") + len("<|im_start|>user\n")
        text = text[:begin] + "".join(image_text(cut) for cut in views) + text[begin:]
        encoding = tokenizer.encode(text)
        self.tokenizer, self.views = tokenizer, [view for cut in views for view in cut]
        self.question = question
        self.ids: list[int] = encoding.ids
        self.offsets: list[tuple[int, int]] = encoding.offsets
        self.image_positions = [index for index, token in enumerate(self.ids) if token == IMAGE]
        self.answer_char = len(text) - len(question.answer) - len("<|im_end|>")
        self.question_char = text.rindex(question.text, 0, self.answer_char)
        self.answer = self.token_at(self.answer_char)

    def token_at(self, char: int) -> int:
        """Index of the token that holds a character of the text."""
        return next(index for index, (start, end) in enumerate(self.offsets) if start <= char < end)

    def word(self, piece: str, shift: int = 0) -> int:
        """Index of the token that holds a piece of the question."""
        return self.token_at(self.question_char + self.question.text.index(piece) + shift)

    def tokens_of(self, regions: tuple[tuple[int, Rect], ...], *, first_only: bool = False) -> dict[int, float]:
        """Sequence positions of the image tokens that show the regions, outside thumbnails."""
        found: dict[int, float] = {}
        start = 0
        for view in self.views:
            for image, rect in regions:
                if image == view.image and not view.is_thumbnail:
                    cells = covered(view, rect)
                    for token, _ in cells[:1] if first_only else cells:
                        found[self.image_positions[start + token]] = 1.0
            start += view.tokens
        return found

    def add_hints(
        self,
        row: int,
        focus: Focus,
        hints: list[list[tuple[int, int, dict[int, float]]]],
        values: list[tuple[int, int, int]],
    ) -> None:
        """Append this focus, for each answer token it covers, to the six sites."""
        targets: list[dict[int, float]] = [{} for _ in range(SITES)]
        for head, piece in enumerate(focus.words[:2]):
            targets[head] = {self.word(piece): 1.0}
        things = self.tokens_of(focus.things, first_only=focus.counted)
        final = (
            {self.word(focus.final, 3): 1.0}
            if isinstance(focus.final, str)
            else self.tokens_of(focus.final, first_only=focus.counted)
        )
        if focus.counted:
            things, final = {0: 1.0, **things}, {0: 1.0, **final}
        targets[2], targets[4] = things, final
        also = self.tokens_of(focus.also)
        targets[3], targets[5] = also or things, also or final
        for position in range(self.answer, len(self.ids) - 1):
            start = self.offsets[position][0] - self.answer_char
            if focus.start <= start < focus.end:
                for site, target in zip(hints, targets, strict=True):
                    if target:
                        site.append((row, position - 1, target))
        if focus.value is not None:
            values.append((row, self.answer - 1, self.tokenizer.encode(focus.value).ids[0]))
