"""The sizes of an LFM2-VL model as its files state them, which the compiled functions must agree with."""

import json
from pathlib import Path
from typing import Any

import msgspec

from bakeoff.errors import UsageProblem


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of the decoder's state and of one view of `tile` x `tile` pixels.

    `patch` is the side of a patch in pixels, `factor` how many patches a side become one image token; `conv_width` is
    how many positions a convolution looks back; `has_markers` says whether an image stands between two markers.
    """

    hidden: int
    vocab: int
    image_token: int
    attention_layers: int
    conv_layers: int
    kv_heads: int
    head_dim: int
    conv_width: int
    patch: int
    factor: int
    tile: int
    has_markers: bool
    eos: tuple[int, ...]

    @property
    def patches(self) -> tuple[int, int]:
        """Number of patches of the view, and values of each."""
        return (self.tile // self.patch) ** 2, 3 * self.patch**2

    @property
    def image_tokens(self) -> int:
        """Image tokens of the view, markers not counted."""
        return (self.tile // self.patch // self.factor) ** 2


class Norms(msgspec.Struct, frozen=True, kw_only=True):
    """How pixels become values: `pixel * scale`, less the mean, over the deviation; `resample` is PIL's number."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    scale: float
    resample: int


def read_shape(folder: Path) -> Shape:
    """Read the sizes from `config.json` and the preprocessor's files.

    Raises:
        UsageProblem: when a file or a size is absent.
    """
    config, pictures = _read(folder / "config.json"), _picture_settings(folder)
    try:
        text = config["text_config"]
        layers = text["layer_types"]
        return Shape(
            hidden=text["hidden_size"],
            vocab=text["vocab_size"],
            image_token=config["image_token_id"] if "image_token_id" in config else config["image_token_index"],
            attention_layers=layers.count("full_attention"),
            conv_layers=len(layers) - layers.count("full_attention"),
            kv_heads=text["num_key_value_heads"],
            head_dim=text.get("head_dim") or text["hidden_size"] // text["num_attention_heads"],
            conv_width=text["conv_L_cache"] - 1,
            patch=config["vision_config"]["patch_size"],
            factor=config["downsample_factor"],
            tile=pictures.get("tile_size", config.get("tile_size", 512)),
            has_markers=pictures.get("use_image_special_tokens", config.get("use_image_special_tokens", True)),
            eos=tuple(sorted({*_ids(config.get("eos_token_id")), *_ids(text.get("eos_token_id"))})),
        )
    except (KeyError, TypeError, msgspec.ValidationError) as error:
        raise UsageProblem(f"{folder / 'config.json'} does not describe an LFM2-VL model: {error!r}") from error


def read_norms(folder: Path) -> Norms:
    """Read how pixels become values.

    Raises:
        UsageProblem: when the preprocessor's files do not say.
    """
    found = _picture_settings(folder)
    try:
        return Norms(
            mean=tuple(found["image_mean"]),
            deviation=tuple(found["image_std"]),
            scale=found["rescale_factor"],
            resample=found["resample"],
        )
    except KeyError as error:
        raise UsageProblem(
            f"{folder}: neither preprocessor_config.json nor processor_config.json has {error}"
        ) from error


def _picture_settings(folder: Path) -> dict[str, Any]:
    """Return what both files of the preprocessor say; the processor's own file wins."""
    found: dict[str, Any] = {}
    for name in ("preprocessor_config.json", "processor_config.json"):
        if (folder / name).is_file():
            loaded = _read(folder / name)
            found.update(loaded.get("image_processor", loaded))
            found.update({key: loaded[key] for key in ("use_image_special_tokens",) if key in loaded})
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise UsageProblem(f"{path} cannot be read: {error}") from error


def _ids(found: int | list[int] | None) -> list[int]:
    if found is None:
        return []
    return [found] if isinstance(found, int) else list(found)
