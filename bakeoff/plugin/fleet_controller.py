"""The process that owns the run while the hosts of a fleet do the asking, each with a backend of its own."""

import json
from collections import Counter
from typing import Any

import execnet
import pytest

from bakeoff.backends import BACKENDS
from bakeoff.errors import BackendDied, UsageProblem
from bakeoff.evaluate import record_of
from bakeoff.models import ModelSpec
from bakeoff.plugin.controller import Controller, worker_inputs
from bakeoff.plugin.fleet import Watch, admit, host_name, host_specs, is_reachable
from bakeoff.plugin.hosting import ArmThere
from bakeoff.plugin.opening import say
from bakeoff.records import to_line
from bakeoff.runs import utc_now
from bakeoff.validity.parity import judge
from bakeoff.validity.probes import write_probe

MOST_CRASHES = 2
"""How many hosts a sample may take down before it is recorded as an error and not tried again."""

_CONNECT_TIMEOUT_S = 20.0


class FleetController(Controller):
    """Admits hosts before they start, and moves what a dead one had in flight to the others."""

    def pytest_configure_node(self, node: Any) -> None:
        """Tell a new worker what it needs, its own host among it, and watch it."""
        host = host_name(node.gateway.spec)
        node.workerinput["bakeoff"] = json.dumps({**worker_inputs(self._recorder, self._options), "host": host})
        self._watch.add(node.gateway)

    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take over what a worker counted; for one that died, see to it that its replacement has a host."""
        super().pytest_testnodedown(node, error)
        self._watch.remove(node.gateway)
        if not error:
            return
        self._say(f"host {host_name(node.gateway.spec)} is lost ({str(error).strip()}): its sample goes to another")
        if not node.gateway.spec.popen and not is_reachable(node.gateway.spec, _CONNECT_TIMEOUT_S):
            self._gone.add(str(node.gateway.spec))
            left = [spec for spec in self._specs if spec not in self._gone]
            if left:  # xdist starts the replacement where the lost one was
                node.gateway.spec = execnet.XSpec(left[len(self._gone) % len(left)])

    def pytest_handlecrashitem(self, crashitem: str, report: Any, sched: Any) -> None:
        """Give a sample that was in flight on a lost host to another one; one that takes hosts down is an error."""
        self._crashes[crashitem] += 1
        if self._crashes[crashitem] < MOST_CRASHES:
            report.outcome = "passed"
            report.bakeoff_outcome = "moved"
            sched.mark_test_pending(crashitem)
            return
        place = self._plan.case_ids().get(crashitem.partition("[")[2].rpartition("]")[0])
        if place is None:
            return
        arm, track, name = place
        plan = self._plan.tracks_of(arm)[track]
        sample = next(sample for sample in plan.samples if sample.id == name)
        died = BackendDied(f"{name} took {MOST_CRASHES} hosts down")
        before = self._recorder.attempts().get(arm, {}).get(name, 0)
        prompt = self._plan.prompts(arm)[name]
        record = record_of(sample, plan, prompt, died, attempts_before=before, started_at=utc_now())
        self._reports.record(arm, to_line(record))

    @pytest.hookimpl(tryfirst=True)  # before the report is built
    def pytest_sessionfinish(self) -> None:
        """End the watch, so that hosts may go."""
        self._watch.close()
        super().pytest_sessionfinish()

    def _open(self) -> None:
        self._say = say(self._config)
        self._crashes: Counter[str] = Counter()
        self._gone: set[str] = set()
        self._watch = Watch(self._options.host_timeout_s, self._say)
        self._recorder.open({})
        try:
            self._specs, first = admit(host_specs(self._config), self._plan, self._options, self._say)
            self._config.option.tx = list(self._specs)
            for spec in self._plan.arms:
                self._begin(spec, first.arms[spec.arm])
        except BaseException:
            self._recorder.close()
            self._recorder.release()
            raise

    def _begin(self, spec: ModelSpec, there: ArmThere) -> None:
        """Write down an arm as the first host has it, and what its probe says.

        Raises:
            UsageProblem: with `--parity strict`, when that is not well.
        """
        hosts = [host_name(execnet.XSpec(text)) for text in self._specs]
        self._recorder.begin_arm(spec, there.identity, there.load_s, {"hosts": hosts})
        if there.probe is None:
            return
        write_probe(self._recorder.run, there.probe)
        verdict = judge({spec.arm: there.probe}, (spec.arm,))
        if verdict.state == "differs":
            self._say(f"parity: {verdict.reason}")
            if self._options.parity == "strict":
                raise UsageProblem(f"--parity strict: {verdict.reason}")

    def _refuse_what_cannot_share(self) -> None:
        if self._options.audit or self._options.controls:
            raise UsageProblem("--audit and --controls ask one machine: run them there, without --tx")
        models = [spec.name for spec in self._plan.arms if BACKENDS[spec.backend].model_in != "nowhere"]
        if len(models) > 1:
            raise UsageProblem(
                f"a fleet takes one model at a time, but {', '.join(models)} are named. Run them one after the other "
                "into the same directory with --run-dir DIR, then --resume DIR."
            )
