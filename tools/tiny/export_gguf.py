"""Write ``model-bf16`` as GGUF: text model in BF16, Q8_0 and Q4_0, projector in BF16 and Q8_0.

``python -m tools.tiny.export_gguf --model data/tiny/model-bf16 --out data/tiny/gguf``. Written with
the ``gguf`` package alone; names and keys are those that llama.cpp reads for ``lfm2`` and ``clip``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, LlamaFileType, TokenType, VisionProjectorType
from gguf.quants import quantize
from safetensors.torch import load_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights = dict[str, NDArray[np.float32]]

F32, BF16 = GGMLQuantizationType.F32, GGMLQuantizationType.BF16
Q8_0, Q4_0 = GGMLQuantizationType.Q8_0, GGMLQuantizationType.Q4_0
FILE_TYPES: Final = {
    BF16: LlamaFileType.MOSTLY_BF16,
    Q8_0: LlamaFileType.MOSTLY_Q8_0,
    Q4_0: LlamaFileType.MOSTLY_Q4_0,
}
TEXT: Final = "model.language_model."
VISION: Final = "model.vision_tower."
TEXT_LAYER: Final = {
    "operator_norm": "attn_norm",
    "ffn_norm": "ffn_norm",
    "feed_forward.w1": "ffn_gate",
    "feed_forward.w2": "ffn_down",
    "feed_forward.w3": "ffn_up",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.out_proj": "attn_output",
    "self_attn.q_layernorm": "attn_q_norm",
    "self_attn.k_layernorm": "attn_k_norm",
    "conv.conv": "shortconv.conv",
    "conv.in_proj": "shortconv.in_proj",
    "conv.out_proj": "shortconv.out_proj",
}
VISION_LAYER: Final = {
    "layer_norm1": "ln1",
    "layer_norm2": "ln2",
    "mlp.fc1": "ffn_up",
    "mlp.fc2": "ffn_down",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.out_proj": "attn_out",
}


def layer_name(rest: str, prefix: str, names: dict[str, str]) -> str:
    """The GGUF name of ``N.module.weight`` or ``.bias`` in a layer."""
    number, rest = rest.split(".", 1)
    module, kind = rest.rsplit(".", 1)
    return f"{prefix}blk.{number}.{names[module]}.{kind}"


def text_tensors(weights: Weights) -> Weights:
    """The text model's tensors under their GGUF names; the kernels [width, taps]."""
    found: Weights = {}
    for name, tensor in weights.items():
        if not name.startswith(TEXT):
            continue
        rest = name.removeprefix(TEXT)
        if rest == "embed_tokens.weight":
            found["token_embd.weight"] = tensor
        elif rest == "embedding_norm.weight":
            found["token_embd_norm.weight"] = tensor
        else:
            value = tensor[:, 0] if "conv.conv" in rest else tensor
            found[layer_name(rest.removeprefix("layers."), "", TEXT_LAYER)] = value
    return found


def vision_tensors(weights: Weights) -> Weights:
    """The vision tower's and projector's tensors; the patch weights as [width, 3, 16, 16]."""
    found: Weights = {}
    for name, tensor in weights.items():
        if name.startswith("model.multi_modal_projector.linear_"):
            found[name.replace("model.multi_modal_projector.linear_", "mm.")] = tensor
        elif name.startswith(VISION):
            rest = name.removeprefix(VISION)
            if rest == "embeddings.patch_embedding.weight":
                found["v.patch_embd.weight"] = tensor.reshape(-1, 16, 16, 3).transpose(0, 3, 1, 2)
            elif rest.startswith("encoder.layers."):
                found[layer_name(rest.removeprefix("encoder.layers."), "v.", VISION_LAYER)] = tensor
            else:
                rest = rest.replace("embeddings.patch_embedding", "patch_embd")
                rest = rest.replace("embeddings.position_embedding", "position_embd")
                found["v." + rest.replace("post_layernorm", "post_ln")] = tensor
    return found


def tensor_type(name: str, shape: tuple[int, ...], kind: GGMLQuantizationType) -> GGMLQuantizationType:
    """Vectors, kernels, patches and positions stay F32; the embedding is never below Q8_0."""
    if len(shape) != 2 or "shortconv.conv" in name or "position_embd" in name:
        return F32
    return Q8_0 if kind == Q4_0 and name.startswith("token_embd") else kind


def write(writer: GGUFWriter, tensors: Weights, kind: GGMLQuantizationType) -> None:
    """Add the tensors in ``kind`` where allowed, and write the file."""
    for name, tensor in tensors.items():
        chosen = tensor_type(name, tensor.shape, kind)
        data = np.ascontiguousarray(tensor, dtype=np.float32)
        writer.add_tensor(name, data if chosen == F32 else quantize(data, chosen), raw_dtype=chosen)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def text_file(path: Path, model: Path, weights: Weights, kind: GGMLQuantizationType) -> None:
    """The text model with its tokenizer and chat template."""
    text = json.loads((model / "config.json").read_text())["text_config"]
    writer = GGUFWriter(path, "lfm2")
    writer.add_name("vlm-bakeoff tiny")
    writer.add_file_type(FILE_TYPES[kind])
    writer.add_vocab_size(text["vocab_size"])
    writer.add_context_length(text["max_position_embeddings"])
    writer.add_embedding_length(text["hidden_size"])
    writer.add_block_count(text["num_hidden_layers"])
    writer.add_feed_forward_length(text["intermediate_size"])
    writer.add_head_count(text["num_attention_heads"])
    heads = text["num_key_value_heads"]
    writer.add_head_count_kv([heads if kind == "full_attention" else 0 for kind in text["layer_types"]])
    writer.add_layer_norm_rms_eps(text["norm_eps"])
    writer.add_rope_freq_base(text["rope_theta"])
    writer.add_shortconv_l_cache(text["conv_L_cache"])
    add_tokenizer(writer, model, text["vocab_size"])
    write(writer, text_tensors(weights), kind)


def add_tokenizer(writer: GGUFWriter, model: Path, rows: int) -> None:
    """Tokens, merges, special ids and the template; unused embedding rows get placeholder tokens."""
    stored = json.loads((model / "tokenizer.json").read_text())
    special = {token["id"]: token["content"] for token in stored["added_tokens"]}
    tokens = {index: token for token, index in stored["model"]["vocab"].items()} | special
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("lfm2")
    writer.add_token_list([tokens.get(index, f"[PAD{index}]") for index in range(rows)])
    kinds = dict.fromkeys(tokens, TokenType.NORMAL) | dict.fromkeys(special, TokenType.CONTROL)
    writer.add_token_types([kinds.get(index, TokenType.UNUSED) for index in range(rows)])
    writer.add_token_merges([" ".join(pair) for pair in stored["model"]["merges"]])
    text = json.loads((model / "config.json").read_text())["text_config"]
    writer.add_bos_token_id(text["bos_token_id"])
    writer.add_eos_token_id(text["eos_token_id"])
    writer.add_pad_token_id(text["pad_token_id"])
    writer.add_add_bos_token(value=True)
    writer.add_add_eos_token(value=False)
    writer.add_chat_template((model / "chat_template.jinja").read_text())


def projector_file(path: Path, model: Path, weights: Weights, kind: GGMLQuantizationType) -> None:
    """The vision tower and projector."""
    config = json.loads((model / "config.json").read_text())
    processor = json.loads((model / "preprocessor_config.json").read_text())
    vision = config["vision_config"]
    writer = GGUFWriter(path, "clip")
    writer.add_type("mmproj")
    writer.add_name("vlm-bakeoff tiny projector")
    writer.add_file_type(FILE_TYPES[kind])
    writer.add_clip_has_vision_encoder(value=True)
    writer.add_clip_projector_type(VisionProjectorType.LFM2)
    writer.add_vision_projection_dim(config["text_config"]["hidden_size"])
    writer.add_vision_image_size(256)
    writer.add_vision_patch_size(vision["patch_size"])
    writer.add_vision_embedding_length(vision["hidden_size"])
    writer.add_vision_feed_forward_length(vision["intermediate_size"])
    writer.add_vision_block_count(vision["num_hidden_layers"])
    writer.add_vision_head_count(vision["num_attention_heads"])
    writer.add_vision_attention_layernorm_eps(vision["layer_norm_eps"])
    writer.add_vision_image_mean(processor["image_mean"])
    writer.add_vision_image_std(processor["image_std"])
    writer.add_vision_projector_scale_factor(config["downsample_factor"])
    writer.add_vision_use_gelu(value=True)
    # Not in the gguf package yet; llama.cpp reads it. PIL's filter 3 is bicubic.
    writer.add_string("clip.vision.image_resize_algo", {2: "bilinear", 3: "bicubic"}[processor["resample"]])
    write(writer, vision_tensors(weights), kind)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("data/tiny/model-bf16"))
    parser.add_argument("--out", type=Path, default=Path("data/tiny/gguf"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    stored = load_file(options.model / "model.safetensors")
    weights = {name: tensor.float().numpy() for name, tensor in stored.items()}
    for kind, name in ((BF16, "bf16"), (Q8_0, "q8_0"), (Q4_0, "q4_0")):
        text_file(options.out / f"tiny-{name}.gguf", options.model, weights, kind)
    for kind, name in ((BF16, "bf16"), (Q8_0, "q8_0")):
        projector_file(options.out / f"mmproj-tiny-{name}.gguf", options.model, weights, kind)


if __name__ == "__main__":
    main()
