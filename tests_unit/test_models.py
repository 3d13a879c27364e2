import pytest

from bakeoff.errors import UsageProblem
from bakeoff.models import ALIASES, resolve, resolve_all


@pytest.mark.parametrize(
    ("name", "backend", "location", "revision", "quant"),
    [
        ("4bit", "mlx", "LiquidAI/LFM2.5-VL-3B-MLX-4bit", None, None),
        ("bf16", "mlx", "LiquidAI/LFM2.5-VL-3B-MLX-bf16", None, None),
        ("gguf-q4km", "gguf", "LiquidAI/LFM2.5-VL-3B-GGUF", None, "Q4_K_M"),
        ("owner/name", "mlx", "owner/name", None, None),
        ("mlx:owner/name@abc123", "mlx", "owner/name", "abc123", None),
        ("mlx:some/folder/deep", "mlx", "some/folder/deep", None, None),
        ("gguf:org/Model-GGUF:Q8_0", "gguf", "org/Model-GGUF", None, "Q8_0"),
        ("gguf:org/Model-GGUF:Q8_0@v2", "gguf", "org/Model-GGUF", "v2", "Q8_0"),
        ("./some/folder", "mlx", "./some/folder", None, None),
        ("/some/model.gguf", "gguf", "/some/model.gguf", None, None),
        ("dir/model.gguf", "gguf", "dir/model.gguf", None, None),
        ("fake:echo", "fake", "echo", None, None),
        ("hf:owner/name@abc", "hf", "owner/name", "abc", None),
        ("hf:some/folder#bf16", "hf", "some/folder", None, "bf16"),
        ("openai:http://a/v1|http://b/v1#org/m", "openai", "http://a/v1|http://b/v1#org/m", None, None),
    ],
)
def test_names_resolve(name: str, backend: str, location: str, revision: str | None, quant: str | None) -> None:
    spec = resolve(name)
    assert (spec.backend, spec.location, spec.revision, spec.quant) == (backend, location, revision, quant)


def test_a_gguf_alias_names_the_files_of_its_repository() -> None:
    spec = resolve("gguf-q4")
    assert (spec.weights, spec.projector) == ("LFM2.5-VL-3B-Q4_0.gguf", "mmproj-LFM2.5-VL-3B-Q8_0.gguf")


def test_a_projector_is_named_behind_a_comma() -> None:
    assert resolve("a/b.gguf,mmproj=c.gguf").projector == "c.gguf"
    with pytest.raises(UsageProblem, match="mmproj="):
        resolve("a/b.gguf,c.gguf")


@pytest.mark.parametrize("name", ["8BIT", "tiny", "http://x:8000/v1", "", "gguf-q9", "a/b/c"])
def test_an_unknown_name_is_refused_with_suggestions(name: str) -> None:
    with pytest.raises(UsageProblem, match="Did you mean"):
        resolve(name)


def test_near_matches_are_listed() -> None:
    with pytest.raises(UsageProblem, match="tiny-bf16"):
        resolve("tiny-bf61")


@pytest.mark.parametrize("name", ["gguf:org/name", "gguf:name:Q8_0"])
def test_a_gguf_name_without_its_parts_says_how_to_write_it(name: str) -> None:
    with pytest.raises(UsageProblem, match="gguf:<owner/name>:<quant>"):
        resolve(name)


def test_core_ai_is_pinned_or_a_folder() -> None:
    spec = resolve("coreai")
    assert (spec.backend, spec.arm, spec.family.name) == ("coreai", "coreai", "lfm2-vl")
    assert len(str(spec.revision)) == 40
    own = resolve("coreai:/models/mine")
    assert (own.backend, own.arm, own.location, own.revision) == ("coreai", "mine", "/models/mine", None)
    with pytest.raises(UsageProblem):
        resolve("coreai:")


def test_every_alias_has_an_arm_name_of_its_own() -> None:
    specs = resolve_all(ALIASES)
    assert len({spec.arm.lower() for spec in specs}) == len(ALIASES)


def test_models_of_one_file_name_get_different_arms() -> None:
    arms = [spec.arm for spec in resolve_all(["a/Model", "b/model", "c/model"])]
    assert arms == ["Model", "model-2", "model-3"]


def test_a_model_named_twice_is_refused() -> None:
    with pytest.raises(UsageProblem, match="twice"):
        resolve_all(["4bit", "4bit"])


@pytest.mark.parametrize("name", ["owner/na me", "a/../b", "mlx:/x/y/é ü"])
def test_arm_names_are_safe_file_names(name: str) -> None:
    try:
        arm = resolve(name).arm
    except UsageProblem:
        return
    assert "/" not in arm
    assert arm.isascii()
    assert not arm.startswith(".")
