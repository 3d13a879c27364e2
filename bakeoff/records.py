"""The words of the project as frozen data: Sample, Prompt, Output, Score, Record.

A track makes Samples, a protocol a Prompt of each; a backend answers with an Output, a scorer makes a Score of it; all
together is a Record, a line of a journal. Everything is immutable and compared by value. `to_line` and `from_line` are
the only way in and out; they ignore unknown keys, refuse wrong types.
"""

import math
from typing import Literal, TypeVar

import msgspec

from bakeoff.hashing import hash_json
from bakeoff.hosts import Host
from bakeoff.lines import ascii_json, read_json
from bakeoff.skips import Skip
from bakeoff.traces import Trace

SCHEMA = 1
"""Version of the line formats in this module. A reader refuses any other."""


class BoxTarget(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="box"):
    """A rectangle to be found.

    `box` is `(x1, y1, x2, y2)` as fractions of the image's width and height, never rounded; `image_size` is
    `(width, height)` in pixels, which a protocol that asks for pixels needs.
    """

    box: tuple[float, float, float, float]
    image_size: tuple[int, int] | None = None


class OptionTarget(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="option"):
    """The right letter among `count` lettered options, `A` first; `options` are their texts where these are known."""

    letter: str
    count: int
    options: tuple[str, ...] = ()


class TextTarget(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="text"):
    """Texts that are all right; the best match counts."""

    answers: tuple[str, ...]


class NumberTarget(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="number"):
    """A number, kept as it is written in the dataset; `precision` is the number of decimals that count."""

    value: str
    precision: int = 0


Target = BoxTarget | OptionTarget | TextTarget | NumberTarget


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """One image file with its original bytes.

    `path` is absolute after loading and relative to the track's folder in a prepared file; `sha256` is of the file's
    bytes; `width` and `height` are in pixels.
    """

    path: str
    sha256: str
    width: int
    height: int


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One question of a track. `groups` maps a dimension to this sample's value in it, such as `platform: web`."""

    id: str
    track: str
    question: str
    target: Target
    images: tuple[Image, ...] = ()
    options: tuple[str, ...] = ()
    system: str | None = None
    groups: dict[str, str] = {}

    @property
    def cluster(self) -> str:
        """What samples must share to be counted as one cluster: their images, or nothing for a text sample."""
        return "+".join(image.sha256 for image in self.images) or self.id


class Text(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A piece of a message that is text."""

    text: str


class ImagePart(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """A piece of a message that is an image."""

    image: Image


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Text | ImagePart, ...]


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How tokens are drawn. Every field is sent to every runtime; temperature 0 is greedy; None is "off"."""

    temperature: float = 0.2
    top_k: int = 50
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float | None = None


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """All that a backend is told of a sample: never its target.

    `max_tokens` bounds the completion; `seed` is this sample's own; `thinking` is what is asked of the chat template;
    `top_logprobs` above 0 asks for a `Trace` with so many candidates a token, which a run never does.
    """

    sample_id: str
    messages: tuple[Message, ...]
    max_tokens: int
    seed: int
    sampling: Sampling = Sampling()
    thinking: Literal["default", "on", "off"] = "default"
    top_logprobs: int = 0

    @property
    def images(self) -> tuple[Image, ...]:
        """Images in the order in which the messages show them."""
        return tuple(part.image for message in self.messages for part in message.parts if isinstance(part, ImagePart))

    @property
    def sha256(self) -> str:
        """Hash of what is asked: roles, texts, image bytes, in order. Paths, budget and sampling are not part of it."""

        def content(part: Text | ImagePart) -> list[str]:
            return ["text", part.text] if isinstance(part, Text) else ["image", part.image.sha256]

        return hash_json([[message.role, [content(part) for part in message.parts]] for message in self.messages])


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime gave for a prompt. Times are in seconds as measured at the backend; None means not known.

    `total_s` runs from the moment the runtime took the prompt to its last token; waiting before that, or for others in
    between, is `queue_s`. `prompt_tokens` includes `image_tokens` and the `cached_tokens` that needed no prefill;
    `completion_tokens` includes the `thinking_tokens`, which are those of the text in thoughts, marks included.
    `image_encode_s` is the vision encoder's part of `prefill_s`, where the runtime tells. `trace` is for probes.
    """

    text: str
    finish_reason: Literal["stop", "length"] | None
    prompt_tokens: int | None = None
    image_tokens: int | None = None
    completion_tokens: int | None = None
    thinking_tokens: int | None = None
    cached_tokens: int | None = None
    thinking: bool | None = None
    queue_s: float | None = None
    ttft_s: float | None = None
    prefill_s: float | None = None
    image_encode_s: float | None = None
    decode_s: float | None = None
    total_s: float | None = None
    peak_memory_bytes: int | None = None
    trace: Trace | None = None


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer's verdict: `value` in [0, 1], the `answer` it read (None when it found none), further named `metrics`.

    Raises:
        ValueError: on a value outside [0, 1] or not finite.
    """

    value: float
    correct: bool
    answer: str | None
    metrics: dict[str, float] = {}

    def __post_init__(self) -> None:
        """Refuse what is not a score."""
        for name, value in {"value": self.value, **self.metrics}.items():
            if not (math.isfinite(value) and 0.0 <= value <= 1.0):
                raise ValueError(f"a score lies in [0, 1], but {name} is {value!r}")


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a sample got no output: the error's class name and its message."""

    type: str
    message: str


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="record"):
    """One sample answered by one arm, images shown with `image_changes`; no `score` exactly where `status` is error."""

    sample_id: str
    track: str
    status: Literal["ok", "truncated", "error"]
    groups: dict[str, str] = msgspec.field(name="group", default_factory=dict)
    image_sha256: tuple[str, ...] = ()
    image_changes: tuple[str, ...] = ()
    protocol: str = "default"
    prompt_sha256: str = ""
    seed: int = 0
    attempt: int = 1
    output: str | None = None
    answer: str | None = None
    score: float | None = None
    correct: bool | None = None
    scorer: str = ""
    scorer_version: str = ""
    metrics: dict[str, float] = {}
    finish_reason: Literal["stop", "length"] | None = None
    thinking: bool | None = None
    prompt_tokens: int | None = None
    image_tokens: int | None = None
    completion_tokens: int | None = None
    thinking_tokens: int | None = None
    cached_tokens: int | None = None
    queue_s: float | None = None
    load_s: float | None = None
    ttft_s: float | None = None
    prefill_s: float | None = None
    decode_s: float | None = None
    total_s: float | None = None
    peak_memory_bytes: int | None = None
    error: Failure | None = None
    started_at: str = ""
    host: Host | None = None

    @property
    def is_unparsed(self) -> bool:
        """True when there is an output and no answer could be read from it."""
        return self.status != "error" and self.answer is None

    @property
    def cluster(self) -> str:
        """The same key as `Sample.cluster`."""
        return "+".join(self.image_sha256) or self.sample_id


class Header(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="header"):
    """First line of a journal: whose it is and which inputs it was made from."""

    run: str
    arm: str
    fingerprint: str
    schema: int = SCHEMA


class Session(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="session"):
    """A mark in a journal: a session began or ended `at` (UTC); `loaded_s` is how long the model took to load."""

    event: Literal["start", "end"]
    at: str
    loaded_s: float | None = None


Line = Header | Record | Session | Skip
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


def to_line(value: msgspec.Struct) -> str:
    r"""Return `value` as one line of ASCII JSON without a line end.

    ASCII keeps U+2028 and lone surrogates from splitting or spoiling a line.

    Raises:
        ValueError: when a float is not finite.
    """
    return ascii_json(msgspec.to_builtins(value))


def from_line(line: str, kind: type[_Struct]) -> _Struct:
    """Read one line as `kind`.

    Raises:
        ValueError: when the line is not JSON or a field has the wrong type; the message names the field.
    """
    found: _Struct = read_json(line, kind)
    return found


def journal_entry(line: str) -> Line:
    """Read one journal line, whichever of the four kinds it is.

    Raises:
        ValueError: as `from_line`.
    """
    entry: Line = read_json(line, Line)
    return entry
