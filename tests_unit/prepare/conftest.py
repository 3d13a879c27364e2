"""A hub of our own with a small dataset on it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests_unit.doubles.data_hub import data_hub
from tests_unit.prepare.pages import SCHEMA, Bench, dataset_rows, write_repository


@pytest.fixture(scope="session")
def repository_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hub")
    write_repository(root, dataset_rows())
    return root


@pytest.fixture(autouse=True)
def no_other_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The client asks huggingface.co which agents there are; a test asks nobody but its own hub.
    monkeypatch.setattr("huggingface_hub.utils._detect_agent._fetch_registry", lambda: None, raising=False)
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "")  # these two are switched by a stall, and are put back
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub-cache"))


@pytest.fixture
def bench(repository_root: Path, tmp_path: Path) -> Iterator[Bench]:
    with data_hub(repository_root) as hub:
        yield Bench(hub, tmp_path / "pages")


@pytest.fixture
def bench_of(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """A bench over other rows or another schema."""
    root = tmp_path / "own-hub"
    with data_hub(root) as hub:

        def make(rows: Sequence[dict[str, Any]], schema: Any = SCHEMA) -> Bench:
            write_repository(root, rows, schema)
            return Bench(hub, tmp_path / "pages")

        yield make
