"""What the probes of two arms say of the pair: same prompt, same image tokens, same weights, same pictures?

A check that explains a difference ends the search for its consequences: prompts that differ make log-probabilities
differ, so these are not compared then.
"""

import re
from collections.abc import Iterable

from bakeoff.validity.findings import Finding, at_most, gaps, listed, mean
from bakeoff.validity.probes import Probe, ProbeAnswer

OTHER_WEIGHTS = 0.5
"""Mean gap on prompts without images above which the weights are not the same ones, however quantised.

On the embedded checkpoint bf16 against bf16 in another runtime is 0.004, against 8 bits 0.012, against 4 bits 0.09.
"""

OTHER_PRECISION = 0.008
"""Mean gap above which quantisation shows."""

LEAST_GAP = 0.05
"""Mean gap of a size class that is worth a word at all."""

TIMES_TEXT = 4.0
"""How much larger than without images a gap must be to be blamed on the images."""

Pairs = dict[str, tuple[ProbeAnswer, ProbeAnswer]]

_AROUND = re.compile(r"(?:<[^<>]*(?:vision|image|img)[^<>]*>|\s)*<image>(?:<[^<>]*(?:vision|image|img)[^<>]*>|\s)*")


def check_pair(a: Probe, b: Probe) -> tuple[Finding, ...]:
    """Return all that keeps two arms apart, in the order of cause and consequence."""
    pairs = {
        name: (answer, b.answers[name])
        for name, answer in a.answers.items()
        if name in b.answers and not answer.error and not b.answers[name].error
    }
    arms = (a.arm, b.arm)
    prompts = [*_templates(arms, pairs), *_begins(arms, pairs), *_thinking(arms, pairs)]
    tokens = _image_tokens(arms, pairs)
    if prompts:
        return (*prompts, *tokens)
    weights = _weights(arms, pairs)
    if weights and weights[0].serious:
        return (*tokens, *weights)
    counted = {name for finding in tokens for name in finding.probes}
    seen = {name: pair for name, pair in pairs.items() if name not in counted}
    return (*tokens, *weights, *_pictures(arms, seen))


def _templates(arms: tuple[str, str], pairs: Pairs) -> list[Finding]:
    differing = {
        name: (x, y)
        for name, (x, y) in pairs.items()
        if x.rendered is not None and y.rendered is not None and _plain(x.rendered) != _plain(y.rendered)
    }
    if differing:
        name, (x, y) = next(iter(differing.items()))
        left, right = _where(_plain(x.rendered or ""), _plain(y.rendered or ""))
        sentence = (
            f"{arms[0]} and {arms[1]} do not get the same prompt on {len(differing)} of {len(pairs)} probes: another "
            f"chat template. On «{name}» one has {left!r} where the other has {right!r}"
        )
        return [Finding(kind="template", arms=arms, sentence=sentence, probes=tuple(differing))]
    texts = [
        name
        for name, (x, y) in pairs.items()
        if not x.images and x.text_ids and y.text_ids and x.text_ids != y.text_ids
    ]
    if texts and all(
        _without_first(x.text_ids, x.bos) != _without_first(y.text_ids, y.bos) for x, y in _of(pairs, texts)
    ):
        sentence = f"{arms[0]} and {arms[1]} cut the same text into other tokens: another tokenizer or vocabulary"
        return [Finding(kind="tokenizer", arms=arms, sentence=sentence, probes=tuple(texts))]
    return []


def _begins(arms: tuple[str, str], pairs: Pairs) -> list[Finding]:
    differing = {n: (x.bos, y.bos) for n, (x, y) in pairs.items() if None not in {x.bos, y.bos} and x.bos != y.bos}
    if not differing:
        return []
    left, right = next(iter(differing.values()))
    sentence = f"prompts begin with {left} beginning-of-sequence tokens in {arms[0]} and with {right} in {arms[1]}"
    return [Finding(kind="bos", arms=arms, sentence=sentence, probes=tuple(differing))]


def _thinking(arms: tuple[str, str], pairs: Pairs) -> list[Finding]:
    shows = [
        {name for name, pair in pairs.items() if pair[side].thinking or pair[side].prompt_mode == "on"}
        for side in (0, 1)
    ]
    if bool(shows[0]) == bool(shows[1]):
        return []
    thinks, plain = (0, 1) if shows[0] else (1, 0)
    marks = [mark for name in shows[thinks] for mark in pairs[name][thinks].thinking]
    evidence = f"{listed(marks)} in its outputs" if marks else "an open thought at the end of its prompts"
    sentence = f"{arms[thinks]} thinks before it answers ({evidence}), {arms[plain]} does not: set --thinking on or off"
    return [Finding(kind="thinking", arms=arms, sentence=sentence, probes=tuple(sorted(shows[thinks])))]


def _image_tokens(arms: tuple[str, str], pairs: Pairs) -> list[Finding]:
    found = {
        name: (x, y, y.image_tokens - x.image_tokens)
        for name, (x, y) in pairs.items()
        if x.images and x.image_tokens is not None and y.image_tokens is not None and x.image_tokens != y.image_tokens
    }
    if not found:
        return []
    more = arms[1] if next(iter(found.values()))[2] > 0 else arms[0]
    less = arms[0] if more == arms[1] else arms[1]
    if all(abs(extra) == len(x.images) for x, _, extra in found.values()) and not _any_tiled(pairs, found):
        sentence = (
            f"{more} puts one extra token after each image that is not tiled ({_counts(found)}), none after tiled "
            f"ones: a thumbnail marker on untiled images, as llama.cpp builds about b10434 add it; {less} does not"
        )
        brief = f"{more} puts one extra token after each image that is not tiled, {less} does not"
        return [Finding(kind="thumbnail marker", arms=arms, sentence=sentence, probes=tuple(found), brief=brief)]
    sizes = listed(x.size for x, _, _ in found.values())
    least = min(
        min(x.image_tokens or 1, y.image_tokens or 1) / max(x.image_tokens or 1, y.image_tokens or 1)
        for x, y, _ in found.values()
    )
    cause = (
        f"{less} shrinks what {more} cuts into tiles, or takes it at a lower resolution"
        if least < 0.6  # noqa: PLR2004 - far fewer tokens: not a marker more or less
        else "another grid of tiles, other limits of resolution, or other markers around the image"
    )
    sentence = (
        f"{arms[0]} and {arms[1]} give images of size {sizes} other numbers of tokens ({_counts(found)}): {cause}"
    )
    brief = f"{arms[0]} and {arms[1]} turn the same images into other numbers of tokens: {cause}"
    return [Finding(kind="image tokens", arms=arms, sentence=sentence, probes=tuple(found), brief=brief)]


def _weights(arms: tuple[str, str], pairs: Pairs) -> list[Finding]:
    gap = class_gaps(pairs).get("no image")
    if gap is None:
        missing = [arm for side, arm in enumerate(arms) if not any(pair[side].tokens for pair in pairs.values())]
        if not missing:
            return []
        sentence = f"{listed(missing)} tells no log-probabilities, so weights and pictures could not be compared"
        return [Finding(kind="no log-probabilities", arms=arms, sentence=sentence, serious=False)]
    if gap > OTHER_WEIGHTS:
        sentence = (
            f"{arms[0]} and {arms[1]} read the same tokens and answer as two different models do (mean gap of "
            f"log-probabilities {gap:.2f} without any image): other weights"
        )
        brief = f"{arms[0]} and {arms[1]} answer as two different models do: other weights"
        return [Finding(kind="weights", arms=arms, sentence=sentence, brief=brief)]
    if gap > OTHER_PRECISION:
        apart = f"{gap:.3f} apart without any image"
        sentence = f"{arms[0]} and {arms[1]} lie {apart}: as the same weights at another precision"
        return [Finding(kind="precision", arms=arms, sentence=sentence, serious=False)]
    return []


def _pictures(arms: tuple[str, str], pairs: Pairs) -> list[Finding]:
    found = class_gaps(pairs)
    text = found.pop("no image", 0.0)
    bound = max(LEAST_GAP, TIMES_TEXT * text)
    wrong = {size: gap for size, gap in found.items() if gap > bound}
    if not wrong:
        return []
    right = [size for size in found if size not in wrong]
    where = listed((f"{size} ({gap:.2f})" for size, gap in wrong.items()), most=6)
    clean = f"images of size {listed(right, most=6)} agree ({at_most(max(found[s] for s in right))})" if right else ""
    names = tuple(name for name, (x, _) in pairs.items() if x.size in wrong)
    between = f"{arms[0]} and {arms[1]} do not see the same pictures"
    if all(size.startswith(("tiled", "huge")) for size in wrong):
        kind, cause = "tiles", "the tiles are resampled differently: one stretches an image to fill them, one pads it"
        brief = f"{between} where a large image is cut into tiles: one stretches it to fill them, one pads it"
    elif all(size.startswith(("tiled", "huge", "shrunk", "small", "odd")) for size in wrong):
        kind, cause = "resampling", "images that have to be resized are resized differently"
        brief = f"{between} where an image has to be resized: they do it differently"
    else:
        kind, cause = "vision", "another projector, other pixel values, or an image put elsewhere in the prompt"
        brief = f"{between}: {cause}"
    sentence = (
        f"{arms[0]} and {arms[1]} read the same tokens, and their log-probabilities differ on images of size {where}, "
        f"against {text:.3f} without images{'; ' if clean else ''}{clean}: {cause}"
    )
    brief += f"; {'text and ' if not text > LEAST_GAP else ''}other images agree" if right else ""
    return [Finding(kind=kind, arms=arms, sentence=sentence, probes=names, brief=brief)]


def class_gaps(pairs: Pairs) -> dict[str, float]:
    """Return the mean gap of each size class, where both arms tell log-probabilities."""
    found: dict[str, list[float]] = {}
    for x, y in pairs.values():
        if x.tokens and y.tokens:
            found.setdefault(x.size, []).extend(gaps(x.tokens, y.tokens))
    return {size: value for size, values in found.items() if (value := mean(values)) is not None}


def _of(pairs: Pairs, names: Iterable[str]) -> list[tuple[ProbeAnswer, ProbeAnswer]]:
    return [pairs[name] for name in names]


def _plain(rendered: str) -> str:
    """Return a prompt without the marks that a runtime or its template puts around images."""
    return _AROUND.sub("<image>", rendered)


def _where(left: str, right: str) -> tuple[str, str]:
    """Return what stands at the first place where two texts differ."""
    place = next((i for i, (x, y) in enumerate(zip(left, right, strict=False)) if x != y), min(len(left), len(right)))
    begin = max(0, place - 12)
    return left[begin : place + 28], right[begin : place + 28]


def _without_first(ids: tuple[int, ...], bos: int | None) -> tuple[int, ...]:
    return ids[bos:] if bos else ids


def _any_tiled(pairs: Pairs, found: Iterable[str]) -> bool:
    return any(pairs[name][0].size.startswith(("tiled", "huge")) for name in found)


def _counts(found: dict[str, tuple[ProbeAnswer, ProbeAnswer, int]]) -> str:
    name, (x, y, _) = next(iter(found.items()))
    return f"{x.image_tokens} and {y.image_tokens} on «{name}», {listed(f'{w} x {h}' for w, h in x.images)} pixels"
