"""A small dataset of our own, a track that is made from it, and a bench on which it is prepared."""

import io
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from PIL import Image as Pillow

from bakeoff.metrics import mean_metric
from bakeoff.prepare import Consent, Link, Manifest, Screen, freeze, read_requests
from bakeoff.records import Image, Sample, TextTarget
from bakeoff.scorers import SCORERS
from bakeoff.tracks import Protocol, Track, images_then_text
from bakeoff.tracks.source import Row, Source, Split
from tests_unit.doubles.data_hub import IMAGE, DataHub, write_card, write_shards

REPOSITORY = "org/Pages"
ROWS = 60
SCHEMA = pa.schema([("name", pa.string()), ("answers", pa.list_(pa.string())), ("image", IMAGE), ("image_2", IMAGE)])


def picture(seed: int, kind: str = "PNG", size: tuple[int, int] = (72, 48)) -> bytes:
    """Return an image of noise, which no codec makes smaller."""
    noise = random.Random(seed).randbytes(size[0] * size[1] * 3)  # noqa: S311 - noise to repeat
    file = io.BytesIO()
    Pillow.frombytes("RGB", size, noise).save(file, kind)
    return file.getvalue()


def dataset_rows() -> list[dict[str, Any]]:
    """Pages shared by two questions each, every fifth a JPEG, every fourth question with a second image."""
    return [
        {
            "name": f"q{i}",
            "answers": [f"answer {i}"],
            "image": {"bytes": picture(i // 2, "JPEG" if i // 2 % 5 == 0 else "PNG"), "path": f"page{i // 2}.png"},
            "image_2": {"bytes": picture(1000 + i), "path": None} if i % 4 == 0 else None,
        }
        for i in range(ROWS)
    ]


def write_repository(root: Path, rows: Sequence[dict[str, Any]], schema: Any = SCHEMA) -> None:
    folder = root / REPOSITORY
    write_shards(folder, "data/validation", rows, schema, shards=2, group_rows=10)
    write_shards(folder, "data/test", rows[:3], schema)
    write_card(folder, {"default": {"validation": "data/validation-*", "test": "data/test-*"}})


def choose(rows: Sequence[Row], size: str | int) -> list[Row]:
    n = {"full": len(rows), "subset": 6}[size] if isinstance(size, str) else size
    return list(rows[:n])[::-1]


def build(row: Row, images: tuple[Image, ...]) -> Sample | None:
    if row.values["name"] == "q3":
        return None
    target = TextTarget(answers=tuple(row.values["answers"]))
    groups = {"pictures": str(len(images))}
    return Sample(
        id=f"pages_{row.values['name']}", track="pages", question="?", target=target, images=images, groups=groups
    )


SOURCE = Source(
    splits=(
        Split(label="val", repository=REPOSITORY, config="default", split="validation", revision="f" * 40, rows=ROWS),
    ),
    columns={"name": (str,), "answers": (list,)},
    image_columns=("image", "image_2"),
    default="subset",
    choose=choose,
    build=build,
)


class _Ear(Screen):
    """Keeps what is said."""

    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def say(self, text: str) -> None:
        self._said.append(text)


class Bench:
    """A hub, a track, its folder, and what preparing it said."""

    def __init__(self, hub: DataHub, folder: Path) -> None:
        self.hub = hub
        self.folder = folder
        self.said: list[str] = []
        self.waited: list[float] = []
        self.source = SOURCE
        self.census: dict[str, dict[str, int]] = {}
        self.link: Link | None = None

    @property
    def track(self) -> Track:
        return Track(
            name="pages",
            title="Pages",
            version="1",
            citation="none",
            dataset=REPOSITORY,
            revision="f" * 40,
            licence="MIT",
            official_metric="accuracy",
            full=ROWS,
            protocols=(
                Protocol(name="default", render=images_then_text, max_tokens=8, scorer=lambda _: SCORERS["anls"]),
            ),
            dimensions=("pictures",),
            census=self.census,
            metrics=lambda records: {"anls": mean_metric(records)},
            source=self.source,
            folder=lambda: self.folder,
        )

    def new_link(self, **settings: Any) -> Link:
        settings = {"stall_s": 5.0, "workers": 1, "sleep": self.waited.append, **settings}
        self.link = Link(endpoint=self.hub.endpoint, say=self.said.append, **settings)
        return self.link

    def prepare(
        self, *words: str, revisions: Sequence[str] = (), link: Link | None = None, **consent: bool
    ) -> Manifest | None:
        (request,) = read_requests(words or ("pages",), revisions, {"pages": self.track})
        return freeze(
            request, self.folder, link=link or self.new_link(), screen=_Ear(self.said), consent=Consent(**consent)
        )

    def files(self) -> dict[str, bytes]:
        """Everything in the track's folder that a run reads."""
        kept = (path for path in self.folder.rglob("*") if path.is_file() and path.name != ".prepare.lock")
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in sorted(kept)}

    def change(self, **fields: Any) -> None:
        """Change fields of the source."""
        self.source = msgspec.structs.replace(self.source, **fields)
