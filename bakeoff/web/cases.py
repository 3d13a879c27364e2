"""Custom cases in the app: listing, checking, trying an answer, saving; the files are those of docs/custom-cases.md."""

import base64
import binascii
import hashlib
import json
import re
import tempfile
from pathlib import Path
from typing import Annotated, Any

import filelock
import msgspec
from msgspec import Meta

from bakeoff.errors import BakeoffError, DataMissing
from bakeoff.files import write_atomically
from bakeoff.models import safe_name
from bakeoff.paths import data_dir
from bakeoff.records import Sample
from bakeoff.tracks.cases import Case, read_file
from bakeoff.tracks.custom import load, sample_of, scorer_of
from bakeoff.web.pictures import media_type
from bakeoff.web.problems import Refusal

_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.json")
_SUFFIX = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif", "image/bmp": ".bmp"}
Fields = dict[str, Any]


class SaveCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case in the documented form, and the file it goes into; `replaces` is the id of the case that it replaces."""

    case: Fields
    file: Annotated[str, Meta(max_length=80)] = "cases.json"
    replaces: Annotated[str, Meta(max_length=200)] | None = None


class TryCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case, and an output to score by its rule, or a model to ask."""

    case: Fields
    output: Annotated[str, Meta(max_length=100_000)] | None = None
    model: Annotated[str, Meta(min_length=1, max_length=500)] | None = None


class DeleteCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The case with this id goes out of this file."""

    id: Annotated[str, Meta(max_length=200)]
    file: Annotated[str, Meta(max_length=80)]


class NewImage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A picture, its bytes in base64, and the name it had."""

    name: Annotated[str, Meta(max_length=300)]
    data: str


def listed() -> dict[str, Any]:
    """Return every case as it stands in its file, and the files that cannot be read with the reason."""
    folder = data_dir() / "tasks"
    cases, problems = [], []
    for file in sorted(folder.glob("*.json")):
        try:
            read_file(file)
        except DataMissing as problem:
            problems.append({"file": file.name, "problem": _plain(str(problem), file)})
        except OSError as problem:
            problems.append({"file": file.name, "problem": str(problem)})
        cases += [{"file": file.name, "case": item} for item in _items(file) if isinstance(item, dict)]
    return {"folder": str(folder), "images": str(folder.parent / "images"), "cases": cases, "problems": problems}


def check(fields: Fields) -> tuple[Case, Sample]:
    """Return a case and its sample.

    Raises:
        Refusal: naming the field that is wrong, what was expected there and what was found.
    """
    with tempfile.TemporaryDirectory(prefix="bakeoff-case-") as folder:
        file = Path(folder) / "case.json"
        try:
            file.write_text(json.dumps([fields]), "utf-8")
            (case,) = read_file(file)
            return case, _sample(case)
        except DataMissing as problem:
            raise Refusal(400, _plain(str(problem), file), _field(str(problem))) from problem
        except (OSError, ValueError, RecursionError) as problem:  # a name that no file can have, a text that is none
            raise Refusal(400, f"the case cannot be read: {problem}", "case") from problem


def _sample(case: Case) -> Sample:
    from bakeoff.tracks import custom  # noqa: PLC0415 -- its reader of images is not part of its surface

    return sample_of(case, custom._images(case, data_dir() / "images"))  # noqa: SLF001 -- as above


def try_output(fields: Fields, output: str) -> dict[str, Any]:
    """Return what the case's rule makes of an output."""
    _, sample = check(fields)
    scorer = scorer_of(sample)
    score = scorer.score(output, sample.target)
    return {
        "score": score.value,
        "correct": score.correct,
        "answer": score.answer,
        "scorer": f"{scorer.name}, version {scorer.version}",
        "metrics": score.metrics,
    }


def save(asked: SaveCase) -> dict[str, Any]:
    """Write a case into its file, among those that are there.

    Raises:
        Refusal: when it is not right, its id is taken, or the file is not ours to write.
    """
    case, _ = check(asked.case)
    file = _file(asked.file)
    file.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(file.parent / ".cases.lock", timeout=10):
        _refuse_broken(file)
        items = _items(file)
        kept = [i for i in items if not (isinstance(i, dict) and i.get("id") in {asked.replaces, case.id} - {None})]
        is_new = case.id != asked.replaces
        if is_new and (where := _holder(case.id)) is not None:
            raise Refusal(409, f"field id: {case.id!r} is taken by a case of {where}", "id")
        place = next((n for n, i in enumerate(items) if isinstance(i, dict) and i.get("id") == asked.replaces), None)
        kept.insert(len(kept) if place is None else place, asked.case)
        write_atomically(file, json.dumps(kept, indent=2, ensure_ascii=False) + "\n")
    warnings = []
    try:
        load()
    except BakeoffError as problem:
        warnings.append(str(problem))
    return {"file": file.name, "id": case.id, "warnings": warnings}


def delete(asked: DeleteCase) -> dict[str, Any]:
    """Take a case out of its file; its pictures stay, as others may use them."""
    file = _file(asked.file)
    with filelock.FileLock(file.parent / ".cases.lock", timeout=10):
        items = _items(file)
        kept = [item for item in items if not (isinstance(item, dict) and item.get("id") == asked.id)]
        if len(kept) == len(items):
            raise Refusal(404, f"{file.name} has no case {asked.id!r}", "id")
        if kept:
            write_atomically(file, json.dumps(kept, indent=2, ensure_ascii=False) + "\n")
        else:
            file.unlink()
    return {"file": file.name, "id": asked.id}


def store_image(asked: NewImage) -> dict[str, Any]:
    """Keep a picture below `data/images/custom`, named for itself and its content.

    Raises:
        Refusal: when it is no picture of a kind that runtimes take.
    """
    from bakeoff.pictures import Unusable, look  # noqa: PLC0415 -- Pillow is for custom cases only

    try:
        content = base64.b64decode(asked.data, validate=True)
    except binascii.Error as error:
        raise Refusal(400, f"field data: not base64: {error}", "data") from error
    kind = media_type(content)
    if kind not in _SUFFIX:
        raise Refusal(400, "that is no PNG, JPEG, WebP, GIF or BMP picture", "data")
    try:
        _, width, height = look(content)
    except Unusable as error:
        raise Refusal(400, f"that picture cannot be read: {error}", "data") from error
    stem = safe_name(Path(asked.name.replace("\\", "/")).stem)[:60]
    name = f"custom/{stem}-{hashlib.sha256(content).hexdigest()[:8]}{_SUFFIX[kind]}"
    write_atomically(data_dir() / "images" / name, content)
    return {"path": name, "width": width, "height": height}


def read_image(path: str) -> tuple[bytes, str]:
    """Return a picture below the image root.

    Raises:
        Refusal: when it is not there or is none.
    """
    root = (data_dir() / "images").resolve()
    try:
        file = (root / path).resolve()
        is_there = file.is_relative_to(root) and file.is_file()
    except (OSError, ValueError):  # a name that no file can have
        is_there = False
    if not is_there:
        raise Refusal(404, f"there is no picture {path!r} below {root}")
    content = file.read_bytes()
    kind = media_type(content)
    if kind is None:
        raise Refusal(404, f"{path!r} is no picture")
    return content, kind


def _file(name: str) -> Path:
    if not _FILE.fullmatch(name):
        raise Refusal(400, "field file: letters, digits, _ and - and then .json", "file")
    return data_dir() / "tasks" / name


def _refuse_broken(file: Path) -> None:
    """Refuse to write over a file that cannot be read: what is in it would be lost."""
    if file.is_file():
        try:
            json.loads(file.read_text("utf-8"))
        except (ValueError, OSError) as error:
            raise Refusal(409, f"{file.name} cannot be read and is left alone: {error}", "file") from error


def _items(file: Path) -> list[Any]:
    if not file.is_file():
        return []
    try:
        content = json.loads(file.read_text("utf-8"))
    except (ValueError, OSError):
        return []
    return content if isinstance(content, list) else [content]


def _holder(name: str) -> str | None:
    files = sorted((data_dir() / "tasks").glob("*.json"))
    return next((f.name for f in files for i in _items(f) if isinstance(i, dict) and i.get("id") == name), None)


def _plain(problem: str, file: Path) -> str:
    """Return a problem without the name of the file it was read from."""
    return re.sub(rf"^{re.escape(str(file))}(, item (?P<n>\d+))?[,:] ", "", problem)


def _field(problem: str) -> str:
    found = re.search(r"field ([\w.\[\]]+):", problem)
    return found[1] if found else "case"
