"""Which files hold a split: by the card, else by their names."""

import pytest

from bakeoff.prepare.layout import data_files
from bakeoff.prepare.problems import SchemaChanged

PATHS = [
    "README.md",
    "data/test-00000-of-00002.parquet",
    "data/test-00001-of-00002.parquet",
    "data/testA-00000-of-00001.parquet",
    "data/val-00000-of-00001-725687bf7a18d64b.parquet",
    "Task_A/val-00000-of-00001.parquet",
    "Task_AB/val-00000-of-00001.parquet",
    "main/test/0000.parquet",
    "odd/place.parquet",
]


def found(config: str, split: str, card: str = "") -> list[str]:
    return data_files(PATHS, card, repository="org/x", config=config, split=split)


@pytest.mark.parametrize(
    ("config", "split", "expected"),
    [
        ("default", "test", ["data/test-00000-of-00002.parquet", "data/test-00001-of-00002.parquet"]),
        ("default", "testA", ["data/testA-00000-of-00001.parquet"]),
        ("default", "val", ["data/val-00000-of-00001-725687bf7a18d64b.parquet"]),
        ("Task_A", "val", ["Task_A/val-00000-of-00001.parquet"]),
        ("main", "test", ["main/test/0000.parquet"]),
    ],
)
def test_names_tell_where_no_card_does(config: str, split: str, expected: list[str]) -> None:
    assert found(config, split) == expected


def card(data_files: str) -> str:
    return f"---\nlicense: mit\nconfigs:\n- config_name: default\n  data_files: {data_files}\n---\n# Title\n"


@pytest.mark.parametrize(
    ("text", "split"),
    [
        (card("[{split: val, path: odd/*}]"), "val"),
        (card("[{split: val, path: [odd/place.parquet]}]"), "val"),
        (card("odd/*.parquet"), "train"),
        (card("[odd/*.parquet]"), "train"),
        (card("[{split: val, path: '*.parquet'}]\n  data_dir: odd"), "val"),
        (card("[{split: val, path: odd/*}]").replace("\n", "\r\n"), "val"),
    ],
)
def test_the_card_comes_first(text: str, split: str) -> None:
    assert found("default", split, text) == ["odd/place.parquet"]


@pytest.mark.parametrize("text", ["# no head", "---\n: [broken\n---\n", "---\nconfigs: none\n---\n", "---\n- 1\n---\n"])
def test_a_card_that_says_nothing_leaves_it_to_the_names(text: str) -> None:
    assert found("Task_A", "val", text) == ["Task_A/val-00000-of-00001.parquet"]


def test_a_card_without_the_split_is_believed() -> None:
    with pytest.raises(SchemaChanged, match=r"no parquet files for split 'val'.*It has Task_A/val"):
        found("default", "val", card("[{split: test, path: data/test-*}]"))


def test_a_repository_without_parquet_says_so() -> None:
    with pytest.raises(SchemaChanged, match="It has no parquet file at all"):
        data_files(["a.zip"], "", repository="org/x", config="default", split="val")
