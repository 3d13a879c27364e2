"""`bakeoff doctor`: what is here, what runs here, and whether arms get the same prompts and see the same pictures."""

import itertools
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bakeoff.backends import BACKENDS, Settings, availability, open_backend
from bakeoff.environment import environment
from bakeoff.errors import BackendError, UsageProblem
from bakeoff.evaluate import context_bound
from bakeoff.models import DEFAULT_MODELS, ModelSpec, resolve_all
from bakeoff.records import Prompt
from bakeoff.validity.budget import longest_answers
from bakeoff.validity.matched import matched_pair
from bakeoff.validity.parity import Parity, judge
from bakeoff.validity.probes import ClassAgreement, Probe
from bakeoff.validity.probing import probe_arm, probes_for, reference_continuations

Say = Callable[[str], None]


class Doctor:
    """Examines arms one after the other and tells what it finds as it goes.

    Args:
        say: takes what is found, in lines for people.
        note: takes lines on how far it is, which belong to no finding.
        llama_server: as `--llama-server`.
        budget: also measure the longest answers.
        limit: how many samples of each track that takes.
    """

    def __init__(self, say: Say, note: Say, *, llama_server: str | None, budget: bool, limit: int) -> None:
        self._say = say
        self._note = note
        self._llama_server = llama_server
        self._budget = budget
        self._limit = limit
        self._identities: dict[str, dict[str, Any]] = {}
        self._probes: dict[str, Probe] = {}

    def examine(self, names: Sequence[str]) -> bool:
        """Say everything; return whether nothing serious was found.

        Raises:
            UsageProblem: when a model is unknown or cannot be loaded.
        """
        specs = resolve_all(names or DEFAULT_MODELS)
        self._tell_machine()
        with tempfile.TemporaryDirectory(prefix="bakeoff-doctor-") as folder:
            prompts = probes_for(Path(folder), thorough=True, images=True)
            for number, spec in enumerate(specs, start=1):
                self._note(f"arm {number} of {len(specs)}: {spec.arm}")
                self._examine_arm(spec, prompts, Path(folder))
        found = judge(self._probes, tuple(self._probes))
        self._tell_parity(found)
        for a, b in itertools.combinations(self._probes, 2):
            self._say(matched_pair((a, b), (self._identities[a], self._identities[b]), found.findings))
        return found.state != "differs"

    def _tell_machine(self) -> None:
        here = environment()
        self._say(f"machine   {here['processor']}, {here['cores']} cores, {here['memory_bytes'] / 2**30:.0f} GB")
        self._say(f"software  bakeoff {here['bakeoff']}, Python {here['python']}, {here['system']}")
        for name in BACKENDS:
            reason = availability(name)
            self._say(f"runtime   {name}: {'ready' if reason is None else reason}")

    def _examine_arm(self, spec: ModelSpec, prompts: dict[str, Prompt], folder: Path) -> None:
        began = time.perf_counter()

        def tell(line: str) -> None:
            self._note(f"{spec.arm}: {line}")

        self._say(f"\nprobing {spec.arm}: {len(prompts)} short prompts, some with large pictures")
        extra = [given.prompt for given in reference_continuations(thorough=True)] if spec.is_tiny else []
        settings = Settings(
            context_tokens=max(4096, context_bound([*prompts.values(), *extra])),
            log_path=folder / "logs" / f"{spec.arm}.log",
            llama_server=self._llama_server,
            progress=tell,
        )
        backend = open_backend(spec, settings)
        try:
            self._identities[spec.arm] = dict(backend.identity)
            probe = probe_arm(backend, spec, prompts, thorough=True, others=self._probes, tell=tell)
            version = backend.identity.get("runtime_version", spec.backend)
            took = time.perf_counter() - began
            self._say(f"\n{spec.arm}: {version}, {len(probe.answers)} probes in {took:.0f} s")
            self._tell_arm(probe)
            if self._budget:
                self._tell_budget(spec, backend)
        except BackendError as error:
            raise UsageProblem(f"{spec.name} cannot be examined: {error}") from error
        finally:
            backend.close()
        self._probes[spec.arm] = probe

    def _tell_arm(self, probe: Probe) -> None:
        shown = probe.answers.get("square-system") or next(iter(probe.answers.values()))
        if shown.rendered is not None:
            self._say(f"  prompt as rendered: {shown.rendered!r}")
        bos = {answer.bos for answer in probe.answers.values() if answer.bos is not None}
        if bos:
            self._say(f"  beginning-of-sequence tokens: {', '.join(map(str, sorted(bos)))}")
        modes = {answer.prompt_mode or "left to the model" for answer in probe.answers.values() if answer.rendered}
        thoughts = sum(bool(answer.thinking) for answer in probe.answers.values())
        if modes:
            self._say(f"  thinking: {', '.join(sorted(modes))} in the prompts, seen in {thoughts} outputs")
        counts = {
            f"{a.images[0][0]}x{a.images[0][1]}": a.image_tokens for a in probe.answers.values() if len(a.images) == 1
        }
        self._say("  image tokens: " + ", ".join(f"{size} {count}" for size, count in counts.items()))
        for other, classes in probe.agreements.items():
            self._say(f"  against {other}: " + "; ".join(map(_agreement, classes)))

    def _tell_budget(self, spec: ModelSpec, backend: Any) -> None:
        self._note(f"{spec.arm}: measuring the longest answers to {self._limit} samples of each track")
        for found in longest_answers(backend, spec, limit=self._limit):
            self._say(f"  budget {found.sentence}")

    def _tell_parity(self, found: Parity) -> None:
        self._say("")
        if not found.findings:
            self._say(f"parity    {found.reason}")
        for finding in found.findings:
            self._say(f"{'DIFFERS ' if finding.serious else 'note    '}  {finding.sentence}.")


def _agreement(found: ClassAgreement) -> str:
    kl = "" if found.kl is None else f", KL {found.kl:.4f}"
    same = f"{found.same_top} of {found.tops} first choices alike, " if found.tops else ""
    return f"{found.size}: {same}Δ {found.delta:.4f} on {found.tokens} tokens{kl}"
