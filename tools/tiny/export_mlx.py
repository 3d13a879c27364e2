"""Write a training state as transformers/MLX folders: bf16, 8-bit and 4-bit.

``python -m tools.tiny.export_mlx --state RUNS/step-N.pt --out data/tiny``
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Final

import torch
from mlx_vlm.convert import convert

from tools.tiny.model import build, config
from tools.tiny.vocabulary import BOS, IM_END, PAD, build_tokenizer, padded_vocabulary, save_tokenizer

PROCESSOR_CONFIG: Final = {
    "image_processor_type": "Lfm2VlImageProcessor",
    "processor_class": "Lfm2VlProcessor",
    "do_image_splitting": True,
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "downsample_factor": 2,
    "encoder_patch_size": 16,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
    "max_image_tokens": 256,
    "max_pixels_tolerance": 2.0,
    "max_tiles": 10,
    "min_image_tokens": 64,
    "min_tiles": 2,
    "resample": 3,
    "rescale_factor": 1 / 255,
    "tile_size": 512,
    "use_thumbnail": True,
}
QUANTIZED: Final = {8: "model-8bit", 4: "model-4bit"}
GROUP: Final = 64


def write_bf16(state: Path, folder: Path) -> None:
    """The folder that transformers and mlx-vlm load, every weight rounded to bfloat16."""
    tokenizer = build_tokenizer()
    vocabulary = padded_vocabulary(tokenizer)
    model = build(vocabulary, 0)
    model.load_state_dict(torch.load(state, weights_only=True))
    model = model.to(torch.bfloat16)
    # save_pretrained leaves the nested dtypes at float32, and conversions then keep float32.
    for part in (model.config, model.config.text_config, model.config.vision_config):
        part.dtype = torch.bfloat16
    model.generation_config.eos_token_id = IM_END
    model.generation_config.bos_token_id = BOS
    model.generation_config.pad_token_id = PAD
    if folder.exists():
        shutil.rmtree(folder)
    model.save_pretrained(folder)
    save_tokenizer(tokenizer, folder)
    for name in ("preprocessor_config.json", "processor_config.json"):
        (folder / name).write_text(json.dumps(PROCESSOR_CONFIG, indent=1) + "\n")
    _complete_config(folder / "config.json", vocabulary)


def _complete_config(path: Path, vocabulary: int) -> None:
    """Add the fields that other readers take from ``config.json`` and transformers drops."""
    stored = json.loads(path.read_text())
    wanted = config(vocabulary)
    stored["text_config"]["block_ff_dim"] = wanted.text_config.intermediate_size
    stored["text_config"]["rope_theta"] = wanted.text_config.rope_parameters["rope_theta"]
    stored |= {key: PROCESSOR_CONFIG[key] for key in ("do_image_splitting", "encoder_patch_size", "max_image_tokens")}
    stored |= {key: PROCESSOR_CONFIG[key] for key in ("max_tiles", "min_image_tokens", "min_tiles", "tile_size")}
    stored |= {"use_thumbnail": True, "use_image_special_tokens": True, "max_pixels_tolerance": 2.0}
    path.write_text(json.dumps(stored, indent=1) + "\n")


def write_quantized(source: Path, folder: Path, bits: int) -> None:
    """mlx-vlm's own conversion, which quantises the text modules only."""
    if folder.exists():
        shutil.rmtree(folder)
    convert(str(source), str(folder), quantize=True, q_bits=bits, q_group_size=GROUP, dtype="bfloat16")
    for name in ("preprocessor_config.json", "processor_config.json", "chat_template.jinja", "tokenizer_config.json"):
        shutil.copyfile(source / name, folder / name)
    for name in ("README.md", "model.safetensors.index.json"):
        (folder / name).unlink(missing_ok=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("data/tiny"))
    options = parser.parse_args()
    source = options.out / "model-bf16"
    write_bf16(options.state, source)
    for bits, name in QUANTIZED.items():
        write_quantized(source, options.out / name, bits)


if __name__ == "__main__":
    main()
