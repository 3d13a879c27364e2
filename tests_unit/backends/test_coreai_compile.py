"""The decoder is compiled once for each content, and what a stopped compile left is never taken for a result."""

from pathlib import Path

import pytest

from bakeoff.backends.coreai.compile import compiled, newest_first
from bakeoff.backends.coreai.files import bundle_sha256
from bakeoff.errors import UsageProblem
from tests_unit.backends.coreai_cases import compiler


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BAKEOFF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "coreai" / "compiled"


def bundle(folder: Path, content: str = "program") -> Path:
    path = folder / "decode.aimodel"
    path.mkdir(exist_ok=True)
    (path / "main.mlirb").write_text(content, "utf-8")
    return path


def compile_it(raw: Path) -> list[str]:
    found = compiled(raw, bundle_sha256(raw), log_path=raw.parent / "log", progress=lambda _: None)
    return [path.name for path in found]


def test_gpu_families_are_numbers_and_the_newest_comes_first() -> None:
    names = ("m.h9.aimodelc", "m.h20.aimodelc", "h_m.aimodelc", "m.h15g.aimodelc", "m_decode_int8.aimodelc")
    assert [path.name for path in newest_first(Path(name) for name in names)] == [
        *("m.h20.aimodelc", "m.h15g.aimodelc", "m.h9.aimodelc"),
        *("h_m.aimodelc", "m_decode_int8.aimodelc"),
    ]


def test_the_same_content_is_compiled_once(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = compiler(tmp_path / "bin", monkeypatch, families=("h9", "h15"))
    raw = bundle(tmp_path)
    assert compile_it(raw) == compile_it(raw) == ["decode.h15.aimodelc", "decode.h9.aimodelc"]
    (line,) = asked.read_text("utf-8").splitlines()
    assert line.startswith(f"coreai-build compile {raw} --platform macOS --preferred-compute gpu --expect-frequent")
    assert cache.is_dir()


def test_other_content_under_the_same_name_is_compiled_anew(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = compiler(tmp_path / "bin", monkeypatch, families=("h15",))
    compile_it(bundle(tmp_path))
    compile_it(bundle(tmp_path, "another program"))
    assert len(asked.read_text("utf-8").splitlines()) == 2
    assert len([path for path in cache.iterdir() if path.is_dir()]) == 2


def test_what_the_runtime_derives_does_not_change_the_content(tmp_path: Path) -> None:
    raw = bundle(tmp_path)
    before = bundle_sha256(raw)
    (raw / "derived.odix").write_text("x", "utf-8")
    assert bundle_sha256(raw) == before
    (raw / "metadata.json").write_text("{}", "utf-8")
    assert bundle_sha256(raw) != before


def test_a_failed_compile_leaves_nothing_and_is_tried_again(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler(tmp_path / "bad", monkeypatch, families=("h9",), code=3)
    with pytest.raises(UsageProblem, match=r"exit 3"):
        compile_it(bundle(tmp_path))
    assert not [path for path in cache.iterdir() if path.is_dir()]
    compiler(tmp_path / "good", monkeypatch, families=("h9", "h15"))
    assert compile_it(bundle(tmp_path)) == ["decode.h15.aimodelc", "decode.h9.aimodelc"]


def test_what_a_killed_compile_left_is_discarded(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler kills the whole process after its first family, as a loss of power would."""
    import subprocess  # noqa: PLC0415 - beside its use
    import sys  # noqa: PLC0415

    compiler(
        tmp_path / "bin", monkeypatch, families=("h9", "h15"), after="import os; os.kill(os.getppid(), 9); os._exit(0)"
    )
    raw = bundle(tmp_path)
    code = (
        "from pathlib import Path; from bakeoff.backends.coreai.compile import compiled; import sys; "
        "compiled(Path(sys.argv[1]), sys.argv[2], log_path=Path(sys.argv[1]).parent / 'log', progress=print)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(raw), bundle_sha256(raw)], capture_output=True, check=False)
    assert done.returncode == -9
    (left,) = (path for path in cache.iterdir() if path.is_dir())
    assert left.name.startswith(".")
    compiler(tmp_path / "good", monkeypatch, families=("h20",))
    assert compile_it(raw) == ["decode.h20.aimodelc"]
    assert [path.name[0] for path in cache.iterdir() if path.is_dir()] == ["d"]


def test_a_compiler_that_makes_nothing_is_a_failure(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler(tmp_path / "bin", monkeypatch, families=())
    with pytest.raises(UsageProblem, match=r"made no \.aimodelc"):
        compile_it(bundle(tmp_path))
    assert not [path for path in cache.iterdir() if path.is_dir()]


def test_no_xcode_is_told_with_what_to_install(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageProblem, match="install Xcode 27"):
        compile_it(bundle(tmp_path))
    assert not [path for path in cache.iterdir() if path.is_dir()]
