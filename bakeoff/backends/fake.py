"""A scripted backend for tests of the suite: it answers from a file and fails on command.

`fake:echo` repeats the question. `fake:oracle` gives the right answer to every prepared sample, which it looks up by
the sample's id: it shows that a track's scorer accepts what it should. `fake:<file>.json` follows a script:
`{"answers": {id: text}, "default": text, "delay_s": 0, "length": [ids cut off], "fail": [ids], "die": [ids],
"die_once": [ids]}`. Like every backend it is given Prompts, which hold no target.
"""

import contextlib
import json
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from bakeoff.backends.backend import Capabilities, Settings
from bakeoff.errors import BackendDied, BackendError, DataMissing, UsageProblem
from bakeoff.models import ModelSpec
from bakeoff.records import (
    BoxTarget,
    NumberTarget,
    OptionTarget,
    Output,
    Prompt,
    Target,
    Text,
    TextTarget,
    hash_json,
)
from bakeoff.tracks import TRACKS, load_samples


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """What a fake model says and when it fails; ids are sample ids."""

    answers: dict[str, str] = {}
    default: str | None = None
    delay_s: float = 0.0
    length: tuple[str, ...] = ()
    fail: tuple[str, ...] = ()
    die: tuple[str, ...] = ()
    die_once: tuple[str, ...] = ()


class FakeBackend:
    """Answers on one thread of its own, in the order asked."""

    load_s = 0.0

    def __init__(self, spec: ModelSpec, script: Script) -> None:
        self.capabilities = Capabilities(slots=4)
        self.identity: Mapping[str, Any] = {
            "runtime": "fake",
            "weights_sha256": hash_json([spec.name.partition(":")[0], msgspec.to_builtins(script)]),
        }
        self.asked: list[str] = []
        self.restarts = 0
        self._script = script
        self._is_dead = False
        self._already_died: set[str] = set()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fake")

    def submit(self, prompt: Prompt) -> Future[Output]:
        """Queue a prompt."""
        return self._pool.submit(self._answer, prompt)

    def restart(self) -> None:
        """Live again after a scripted death."""
        with self._lock:
            self._is_dead = False
            self.restarts += 1

    def close(self) -> None:
        """End the thread; what is queued is dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _answer(self, prompt: Prompt) -> Output:
        name, script = prompt.sample_id, self._script
        with self._lock:
            self.asked.append(name)
            dies = name in script.die or (name in script.die_once and name not in self._already_died)
            if dies:
                self._already_died.add(name)
                self._is_dead = True
            if self._is_dead:
                raise BackendDied("the fake runtime died")
        began = time.perf_counter()
        time.sleep(script.delay_s)
        if name in script.fail:
            raise BackendError("the script says: fail")
        text = script.answers.get(name, script.default)
        if text is None:
            text = "".join(part.text for part in prompt.messages[-1].parts if isinstance(part, Text))
        words = len(text.split())
        took = time.perf_counter() - began
        return Output(
            text=text,
            finish_reason="length" if name in script.length else "stop",
            prompt_tokens=sum(len(p.text.split()) for m in prompt.messages for p in m.parts if isinstance(p, Text)),
            completion_tokens=words,
            total_s=took,
            ttft_s=took,
        )


def open_backend(spec: ModelSpec, settings: Settings) -> FakeBackend:
    """Open `fake:echo` or a script file.

    Raises:
        UsageProblem: when the script is absent or not a script.
    """
    settings.progress(f"{spec.name}: scripted answers")
    if spec.location == "echo":
        return FakeBackend(spec, Script())
    if spec.location == "oracle":
        return FakeBackend(spec, Script(answers=_right_answers()))
    try:
        return FakeBackend(spec, msgspec.convert(json.loads(Path(spec.location).read_text("utf-8")), Script))
    except (OSError, ValueError) as error:
        raise UsageProblem(f"{spec.name!r}: {spec.location} is not a script: {error}") from error


def _right_answers() -> dict[str, str]:
    answers: dict[str, str] = {}
    for track in TRACKS.values():
        with contextlib.suppress(DataMissing):
            answers.update({sample.id: gold_text(sample.target) for sample in load_samples(track.folder())})
    return answers


def gold_text(target: Target) -> str:
    """Return an output that any scorer for this kind of target accepts; boxes are in the 0 to 1000 frame."""
    match target:
        case BoxTarget(box=box):
            return json.dumps([{"image_id": 0, "bbox_2d": [round(1000 * edge, 3) for edge in box], "label": "target"}])
        case OptionTarget(letter=letter):
            return letter
        case NumberTarget(value=value):
            return value
        case TextTarget(answers=texts):
            return texts[0]
