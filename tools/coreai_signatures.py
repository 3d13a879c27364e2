"""Writes down names, arguments and awaitables of Core AI's published runtime interface, for the tests' double.

    python -m tools.coreai_signatures <folder of coreai/runtime, unpacked from the wheel>

Nothing is imported: the sources are read, so this works where the runtime does not.
"""

import ast
import json
import sys
from pathlib import Path
from typing import Any

FILES = ("__init__.pyi", "_aimodel.py", "_inference_function.py", "_ndarray.py", "_specialization_options.py")
CLASSES = (
    *("AIModel", "InferenceFunction", "NDArray", "SpecializationOptions", "StorageKind"),
    *("InferenceFunctionDescriptor", "NDArrayDescriptor"),
)
SIGNATURES = Path(__file__).parents[1] / "tests_unit" / "doubles" / "coreai_signatures.json"


def signatures(folder: Path) -> dict[str, dict[str, Any]]:
    """Return class -> public member -> `{kind, is_async, arguments}`; a constant of an enumeration is its value."""
    found: dict[str, dict[str, Any]] = {}
    for name in FILES:
        for node in ast.parse((folder / name).read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name in CLASSES:
                found[node.name] = _members(node)
    return {name: found[name] for name in CLASSES}


def _members(node: ast.ClassDef) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for part in node.body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and (
            part.name in {"__init__", "__call__"} or not part.name.startswith("_")
        ):
            members[part.name] = _function(part)
        elif isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant) and node.name == "StorageKind":
            members[ast.unparse(part.targets[0])] = part.value.value
    return members


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, Any]:
    kinds = {"property", "cached_property", "classmethod", "staticmethod"}
    kind = next((name for mark in node.decorator_list if (name := ast.unparse(mark)) in kinds), "method")
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    required = len(names) - len(node.args.defaults)
    arguments = [[name, place >= required] for place, name in enumerate(names)]
    keywords = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return {
        "kind": kind,
        "is_async": isinstance(node, ast.AsyncFunctionDef),
        "arguments": arguments if kind == "staticmethod" else arguments[1:],
        "keywords": [[argument.arg, default is not None] for argument, default in keywords],
    }


if __name__ == "__main__":
    SIGNATURES.write_text(json.dumps(signatures(Path(sys.argv[1])), indent=1, sort_keys=True) + "\n", "utf-8")
