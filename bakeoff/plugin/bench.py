"""Decides and answers: what a worker, or a session without workers, does. Selection, cases, engine, outcomes."""

from collections.abc import Generator, Mapping
from typing import Any, NoReturn, Protocol

import msgspec
import pytest

from bakeoff.engine import Engine
from bakeoff.errors import BackendError, UsageProblem
from bakeoff.evaluate import TrackPlan, prompt_of, record_of
from bakeoff.files import disk_trouble_told
from bakeoff.hosts import Host
from bakeoff.models import ModelSpec
from bakeoff.plugin.choosing import chooses_among_items, names_track, selects_samples, selects_tracks
from bakeoff.plugin.html import note_for_html
from bakeoff.plugin.items import case_of, deselect, first_places, parameter_of, selection_of
from bakeoff.plugin.options import Options
from bakeoff.plugin.planning import Case, Plan, Unprepared
from bakeoff.plugin.prompts import Prompts
from bakeoff.plugin.told import attach, properties_of
from bakeoff.records import Prompt, Record, Sample
from bakeoff.runs import Selection, utc_now
from bakeoff.skips import Skip

CALIBRATION = "calibration"
"""The one track that the embedded checkpoint was made for."""

MAX_ERRORS_IN_A_ROW = 10
"""After so many samples without a valid output one after the other, the session stops: the fault is not theirs."""


class ArmOpener(Protocol):
    """Gives an engine for an arm, and is told when the arm is done. Differs between worker and standalone session."""

    @property
    def host(self) -> Host | None:
        """The host of a fleet that answers here, once an arm is open."""

    def open_arm(self, spec: ModelSpec, order: list[str], prompts: Mapping[str, Prompt]) -> Engine:
        """Load the arm; `order` is what will be asked of it."""

    def close_arm(self, arm: str) -> None:
        """Take note that nothing more is asked of the arm."""


class Bench:
    """Turns samples into pytest items, and items into records."""

    def __init__(
        self,
        plan: Plan,
        options: Options,
        opener: ArmOpener,
        *,
        answered: Mapping[str, frozenset[str]],
        attempts: Mapping[str, Mapping[str, int]],
        stored_selection: Selection,
        is_worker: bool = False,
    ) -> None:
        self.plan = plan
        self.options = options
        self.resumed = 0
        self._left_out: Selection = {}
        self.selection: Selection = {}
        self._opener = opener
        self._answered = answered
        self._attempts = attempts
        self._stored_selection = {
            arm: {track: frozenset(ids) for track, ids in tracks.items()} for arm, tracks in stored_selection.items()
        }
        self._order: dict[str, list[str]] = {}
        self._arm: str | None = None
        self._plans: Mapping[str, TrackPlan] = {}
        self._engine: Engine | None = None
        self._prompts: Mapping[str, Prompt] = {}
        self._found: Record | Skip | None = None
        self._next: Case | None = None
        self._errors_in_a_row = 0
        self._is_worker = is_worker
        self._stop_reason: str | None = None
        self._tiny_arms = frozenset(spec.arm for spec in plan.arms if spec.is_tiny)

    # --- selection -----------------------------------------------------------------------------------------------

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make one item per arm and sample for every test that takes a `case`."""
        track = getattr(metafunc.module, "TRACK", None)
        if "case" in metafunc.fixturenames and track in self.plan.known:
            module = metafunc.definition.getparent(pytest.Module)
            if module is not None and not any(mark.name == track for mark in module.own_markers):
                module.add_marker(track)  # once for the module: a mark per item is dead weight at 30,000
            metafunc.parametrize("case", self._parameters(metafunc.config, track))

    def _parameters(self, config: pytest.Config, track: str) -> list[Any]:
        """Return the parameters of a track. What the run has answered becomes no item where nobody can have named it.

        150,000 recorded samples cost pytest ten seconds to collect, only to be left out again. A sample that the stored
        run did not select stays, since that it is left out has another reason.
        """
        if chooses_among_items(config):
            return self.plan.parameters(track, self.run)
        stored = {arm: tracks.get(track, frozenset()) for arm, tracks in self._stored_selection.items()}
        done = {arm: ids & stored.get(arm, frozenset()) for arm, ids in self._answered.items()}
        found = self.plan.parameters(track, self.run, lambda arm, sample: sample in done.get(arm, ()))
        if track in self.plan.tracks:
            made = {(case.arm, case.sample.id) for entry in found for case in entry.values}
            for spec in self.plan.arms:
                ids = [s.id for s in self.plan.tracks[track].samples if (spec.arm, s.id) not in made]
                if ids:
                    self._left_out.setdefault(spec.arm, {})[track] = ids
        return found

    @pytest.hookimpl(trylast=True)  # after pytest's own -k and -m, so that only what the user selected counts
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Put items into the order arm, track, image; leave out what the run has already answered."""
        places = {spec.arm: place for place, spec in enumerate(self.plan.arms)}
        first = first_places(items)
        items.sort(key=lambda item: (places.get(case.arm, -1), *first[case]) if (case := case_of(item)) else (-1, 0, 0))
        if selects_tracks(config):
            self._leave_out_unprepared(config, items)
        else:
            deselect(config, items, self._is_not_meant)
        if not selects_samples(config):
            deselect(config, items, self._is_foreign)
        if self.options.shard is not None:
            deselect(config, items, self.plan.is_elsewhere(self.options.shard))
        self.selection = selection_of(items)
        for arm, tracks in self._left_out.items():  # they were selected too
            for track, ids in tracks.items():
                self.selection.setdefault(arm, {}).setdefault(track, []).extend(ids)
        left_out = sum(len(ids) for tracks in self._left_out.values() for ids in tracks.values())
        self.resumed = left_out + deselect(config, items, self._is_answered)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what will be asked, in its order: after `--lf`, `--ff` and whatever else sorts and selects."""
        for item in session.items:
            if case := case_of(item):
                self._order.setdefault(case.arm, []).append(case.sample.id)

    @pytest.hookimpl(tryfirst=True)  # before pytest's own, which runs the test
    def pytest_runtest_protocol(self, nextitem: pytest.Item | None) -> None:
        """Note what comes next, which is all that a worker knows of the order."""
        self._next = case_of(nextitem) if nextitem is not None else None

    def _leave_out_unprepared(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """End here when a track was named that is not prepared, or nothing else is left; leave out the other ones.

        A worker leaves the ending to the controller.
        """
        is_alone = not any(case_of(item) for item in items)
        refused = [
            found
            for item in items
            if isinstance(found := parameter_of(item), Unprepared)
            and (found.is_refused or is_alone or names_track(config, found.track, item.path.name))
        ]
        if refused and not self._is_worker:
            raise pytest.UsageError(refused[0].problem)
        deselect(config, items, lambda case: isinstance(case, Unprepared) and case not in refused)

    def _is_not_meant(self, case: Case | Unprepared) -> bool:
        """Whether `pytest tests_bench` leaves this out: tracks that are not prepared, and real tracks for a toy."""
        if isinstance(case, Unprepared):
            return True
        return case.arm in self._tiny_arms and case.sample.track != CALIBRATION

    def _is_answered(self, case: Case | Unprepared) -> bool:
        if isinstance(case, Unprepared):
            return False
        return case.sample.id in self._answered.get(case.arm, frozenset())

    def _is_foreign(self, case: Case | Unprepared) -> bool:
        """Whether a resumed run's arm, or for a new arm all of them, never selected this sample."""
        if isinstance(case, Unprepared):
            return bool(self._stored_selection)
        if not self._stored_selection:
            return False
        stored = self._stored_selection.get(case.arm)  # an arm that is new is asked what the others were
        asked = [stored] if stored is not None else list(self._stored_selection.values())
        return not any(case.sample.id in tracks.get(case.sample.track, ()) for tracks in asked)

    # --- answering -----------------------------------------------------------------------------------------------

    def run(self, case: Case) -> Record:
        """Answer a case and keep its record for the report of the running test; skip what the arm cannot be asked."""
        engine = self._engine_for(case.arm)
        if reason := engine.refusal(case.sample.id):
            self._found = Skip(sample_id=case.sample.id, track=case.sample.track, reason=reason)
            pytest.skip(reason)
        plan = self._plans[case.sample.track]
        prompt = self._prompts[case.sample.id]
        started_at = utc_now()
        try:
            following = self._next.sample.id if self._next is not None and self._next.arm == case.arm else None
            result: Any = engine.answer(case.sample.id, following=following)
        except BackendError as error:
            result = error
        before = self._attempts.get(case.arm, {}).get(case.sample.id, 0)
        record = record_of(case.sample, plan, prompt, result, attempts_before=before, started_at=started_at)
        record = msgspec.structs.replace(record, host=self._opener.host)
        self._found = record
        self._errors_in_a_row = self._errors_in_a_row + 1 if record.error else 0
        if self._errors_in_a_row >= MAX_ERRORS_IN_A_ROW:
            self._stop_reason = f"{MAX_ERRORS_IN_A_ROW} samples in a row got no valid output"
        if record.error:
            pytest.fail(f"no valid output from {case.arm}: {record.error.type}: {record.error.message}", pytrace=False)
        if self.options.fail_on_wrong and not record.correct:
            pytest.fail(f"wrong: {record.answer!r} (score {record.score}) from {record.output!r}", pytrace=False)
        return record

    @pytest.hookimpl(wrapper=True)  # around pytest's own, whose report it completes
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the finished record to the report, as one line of text that survives the way to the controller."""
        found = self._found if call.when == "call" else None
        if found is not None:
            self._found = None
            item.user_properties.extend(properties_of(found))
        report = yield
        case = case_of(item)
        if found is not None and case is not None:
            attach(report, case.arm, found)
            if isinstance(found, Record) and item.config.getoption("htmlpath", default=None):
                note_for_html(report, case.sample, found)
        if self._stop_reason is not None:
            item.session.shouldstop = self._stop_reason
        return report

    @pytest.hookimpl(tryfirst=True)  # before the report is built, so that no model is alive while it is
    def pytest_sessionfinish(self) -> None:
        """Let go of the model, whatever ended the session."""
        self.close()

    def close(self) -> None:
        """Close the arm that is open, if any."""
        if self._engine is not None and self._arm is not None:
            self._engine.close()
            self._opener.close_arm(self._arm)
        self._engine = self._arm = None

    def _engine_for(self, arm: str) -> Engine:
        if self._engine is None or self._arm != arm:
            self.close()
            spec = next(spec for spec in self.plan.arms if spec.arm == arm)
            self._plans = self.plan.tracks_of(arm)
            samples = {s.id: s for plan in self.plan.tracks.values() for s in plan.samples}
            order = self._order.get(arm, [])
            self._prompts = Prompts(order, lambda name: self._prompt(samples[name]))
            try:
                with disk_trouble_told("Make room, then go on with --resume"):
                    self._engine = self._opener.open_arm(spec, order, self._prompts)
            except (UsageProblem, BackendError) as error:
                self._give_up(f"arm {arm} cannot run: {error}", error)
            self._arm = arm
        return self._engine

    def _give_up(self, reason: str, error: Exception) -> NoReturn:
        """End the session: at once where that is possible, else with this test (xdist misreads a worker's exit)."""
        self._stop_reason = reason
        if self._is_worker:
            pytest.fail(reason, pytrace=False)
        pytest.exit(reason, returncode=_exit_code(error))

    def _prompt(self, sample: Sample) -> Prompt:
        return prompt_of(sample, self._plans[sample.track], self.plan.asking)


def _exit_code(error: Exception) -> pytest.ExitCode:
    return pytest.ExitCode.USAGE_ERROR if isinstance(error, UsageProblem) else pytest.ExitCode.INTERRUPTED
