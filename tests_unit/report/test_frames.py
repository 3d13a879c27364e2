"""What the check of coordinates says of arms that were started without what their runtime advises for places."""

from collections.abc import Callable

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import build
from bakeoff.tracks import TRACKS
from tests_unit.report.synthetic import TRACK, RunMaker

Answered = Callable[..., list[Record]]
QWEN = "gguf:unsloth/Qwen3-VL-8B-GGUF:Q8_0"


@pytest.mark.parametrize(
    ("places", "model", "args", "is_told"),
    [
        (True, QWEN, [], True),
        (True, QWEN, ["--image-min-tokens=1024"], False),
        (True, QWEN, ["--image-min-tokens", "2048"], False),
        (True, "gguf:LiquidAI/LFM2.5-VL-3B-GGUF:Q8_0", [], False),
        (False, QWEN, [], False),
    ],
)
def test_advice_that_was_not_followed_is_told_where_places_were_asked_for(
    maker: RunMaker,
    answered: Answered,
    monkeypatch: pytest.MonkeyPatch,
    *,
    places: bool,
    model: str,
    args: list[str],
    is_told: bool,
) -> None:
    if places:
        track = msgspec.structs.replace(TRACKS[TRACK], native=TRACKS["refcoco"].native)
        monkeypatch.setitem(TRACKS, TRACK, track)
    run = maker.arm("one", answered(), backend="gguf").arm("two", answered()).write()
    manifest = run.manifest()
    one = manifest.arms["one"]
    one = msgspec.structs.replace(one, model=model, identity={**one.identity, "server_args": args})
    run.write_manifest(msgspec.structs.replace(manifest, arms={**manifest.arms, "one": one}))
    frame = build(run).validity.frame
    text = (
        "one ran without --image-min-tokens 1024, which its runtime advises for qwen3-vl: boxes on small images are off"
    )
    assert (text in frame.reason) is is_told
    assert (frame.state, frame.required) == ("not checked" if is_told else "same", False)
