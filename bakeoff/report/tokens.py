"""Did every arm read the same number of tokens for the same prompt?

Image tokens show whether a runtime tiles, squashes or marks images as another does, without a benchmark and without a
reference: the prompts are the same, so the counts must be.
"""

from bakeoff.report import numbers
from bakeoff.report.reading import Run
from bakeoff.report.results import Check


def token_check(run: Run) -> Check:
    """Compare the prompt tokens of all arms sample by sample, where every arm of a pair counted them."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for arm in run.arms.values():
        for track in arm.tracks:
            for key, record in arm.answered(track).items():
                if record.prompt_tokens is not None:
                    counts.setdefault((track, key), {})[arm.name] = record.prompt_tokens
    shared = {key: found for key, found in counts.items() if len(found) > 1}
    if not shared:
        return Check(state="not checked", required=True, reason="not counted by two arms")
    spreads = {key: max(found.values()) - min(found.values()) for key, found in shared.items()}
    differing = {key: spread for key, spread in spreads.items() if spread}
    if not differing:
        return Check(state="same", required=True, reason=f"as many on {numbers.some(len(shared), 'sample')}")
    worst = max(differing, key=lambda key: (differing[key], key))
    extreme = shared[worst]
    most, least = max(extreme, key=lambda arm: extreme[arm]), min(extreme, key=lambda arm: extreme[arm])
    reason = (
        f"counts differ on {numbers.counted(len(differing), len(shared))} samples, most on {worst[1]}: "
        f"{numbers.count(extreme[least])} tokens in {least}, {numbers.count(extreme[most])} in {most}"
    )
    return Check(state="differs", required=True, reason=reason)
