"""MLX, in this process: mlx-vlm reads the pictures and the batch, and work on common images is shared."""
