"""Hashes of plain values, and the seeds that are made of them."""

import hashlib
import json
from typing import Any


def hash_json(value: Any) -> str:
    """Return the SHA-256 of `value` as canonical JSON: keys sorted, no spaces, ASCII."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def sample_seed(run_seed: int, sample_id: str) -> int:
    """Return the seed of a sample, in [0, 2**31): the same in every order, batch and resumed session."""
    return int.from_bytes(hashlib.sha256(f"{run_seed}/{sample_id}".encode()).digest()[:4], "big") >> 1
