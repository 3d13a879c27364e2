"""The double has the published interface, and our code uses nothing else of the runtime.

`doubles/coreai_signatures.json` holds names, arguments and awaitables that `tools/coreai_signatures.py` read from the
wheel's own sources. Where `BAKEOFF_COREAI_PYI` names an unpacked `coreai/runtime`, they are read from it again.
"""

import ast
import inspect
import json
import os
from pathlib import Path
from typing import Any

import pytest

from bakeoff.backends.coreai import runtime as ours
from tests_unit.doubles import coreai_runtime as double
from tools.coreai_signatures import SIGNATURES, signatures

PUBLISHED: dict[str, dict[str, Any]] = json.loads(SIGNATURES.read_text("utf-8"))


@pytest.mark.skipif("BAKEOFF_COREAI_PYI" not in os.environ, reason="BAKEOFF_COREAI_PYI names no unpacked runtime")
def test_the_written_down_interface_is_that_of_the_wheel() -> None:
    assert signatures(Path(os.environ["BAKEOFF_COREAI_PYI"])) == PUBLISHED


def members(kind: type) -> list[str]:
    return [name for name in vars(kind) if name in {"__init__", "__call__"} or not name.startswith("_")]


DOUBLED = [(name, member) for name in PUBLISHED if hasattr(double, name) for member in members(getattr(double, name))]


def test_every_published_class_has_a_double() -> None:
    assert {name for name, _ in DOUBLED} == set(PUBLISHED)


@pytest.mark.parametrize(("name", "member"), DOUBLED, ids=[f"{name}.{member}" for name, member in DOUBLED])
def test_the_double_is_called_as_the_runtime_is(name: str, member: str) -> None:
    if member == "__init__" and member not in PUBLISHED[name]:
        return  # the runtime makes descriptors itself
    stated, found = PUBLISHED[name][member], inspect.getattr_static(getattr(double, name), member)
    if not isinstance(stated, dict):
        assert found.value == stated
        return
    kinds = {property: "property", classmethod: "classmethod", staticmethod: "staticmethod"}
    assert kinds.get(type(found), "method") == stated["kind"].replace("cached_", "")
    function: Any = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
    assert inspect.iscoroutinefunction(function) == stated["is_async"]
    arguments = list(inspect.signature(function).parameters.values())[1:]
    assert [[argument.name, argument.default is not argument.empty] for argument in arguments] == stated["arguments"]


def test_nothing_else_of_the_runtime_is_used() -> None:
    """Every attribute that our one module asks of the runtime's objects is a published one."""
    tree = ast.parse(Path(ours.__file__).read_text("utf-8"))
    roots = {"self._coreai", "model", "function", "stated", "descriptor", "values"}
    used = {
        node.attr: ast.unparse(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and (ast.unparse(node.value) in roots or ast.unparse(node.value).startswith("self._coreai."))
    }
    published = {*PUBLISHED, *(member for kind in PUBLISHED.values() for member in kind)}
    assert used.keys() >= {"AIModel", "load", "NDArray", "default", "function_names", "load_function", "desc", "numpy"}
    assert used.keys() <= published
