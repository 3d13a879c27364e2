"""The parity probe inside a run: asked before an arm's first sample, kept in the run directory."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Literal

from bakeoff.backends import Backend
from bakeoff.errors import UsageProblem
from bakeoff.models import ModelSpec
from bakeoff.records import Prompt
from bakeoff.runs import RunDirectory

ParityMode = Literal["strict", "warn", "off"]


class Prober:
    """Asks arms the probe set and tells what came out.

    Args:
        mode: what `--parity` says.
        run: where probes are kept.
        has_images: whether a selected sample has an image; without one, nothing is asked about images.
        thinking: what is asked of the chat template.
        say: writes a line to the terminal.
    """

    def __init__(
        self,
        mode: ParityMode,
        run: RunDirectory,
        *,
        has_images: bool,
        thinking: Literal["default", "on", "off"],
        say: Callable[[str], None],
    ) -> None:
        self._mode = mode
        self._run = run
        self._has_images = has_images
        self._thinking: Literal["default", "on", "off"] = thinking
        self._say = say

    @cached_property
    def prompts(self) -> Mapping[str, Prompt]:
        """The probe set; empty with `--parity off`. Its pictures are drawn at first sight."""
        if self._mode == "off":
            return {}
        from bakeoff.validity.probing import probes_for  # noqa: PLC0415 - draws pictures, which few sessions need

        return probes_for(self._run.path, thorough=self._mode == "strict", images=self._has_images)

    def probe(self, spec: ModelSpec, backend: Backend) -> None:
        """Ask one arm, write `probes/<arm>.json`, and say what is wrong with it and with it beside the arms before.

        Raises:
            UsageProblem: with `--parity strict`, when something is.
        """
        if not self.prompts:
            return
        from bakeoff.validity.parity import judge  # noqa: PLC0415 - as above
        from bakeoff.validity.probes import read_probes, write_probe  # noqa: PLC0415
        from bakeoff.validity.probing import probe_arm  # noqa: PLC0415

        is_strict = self._mode == "strict"
        self._say(f"probing {spec.arm}: {len(self.prompts)} short prompts before its first sample")
        probe = probe_arm(backend, spec, self.prompts, thinking=self._thinking, thorough=is_strict)
        write_probe(self._run, probe)
        probes = read_probes(self._run)
        found = [f for f in judge(probes, tuple(probes)).findings if f.serious and spec.arm in f.arms]
        for finding in found:
            self._say(f"parity: {finding.sentence}")
        if found and is_strict:
            models = ",".join(probes[arm].model for arm in found[0].arms)
            raise UsageProblem(
                f"--parity strict: {spec.arm} fails {len(found)} of its checks, see {self._run.path / 'probes'}. The "
                f"first: {found[0].sentence}.\nLook closer with: bakeoff doctor --model {models}; "
                "run all the same with --parity warn"
            )
