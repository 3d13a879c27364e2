"""What MLX says of the memory that it allocated on its device."""

import mlx.core as mx


def reset_peak() -> None:
    """Begin a new peak."""
    mx.reset_peak_memory()


def peak_bytes() -> int:
    """Return the most that was allocated since the last reset, in bytes."""
    return int(mx.get_peak_memory())
