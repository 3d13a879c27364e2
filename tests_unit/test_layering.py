"""No module imports upward or sideways, and the heavy packages stay in the modules that need them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "bakeoff"

LAYERS: dict[str, float] = {
    "": 0,  # the version
    "hashing": -1,
    "wording": -1,
    "lines": -1,  # how records are written and read
    "skips": -1,  # one of the lines that records read
    "traces": -1,  # a part of the Output in records
    "hosts": -1,  # a part of the Record in records
    "errors": 0,
    "records": 0,
    "paths": 0,
    "files": 0,
    "pictures": 0,
    "environment": 1,
    "text": 1,
    "geometry": 1,
    "stats": 1,
    "scorers": 2,
    "metrics": 2,
    "families": 2,
    "thinking": 2.1,  # the marks of all families
    "sharding": 1,
    "tracks": 3,
    "spec": 3,
    "weights": 3,
    "hub": 3.1,  # finds the files that a ModelSpec names
    "backends": 3.2,  # opens a ModelSpec's files
    "models": 3.3,  # reads names as the backends declare them
    "journal": 4,
    "engine": 4,
    "evaluate": 4.1,  # turns the engine's answer into a record
    "runs": 4.1,  # the journal's folder
    "speed": 4.2,  # times backends, into the run's folder
    "prepare": 4,
    "validity": 5,
    "report": 5.1,  # shows what validity found
    "export": 5.2,  # writes what the report shows in the forms of others
    "plugin": 6,
    "web": 6,
    "commands": 6.1,  # what the command line does, one command a file
    "cli": 7,
    "__main__": 8,
}

HEAVY = {
    "mlx",
    "mlx_vlm",
    "xllamacpp",
    "datasets",
    "matplotlib",
    "starlette",
    "torch",
    "transformers",
    "coreai",
    "litert_lm",
}
HEAVY_ALLOWED = {
    "backends/coreai/prompts.py": {"transformers"},
    "backends/coreai/runtime.py": {"coreai"},
    "backends/litert/backend.py": {"litert_lm"},
    "backends/mlx/backend.py": {"mlx", "mlx_vlm"},
    "backends/mlx/batch.py": {"mlx", "mlx_vlm"},
    "backends/mlx/layouts.py": {"transformers"},
    "backends/mlx/memory.py": {"mlx"},
    "backends/mlx/plain.py": {"mlx", "mlx_vlm"},
    "backends/mlx/prompts.py": {"mlx_vlm"},
    "backends/mlx/reuse.py": {"mlx"},
    "backends/mlx/rows.py": {"mlx", "mlx_vlm"},
    "backends/mlx/sampling.py": {"mlx", "mlx_vlm"},
    "backends/mlx/trace.py": {"mlx", "mlx_vlm"},
    "backends/hf/model.py": {"torch", "transformers"},
    "backends/llama/child.py": {"xllamacpp"},
    "report/plots.py": {"matplotlib"},
    "web/app.py": {"starlette"},
}

MODULES = sorted(PACKAGE.rglob("*.py"))


def imports_of(module: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{module}: imports are absolute"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def part_of(dotted: str) -> str:
    pieces = dotted.split(".")
    return pieces[1] if len(pieces) > 1 and pieces[1] in LAYERS else ""


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(module: Path) -> None:
    relative = module.relative_to(PACKAGE)
    own = "" if relative.name == "__init__.py" and len(relative.parts) == 1 else relative.parts[0].removesuffix(".py")
    assert own in LAYERS, f"{own} has no layer: add it to LAYERS with its place"
    for name in imports_of(module):
        if name.partition(".")[0] == "bakeoff" and (part := part_of(name)) != own:
            assert LAYERS[part] < LAYERS[own] or part in {"", "errors", "records", "paths", "files"}, (
                f"{own} must not import {name}"
            )


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_packages_stay_where_they_are_needed(module: Path) -> None:
    allowed = HEAVY_ALLOWED.get(module.relative_to(PACKAGE).as_posix(), set())
    heavy = {name.partition(".")[0] for name in imports_of(module)} & HEAVY
    assert heavy <= allowed


@pytest.mark.parametrize("name", ["tracks", "backends", "models", "plugin", "report", "web.arms", "cli"])
def test_importing_without_a_runtime(name: str) -> None:
    code = f"import sys, bakeoff.{name}; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_stay_short(module: Path) -> None:
    assert module.read_text("utf-8").count("\n") <= 300
