"""Does an arm of the embedded checkpoint say what the reference implementation says?

`data/tiny/reference.jsonl` holds, for every calibration sample, the greedy output and the prompt tokens of the float32
model in transformers. Only greedy arms can be held against it.
"""

from pathlib import Path

import msgspec

from bakeoff.journal import JournalContent, read_journal
from bakeoff.models import TINY_ALIASES
from bakeoff.paths import tiny_dir
from bakeoff.records import from_line
from bakeoff.runs import RunDirectory


class Likelihood(msgspec.Struct, frozen=True, kw_only=True):
    """A token of the reference's output with its log-probability."""

    token_id: int
    logprob: float


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """What the reference gave for one sample. `prompt_token_ids` has the image tokens in it, one id a position.

    `first_logprobs` are of the first tokens of its output, `first_topk` the likeliest tokens at the first position.
    """

    id: str
    prompt_sha256: str
    prompt_token_ids: tuple[int, ...]
    prompt_tokens: int
    image_tokens: int
    output: str
    finish_reason: str
    first_logprobs: tuple[Likelihood, ...] = ()
    first_topk: tuple[tuple[int, float], ...] = ()


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How many of `n` answered samples have the reference's output, and its number of prompt tokens."""

    arm: str
    n: int
    same_output: int
    same_prompt_tokens: int

    @property
    def sentence(self) -> str:
        """The figures in words, for a terminal."""
        return (
            f"{self.arm} gives the reference's text on {self.same_output} of {self.n} samples "
            f"and its number of prompt tokens on {self.same_prompt_tokens}."
        )


def read_references(folder: Path | None = None) -> dict[str, Reference]:
    """Return the references by sample id; empty when the checkpoint has none."""
    path = (folder or tiny_dir()) / "reference.jsonl"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="\n") as lines:
        found = [from_line(line, Reference) for line in lines]
    return {reference.id: reference for reference in found}


def reference_agreements(run: RunDirectory) -> tuple[Agreement, ...]:
    """Return the agreement of every greedy arm of the embedded checkpoint, in the run's order."""
    arms = [
        name
        for name, arm in run.manifest().arms.items()
        if arm.model in TINY_ALIASES
        and arm.fingerprint.get("sampling.temperature") == 0
        and run.journal_path(name).is_file()
    ]
    references = read_references() if arms else {}
    found = [_agreement(name, read_journal(run.journal_path(name)), references) for name in arms]
    return tuple(agreement for agreement in found if agreement.n)


def _agreement(arm: str, content: JournalContent, references: dict[str, Reference]) -> Agreement:
    pairs = [
        (record, references[record.sample_id])
        for record in content.records.values()
        if record.status != "error" and record.sample_id in references
    ]
    return Agreement(
        arm=arm,
        n=len(pairs),
        same_output=sum(record.output == reference.output for record, reference in pairs),
        same_prompt_tokens=sum(record.prompt_tokens == reference.prompt_tokens for record, reference in pairs),
    )
