"""`bakeoff models`: every name and form, each with its backend and whether it can run here."""

import pytest

from bakeoff.backends import BACKENDS, availability
from bakeoff.models import ALIASES, FORMS, resolve
from tests_unit.commands.conftest import Cli


def cells(text: str) -> list[str]:
    """The text of each column, put together again where a narrow screen folds it, without blanks."""
    lines = text.splitlines()
    starts = [lines[0].index(heading) for heading in ("name", "backend", "from", "here")]
    ends = [*starts[1:], None]
    return [
        "".join(line[start:end] for line in lines).replace(" ", "") for start, end in zip(starts, ends, strict=True)
    ]


@pytest.mark.parametrize("columns", ["80", "200"])
def test_every_name_is_told_whole_with_backend_and_reason(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setattr("bakeoff.cli._console.width", int(columns), raising=False)
    told = cli("models")
    assert told.exit_code == 0
    names, backends, places, here = cells(told.output)
    for name in (*ALIASES, *FORMS):
        assert name.replace(" ", "") in names
    for backend in BACKENDS.keys() - {"fake"}:
        assert backend in backends
        if reason := availability(backend):
            assert f"no:{reason}".replace(" ", "") in here
    assert all(resolve(name).location in places for name in ("8bit", "gguf-q8", "coreai"))


def test_every_kind_of_model_but_the_scripted_one_has_a_name_or_a_form() -> None:
    kinds = {resolve(name).backend for name in ALIASES} | set(FORMS.values())
    assert kinds == BACKENDS.keys() - {"fake"}
