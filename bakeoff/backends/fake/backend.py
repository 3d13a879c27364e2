"""A scripted backend for tests of the suite: it answers from a file and fails on command.

`fake:echo` repeats the question. `fake:oracle` gives the right answer to every prepared sample, in the default protocol
of its track and in those that ask of a sample more than once; it looks the sample up by its id, and shows that a
track's scorer accepts what it should.
`fake:<file>.json` follows a script: `{"answers": {id: text}, "default": text, "delay_s": 0, "length": [ids cut off],
"fail": [ids], "die": [ids], "die_once": [ids], "traits": {}}`; traits are ways in which arms differ (`fake_model`).
Like every backend it is given Prompts, which hold no target.
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
from bakeoff.backends.fake.model import IMAGE_TOKENS, Traits
from bakeoff.errors import BackendDied, BackendError, DataMissing, UsageProblem
from bakeoff.hashing import hash_json
from bakeoff.records import (
    Output,
    Prompt,
    Text,
)
from bakeoff.spec import ModelSpec
from bakeoff.text import thought
from bakeoff.traces import Trace
from bakeoff.tracks import TRACKS, load_samples, samples_of
from bakeoff.tracks.baselines import oracle_output


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """What a fake model says and when it fails; ids are sample ids."""

    answers: dict[str, str] = {}
    default: str | None = None
    delay_s: float = 0.0
    length: tuple[str, ...] = ()
    fail: tuple[str, ...] = ()
    die: tuple[str, ...] = ()
    die_once: tuple[str, ...] = ()
    traits: Traits = Traits()


class FakeBackend:
    """Answers on one thread of its own, in the order asked."""

    load_s = 0.0

    def __init__(self, spec: ModelSpec, script: Script) -> None:
        self.capabilities = Capabilities(slots=4, max_images=script.traits.max_images)
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
        self._flying: dict[int, Prompt] = {}
        self._images = _right_images() if script.traits.sees else {}

    def submit(self, prompt: Prompt) -> Future[Output]:
        """Queue a prompt; one that `mixes` answers the prompt before it where that is still in flight."""
        with self._lock:
            others = [other for other in self._flying.values() if other.sample_id != prompt.sample_id]
            self._flying[id(prompt)] = prompt
        shown = others[-1] if others and self._script.traits.mixes else prompt
        future = self._pool.submit(self._answer, prompt, shown)
        future.add_done_callback(lambda _: self._land(prompt))
        return future

    def force(self, prompt: Prompt, tokens: tuple[int, ...]) -> Future[Trace]:
        """Queue a prompt whose answer is given."""
        return self._pool.submit(self._script.traits.forced, prompt, tokens)

    def restart(self) -> None:
        """Live again after a scripted death."""
        with self._lock:
            self._is_dead = False
            self.restarts += 1

    def close(self) -> None:
        """End the thread; what is queued is dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _land(self, prompt: Prompt) -> None:
        with self._lock:  # the next prompt may be looking at those in flight
            self._flying.pop(id(prompt), None)

    def _answer(self, prompt: Prompt, shown: Prompt) -> Output:
        name, script, traits = prompt.sample_id, self._script, self._script.traits
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
        text, is_cut = traits.say(self._line(shown), prompt.max_tokens if prompt.top_logprobs else None)
        is_cut = is_cut or name in script.length
        took = time.perf_counter() - began
        texts = sum(len(p.text.split()) for m in shown.messages for p in m.parts if isinstance(p, Text))
        image_tokens = len(shown.images) * (IMAGE_TOKENS + traits.extra_image_tokens)
        return Output(
            text=text,
            finish_reason="length" if is_cut and not traits.lies else "stop",
            prompt_tokens=texts + image_tokens,
            image_tokens=image_tokens,
            completion_tokens=len(text.split()),
            thinking_tokens=len(thought(text).split()),
            total_s=took,
            ttft_s=took,
            trace=traits.trace(shown, text) if prompt.top_logprobs else None,
        )

    def _line(self, prompt: Prompt) -> str:
        """Return what the script has for a prompt; without an entry and a default, its own question."""
        text = self._script.answers.get(prompt.sample_id, self._script.default)
        if self._script.traits.sees and [i.sha256 for i in prompt.images] != self._images.get(prompt.sample_id):
            return "I cannot see that"
        return _question(prompt) if text is None else text


def _question(prompt: Prompt) -> str:
    return "".join(part.text for part in prompt.messages[-1].parts if isinstance(part, Text))


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
            for protocol in (track.protocols[0], *(other for other in track.protocols if other.expand)):
                for sample in samples_of(track, protocol):
                    answers.setdefault(sample.id, oracle_output(sample, protocol))
    return answers


def _right_images() -> dict[str, list[str]]:
    samples = load_samples(TRACKS["calibration"].folder())
    return {sample.id: [image.sha256 for image in sample.images] for sample in samples}
