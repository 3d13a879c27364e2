"""Are two arms a matched pair: the same base weights at the same precision, so that what differs is the runtime?"""

from collections.abc import Mapping, Sequence
from typing import Any

from bakeoff.validity.findings import Finding

_SAME_BITS = 0.12
"""Share by which bits per weight may differ at one precision: norms and embeddings keep types of their own."""

_BASE = frozenset({"weights", "tokenizer"})
"""Findings that mean another base checkpoint."""


def matched_pair(
    names: tuple[str, str], identities: tuple[Mapping[str, Any], Mapping[str, Any]], findings: Sequence[Finding]
) -> str:
    """Return one sentence: whether two arms are a matched pair, and if not, in what they differ.

    `findings` are those of their probes; log-probabilities, not names, say whether the base weights are the same.
    """
    pair = " and ".join(names)
    between = [finding for finding in findings if set(finding.arms) == set(names)]
    if any(finding.kind in _BASE for finding in between):
        return f"{pair} are no matched pair: they do not have the same base weights."
    bits = [float(found) for identity in identities if (found := identity.get("bits_per_weight")) is not None]
    kinds = {finding.kind for finding in between}
    if "no log-probabilities" in kinds or len(bits) < len(identities):
        return f"{pair}: whether they are a matched pair cannot be told without log-probabilities and weight headers."
    shown = " against ".join(_recipe(identity) for identity in identities)
    parameters = [identity.get("parameters") for identity in identities]
    if abs(bits[0] - bits[1]) > _SAME_BITS * max(bits):
        return f"{pair} are no matched pair: the same base weights at another precision, {shown}."
    if "precision" in kinds:
        return f"{pair} are nearly a matched pair: as many bits, yet another quantisation, {shown}."
    more = "" if parameters[0] == parameters[1] else f" (they count {parameters[0]:,} and {parameters[1]:,} parameters)"
    return f"{pair} are a matched pair: the same base weights, {shown}{more}."


def _recipe(identity: Mapping[str, Any]) -> str:
    recipe = identity.get("quantisation")
    return f"{float(identity['bits_per_weight']):.2f} bits per weight" + (f" ({recipe})" if recipe else "")
