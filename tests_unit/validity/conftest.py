import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bakeoff.backends import Backend, Settings, open_backend
from bakeoff.models import ModelSpec, resolve_all

Arms = Callable[..., tuple[ModelSpec, Backend]]


@pytest.fixture
def arm(tmp_path: Path) -> Iterator[Arms]:
    """Open a fake arm of that name with these traits; what it says is its question, unless `script` says more."""
    opened: list[Backend] = []

    def make(name: str, script: dict[str, Any] | None = None, **traits: Any) -> tuple[ModelSpec, Backend]:
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({**(script or {}), "traits": traits}), "utf-8")
        (spec,) = resolve_all([f"fake:{path}"])
        settings = Settings(context_tokens=4096, log_path=tmp_path / "log", progress=lambda _: None)
        backend = open_backend(spec, settings)
        opened.append(backend)
        return spec, backend

    yield make
    for backend in opened:
        backend.close()
