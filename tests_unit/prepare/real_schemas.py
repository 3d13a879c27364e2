"""The datasets of the tracks, row for row as many as on the hub, with their columns and types, on small drawn pictures.

Columns, types, counts and defects are those of the datasets' cards and loaders; the contents are made up.
"""

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from PIL import ExifTags, Image as Pillow, ImageDraw

from bakeoff.tracks.source import Split
from tests_unit.doubles.data_hub import IMAGE, write_card, write_shards

TEXT, TEXTS = pa.string(), pa.list_(pa.string())
SIZES = ((160, 120), (80, 170), (120, 120), (64, 48))
TURNED = 6  # the EXIF orientation of a photo taken upright
Rows = Callable[[Split], list[dict[str, Any]]]


def _picture(number: int, mode: str, kind: str) -> dict[str, Any]:
    """Draw a page with lines of text, a field to press and a photo, as a dataset's file of this mode and kind."""
    width, height = SIZES[number % len(SIZES)]
    image = Pillow.new("RGB", (width, height), (250, 250 - 8 * number, 240))
    photo = Pillow.linear_gradient("L").resize((width // 2, height // 3))
    image.paste(Pillow.merge("RGB", (photo, photo.rotate(90, expand=False), photo)), (width // 3, height // 2))
    draw = ImageDraw.Draw(image)
    for line in range(height // 24):
        draw.text((4, 12 * line), f"{number}.{line} Total 4{line},{number}00", fill=(20, 20, 90))
    draw.rectangle((width // 2, 4, width - 4, 20), outline=(200, 30, 30), fill=(255, 220, 120))
    options: dict[str, Any] = {}
    if mode in {"RGBA", "LA"}:
        image = image.convert(mode)
        image.putalpha(Pillow.radial_gradient("L").resize(image.size))
    elif mode == "P":
        image, options = image.quantize(16), {"transparency": 0}
    elif mode == "turned":
        options = {"exif": Pillow.Exif()}
        options["exif"][ExifTags.Base.Orientation] = TURNED
    else:
        image = image.convert(mode)
    file = io.BytesIO()
    image.save(file, kind, **({"quality": 40} if kind == "JPEG" else {}), **options)
    return {"bytes": file.getvalue(), "path": f"{number}.{kind.lower()}"}


PICTURES = [
    _picture(number, mode, kind)
    for number, (mode, kind) in enumerate(
        [
            *(("RGB", "PNG"), ("RGB", "JPEG"), ("L", "JPEG"), ("RGBA", "PNG"), ("P", "PNG"), ("turned", "JPEG")),
            *(("CMYK", "JPEG"), ("L", "PNG"), ("LA", "PNG"), ("RGB", "JPEG"), ("1", "PNG"), ("RGB", "PNG")),
        ]
    )
]
"""Of several sizes, and in every mode and form that the datasets hold."""


def picture(index: int) -> dict[str, Any]:
    return PICTURES[index % len(PICTURES)]


def _screenspot(split: Split) -> list[dict[str, Any]]:
    cells = [("pc", "windows", 194, 140), ("mobile", "ios", 290, 211), ("web", "gitlab", 234, 203)]
    rows = [
        {
            "file_name": f"{prefix}_{number // 2}.png",
            "bbox": [0.25, 0.5, 0.75, 0.625],
            "instruction": f"open item {number}",
            "data_type": "text" if number < texts else "icon",
            "data_source": "shop" if number % 9 == 0 and prefix != "web" else source,
            "image": picture(number // 2),
        }
        for prefix, source, texts, icons in cells
        for number in range(texts + icons)
    ]
    assert len(rows) == split.rows
    return rows


def _refcoco(split: Split) -> list[dict[str, Any]]:
    return [
        {
            "question_id": f"{i + 1000}",
            "image": picture(i // 3),
            "question": "Please carefully observe the area circled in the image and come up with a caption for it.",
            "answer": [f"left thing {i}", f"thing {i}"] if i % 2 else [f"thing {i}"],
            "segmentation": [1.0, 2.0, 3.5, 4.0],
            "bbox": [1.5, 2.0, 30.25, 20.5],
            "iscrowd": 0,
            "file_name": f"COCO_train2014_{i // 3:012}_{i % 3}.jpg",
        }
        for i in range(split.rows)
    ]


def _pages(split: Split) -> list[dict[str, Any]]:
    shared = [
        {
            "questionId": f"{40000 + i}",
            "question": f"What is the number {i}?",
            "answers": [f"{i}", f"no. {i}"],
            "image": picture(i // 4),
            "data_split": "val",
        }
        for i in range(split.rows)
    ]
    if split.config == "DocVQA":
        return [
            {
                **row,
                "question_types": ["handwritten", "form"] if i % 2 else ["table/list"],
                "docId": i // 4,
                "ucsf_document_id": f"doc{i // 4}",
                "ucsf_document_page_no": "1",
            }
            for i, row in enumerate(shared)
        ]
    return [
        {
            **row,
            "answer_type": ["single span"] if i % 3 else ["multi-span", "question span"],
            "image_url": f"https://example.org/{i}.jpg",
            "operation/reasoning": ["Counting"],
            "ocr": '{"PAGE": []}',
        }
        for i, row in enumerate(shared)
    ]


def _blink(split: Split) -> list[dict[str, Any]]:
    is_bare = split.config == "Relative_Reflectance"
    images = {"Forensic_Detection": 4, "Jigsaw": 3, "Art_Style": 3, "Visual_Similarity": 3, "Multi-view_Reasoning": 2}
    letters = "ABC" if is_bare else "AB"
    return [
        {
            "idx": f"val_{split.config}_{i + 1}",
            "question": "Which one?",
            "sub_task": split.config.replace("_", " "),
            **{f"image_{n}": picture(i + n) if n <= images.get(split.config, 1) else None for n in range(1, 5)},
            "choices": [f"{letter} is it" for letter in letters],
            "answer": letters[i % len(letters)] if is_bare else f"({letters[i % 2]})",
            "prompt": "Which one?\nSelect from the following choices.\n(A) A is it\n(B) B is it",
            "explanation": None,
        }
        for i in range(split.rows)
    ]


def _mathvista(split: Split) -> list[dict[str, Any]]:
    kinds = [*["text"] * 540, *["integer"] * 418, *["float"] * 40, *["list"] * 2]
    assert len(kinds) == split.rows
    gold = {"text": "145°", "integer": "14", "float": "1.2", "list": "[2014, 2016]"}
    return [
        {
            "pid": f"{i + 1}",
            "question": f"How much is {i}?",
            "image": f"images/{i + 1}.jpg",
            "decoded_image": picture(i),
            "choices": ["135°", "145°", "150°"] if kind == "text" else None,
            "unit": "years" if i % 20 == 0 else None,
            "precision": 1.0 if kind == "float" else None,
            "answer": gold[kind],
            "question_type": "multi_choice" if kind == "text" else "free_form",
            "answer_type": kind,
            "metadata": {"split": "testmini", "language": "english", "task": "geometry problem solving"}
            | {"img_width": 64, "img_height": 48, "grade": "high school", "skills": ["arithmetic reasoning"]},
            "query": f"Hint: Please answer the question.\nQuestion: How much is {i}?",
        }
        for i, kind in enumerate(kinds)
    ]


OPEN_QUESTIONS = (
    {"Architecture_and_Engineering": 1, "Basic_Medical_Science": 2, "Biology": 1, "Chemistry": 7, "Computer_Science": 3}
    | {"Economics": 1, "Electronics": 14, "Finance": 8, "Geography": 3, "Manage": 6, "Marketing": 1, "Math": 1}
    | {"Pharmacy": 3, "Physics": 1, "Psychology": 1}
)


def _mmmu(split: Split) -> list[dict[str, Any]]:
    first_open = split.rows - OPEN_QUESTIONS.get(split.config, 0)
    return [
        {
            "id": f"validation_{split.config}_{i + 1}",
            "question": f"<image 1> What is shown{' beside <image 2>' if i % 10 == 0 else ''}?",
            "options": "['one, or', 'two', '\\'three\\'', '<image 1>']" if i < first_open else "[]",
            "explanation": "",
            **{f"image_{n}": picture(i + n) if n <= 1 + (i % 10 == 0) else None for n in range(1, 8)},
            "img_type": "['Diagrams']",
            "answer": "ABCD"[i % 4] if i < first_open else ("['8', 'eight']" if i % 2 else "8"),
            "topic_difficulty": "Medium",
            "question_type": "multiple-choice" if i < first_open else "open",
            "subfield": "Any",
        }
        for i in range(split.rows)
    ]


def _gsm8k(split: Split) -> list[dict[str, Any]]:
    return [
        {"question": f"What is {i} + 1000?", "answer": f"{i} + 1000 = <<{i}+1000={i + 1000}>>\n#### {i + 1000:,}"}
        for i in range(split.rows)
    ]


def _schema(fields: dict[str, Any]) -> Any:
    return pa.schema(list(fields.items()))


_PAGE = {"questionId": TEXT, "question": TEXT, "answers": TEXTS, "image": IMAGE, "data_split": TEXT}
_DOCUMENT = {"question_types": TEXTS, "docId": pa.int64(), "ucsf_document_id": TEXT, "ucsf_document_page_no": TEXT}
_FLOATS = pa.list_(pa.float32())
_REGION = {"question_id": TEXT, "image": IMAGE, "question": TEXT, "answer": TEXTS, "segmentation": _FLOATS} | {
    "bbox": _FLOATS,
    "iscrowd": pa.int8(),
    "file_name": TEXT,
}
_METADATA = pa.struct(
    {"split": TEXT, "language": TEXT, "img_width": pa.int64(), "img_height": pa.int64()}
    | dict.fromkeys(("source", "category", "task", "context", "grade"), TEXT)
    | {"skills": TEXTS}
)

DATASETS: dict[tuple[str, str], tuple[Rows, Any]] = {
    ("HongxinLi/ScreenSpot_v2", ""): (
        _screenspot,
        _schema(
            {"file_name": TEXT, "bbox": pa.list_(pa.float64()), "instruction": TEXT}
            | {"data_type": TEXT, "data_source": TEXT, "image": IMAGE}
        ),
    ),
    ("lmms-lab-encoder/RefCOCO", ""): (_refcoco, _schema(_REGION)),
    ("lmms-lab-encoder/RefCOCOplus", ""): (_refcoco, _schema(_REGION)),
    ("lmms-lab-encoder/RefCOCOg", ""): (_refcoco, _schema(_REGION)),
    ("lmms-lab-encoder/DocVQA", "DocVQA"): (_pages, _schema(_PAGE | _DOCUMENT)),
    ("lmms-lab-encoder/DocVQA", "InfographicVQA"): (
        _pages,
        _schema(_PAGE | {"answer_type": TEXTS, "image_url": TEXT, "operation/reasoning": TEXTS, "ocr": TEXT}),
    ),
    ("BLINK-Benchmark/BLINK", ""): (
        _blink,
        _schema(
            {"idx": TEXT, "question": TEXT, "sub_task": TEXT, **{f"image_{n}": IMAGE for n in range(1, 5)}}
            | {"choices": TEXTS, "answer": TEXT, "prompt": TEXT, "explanation": TEXT}
        ),
    ),
    ("AI4Math/MathVista", ""): (
        _mathvista,
        _schema(
            {"pid": TEXT, "question": TEXT, "image": TEXT, "decoded_image": IMAGE, "choices": TEXTS, "unit": TEXT}
            | {"precision": pa.float64(), "answer": TEXT, "question_type": TEXT, "answer_type": TEXT}
            | {"metadata": _METADATA, "query": TEXT}
        ),
    ),
    ("MMMU/MMMU", ""): (
        _mmmu,
        _schema(
            {"id": TEXT, "question": TEXT, "options": TEXT, "explanation": TEXT}
            | {f"image_{n}": IMAGE for n in range(1, 8)}
            | dict.fromkeys(("img_type", "answer", "topic_difficulty", "question_type", "subfield"), TEXT)
        ),
    ),
    ("openai/gsm8k", ""): (_gsm8k, _schema({"question": TEXT, "answer": TEXT})),
}
"""Rows and schema by repository and configuration, the empty one standing for any."""

WITHOUT_CARD = {"HongxinLi/ScreenSpot_v2"}
"""Repositories whose README.md names no files, so that the names of the files must do."""


def write_datasets(root: Path, splits: Iterable[Split]) -> None:
    """Write the repositories of `splits` below `root`, each with a split that no track reads."""
    by_repository: dict[str, list[Split]] = {}
    for split in splits:
        by_repository.setdefault(split.repository, []).append(split)
    for repository, members in by_repository.items():
        for split in members:
            rows, schema = DATASETS.get((repository, split.config)) or DATASETS[repository, ""]
            stem = f"{_folder(split)}/{split.split}"
            write_shards(root / repository, stem, rows(split), schema, shards=1 + (split.rows > 1000))
            write_shards(root / repository, f"{_folder(split)}/train", [], schema)
        if repository not in WITHOUT_CARD:
            write_card(root / repository, _card(members))


def _folder(split: Split) -> str:
    return "data" if split.config == "default" else split.config


def _card(splits: Sequence[Split]) -> dict[str, dict[str, str]]:
    card: dict[str, dict[str, str]] = {}
    for split in splits:
        files = card.setdefault(split.config, {"train": f"{_folder(split)}/train-*"})
        files[split.split] = f"{_folder(split)}/{split.split}-*"
    return card
