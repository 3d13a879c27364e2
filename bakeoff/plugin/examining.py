"""What is asked of an arm beside its samples: the batch audit and the controls."""

from collections.abc import Callable, Mapping

import msgspec

from bakeoff.backends import Backend
from bakeoff.plugin.options import Options
from bakeoff.plugin.planning import Plan
from bakeoff.records import Prompt
from bakeoff.runs import RunDirectory


class Examiner:
    """Carries out `--audit` and `--controls` for one arm after another, and says what came out.

    Args:
        options: of the run.
        plan: tracks and how their samples are asked.
        run: where results are kept.
        say: writes a line to the terminal.
    """

    def __init__(self, options: Options, plan: Plan, run: RunDirectory, say: Callable[[str], None]) -> None:
        self._options = options
        self._plan = plan
        self._run = run
        self._say = say

    def audit(self, arm: str, backend: Backend, prompts: Mapping[str, Prompt], window: int) -> int:
        """Return how many prompts may be in flight: `window`, or 1 where answers depend on each other."""
        if not self._options.audit or window < 2:  # noqa: PLR2004 - one at a time disturbs nobody
            return window
        from bakeoff.validity.audit import audit_arm, write_audit  # noqa: PLC0415 - few sessions ask for it

        most = backend.capabilities.max_images
        names = [name for name, prompt in prompts.items() if most is None or len(prompt.images) <= most]
        step = max(1, len(names) // self._options.audit)
        chosen = {name: prompts[name] for name in names[::step][: self._options.audit]}
        found = audit_arm(backend, arm, chosen, window)
        if not found.is_safe:
            found = msgspec.structs.replace(found, dropped=True)
        write_audit(self._run, found)
        self._say(f"audit: {found.sentence}")
        return window if found.is_safe else 1

    def control(self, arm: str, backend: Backend) -> None:
        """Ask with blank, swapped and missing images."""
        if not self._options.controls:
            return
        from bakeoff.validity.controls import control_arm, write_controls  # noqa: PLC0415 - as above

        folder = self._run.path / "controls" / "images"
        found = control_arm(backend, arm, self._plan.tracks_of(arm), self._plan.asking, folder)
        write_controls(self._run, found)
        for sentence in found.sentences():
            self._say(f"controls: {sentence}")
