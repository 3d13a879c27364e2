"""The architecture: transformers' LFM2-VL at tiny size, and a forward pass written for training.

The forward pass here uses the parameters of the transformers model and must equal it (checked by
`tools.tiny.verify`); unlike it, it returns the attention scores that the training hints need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from transformers import Lfm2VlConfig, Lfm2VlForConditionalGeneration

from tools.tiny.vocabulary import BOS, IM_END, IMAGE, PAD

if TYPE_CHECKING:
    from torch import Tensor

WIDTH: Final = 128
ATTENTION_LAYERS: Final = (1, 3, 5)
PATCH: Final = 16
POSITIONS: Final = 16
"""Side of the square grid of learned vision positions."""


def config(vocabulary: int) -> Lfm2VlConfig:
    """The configuration, with the fields that converters and MLX read besides transformers."""
    return Lfm2VlConfig(
        image_token_id=IMAGE,
        projector_hidden_size=256,
        projector_use_layernorm=False,
        downsample_factor=2,
        tie_word_embeddings=True,
        eos_token_id=IM_END,
        vision_config={
            "model_type": "siglip2_vision_model",
            "hidden_size": WIDTH,
            "intermediate_size": 256,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "patch_size": PATCH,
            "num_patches": POSITIONS**2,
            "vision_use_head": False,
        },
        text_config={
            "model_type": "lfm2",
            "architectures": ["Lfm2ForCausalLM"],
            "vocab_size": vocabulary,
            "hidden_size": WIDTH,
            "intermediate_size": 256,
            "block_auto_adjust_ff_dim": False,
            "block_dim": WIDTH,
            "conv_dim": WIDTH,
            "conv_dim_out": WIDTH,
            "conv_L_cache": 3,
            "num_heads": 4,
            "num_hidden_layers": 6,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "layer_types": ["conv", "full_attention"] * 3,
            "max_position_embeddings": 8192,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
            "pad_token_id": PAD,
            "bos_token_id": BOS,
            "eos_token_id": IM_END,
            "tie_word_embeddings": True,
        },
    )


def build(vocabulary: int, seed: int) -> Lfm2VlForConditionalGeneration:
    """A freshly initialised float32 model."""
    torch.manual_seed(seed)
    model = Lfm2VlForConditionalGeneration(config(vocabulary))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "position_embedding" in name:
                parameter.copy_(wave_positions())
            elif "patch_embedding.weight" in name:
                parameter.normal_(std=768**-0.5)
            elif "embed_tokens" in name:
                parameter.normal_(std=0.05)
            elif parameter.ndim >= 2:
                fan = parameter.shape[1] * (parameter.shape[2] if parameter.ndim > 2 else 1)
                # What is added to the residual stream starts small.
                gain = 0.5 if name.endswith(("out_proj.weight", "fc2.weight", "w2.weight")) else 1.0
                parameter.normal_(std=gain * fan**-0.5)
    return model.float()


def wave_positions() -> Tensor:
    """Sines and cosines of both axes as the start of the learned positions, [256, WIDTH]."""
    steps = torch.arange(POSITIONS) / POSITIONS
    frequencies = torch.tensor([0.25 * 2 ** (0.5 * index) for index in range(WIDTH // 8)]).clamp(max=POSITIONS / 2)
    axis = torch.cat([wave(2 * torch.pi * steps[:, None] * frequencies) for wave in (torch.sin, torch.cos)], -1)
    half = WIDTH // 4
    table = torch.zeros(POSITIONS, POSITIONS, WIDTH)
    table[..., :half] = axis[:, None]
    table[..., half : 2 * half] = axis[None, :]
    return 0.5 * table.view(-1, WIDTH)


def encode_images(model: Lfm2VlForConditionalGeneration, pixels: Tensor, shapes: Tensor) -> Tensor:
    """Projected image tokens, [views, tokens, WIDTH].

    ``pixels`` is [views, patches, 768] with unused rows at the end; ``shapes`` is [views, 2], rows
    and columns of patches. Tokens past a view's own are meaningless.
    """
    tower = model.model.vision_tower
    views, patches, _ = pixels.shape
    embeddings = tower.embeddings
    table = embeddings.position_embedding.weight.view(POSITIONS, POSITIONS, WIDTH)
    x = embeddings.patch_embedding(pixels) + embeddings.resize_positional_embeddings(table, shapes, patches)
    used = torch.arange(patches)[None, :] < shapes.prod(-1, keepdim=True)
    mask = None if bool(used.all()) else used[:, None, None, :]
    for layer in tower.encoder.layers:
        y = layer.layer_norm1(x)
        heads = layer.self_attn.num_heads
        q, k, v = (
            projection(y).view(views, patches, heads, -1).transpose(1, 2)
            for projection in (layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj)
        )
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + layer.self_attn.out_proj(y.transpose(1, 2).reshape(views, patches, WIDTH))
        x = x + layer.mlp(layer.layer_norm2(x))
    x = tower.post_layernorm(x)
    projector = model.model.multi_modal_projector
    x = x.gather(1, _unshuffle_order(shapes, patches)[..., None].expand(-1, -1, WIDTH))
    x = x.view(views, patches // 4, 4 * WIDTH)
    return projector.linear_2(F.gelu(projector.linear_1(x)))


def _unshuffle_order(shapes: Tensor, patches: int) -> Tensor:
    """Patch index of each slot, [views, patches]: the four patches of a token side by side."""
    token = torch.arange(patches // 4)[None, :]
    across = shapes[:, 1, None] // 2
    top, left = token // across * 2, token % across * 2
    corners = [(top + dy) * shapes[:, 1, None] + left + dx for dy in (0, 1) for dx in (0, 1)]
    return torch.stack(corners, -1).flatten(1).clamp(max=patches - 1)


def rotary(length: int, size: int, theta: float = 10000.0) -> tuple[Tensor, Tensor]:
    """Cosines and sines, each [length, size]."""
    frequencies = theta ** (-torch.arange(0, size, 2) / size)
    angles = torch.arange(length)[:, None] * frequencies[None, :]
    angles = torch.cat((angles, angles), -1)
    return angles.cos(), angles.sin()


def decode(
    model: Lfm2VlForConditionalGeneration, ids: Tensor, features: Tensor, slots: Tensor
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Run the text model on whole sequences.

    ``ids`` is [batch, length]; ``features`` [n, WIDTH]; ``slots`` [batch, length] holds the row of
    ``features`` that replaces a token's embedding, or -1. Returns the normalised last state
    [batch, length, WIDTH], the state after layer 3, and per attention layer the masked scores
    [batch, heads, length, length].
    """
    text = model.model.language_model
    batch, length = ids.shape
    x = torch.where(slots[..., None] >= 0, features[slots.clamp(min=0)], text.embed_tokens(ids))
    cos, sin = rotary(length, WIDTH // 4)
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
    scores: list[Tensor] = []
    middle = x
    for index, layer in enumerate(text.layers):
        y = layer.operator_norm(x)
        if layer.is_attention_layer:
            attention = layer.self_attn
            q = attention.q_layernorm(attention.q_proj(y).view(batch, length, 4, -1)).transpose(1, 2)
            k = attention.k_layernorm(attention.k_proj(y).view(batch, length, 2, -1)).transpose(1, 2)
            v = attention.v_proj(y).view(batch, length, 2, -1).transpose(1, 2)
            q, k = q * cos + _rotate(q) * sin, k * cos + _rotate(k) * sin
            k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
            score = (q @ k.transpose(-1, -2) * attention.scaling).masked_fill(hidden, -1e9)
            scores.append(score)
            y = (score.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, WIDTH)
            y = attention.out_proj(y)
        else:
            gate_in, gate_out, value = layer.conv.in_proj(y).chunk(3, -1)
            value = F.pad(gate_in * value, (0, 0, 2, 0))
            kernel = layer.conv.conv.weight[:, 0]
            value = sum(value[:, tap : tap + length] * kernel[:, tap] for tap in range(3))
            y = layer.conv.out_proj(gate_out * value)
        x = x + y
        x = x + layer.feed_forward(layer.ffn_norm(x))
        if index == ATTENTION_LAYERS[1]:
            middle = x
    return text.embedding_norm(x), middle, scores


def _rotate(x: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)
