"""An image as the one view that the compiled vision function takes, cut into patches."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image as Picture

from bakeoff.backends.coreai.shape import Norms, Shape


def patches_of(picture: Picture, shape: Shape, norms: Norms) -> NDArray[Any]:
    """Return the patches of an RGB picture, float32 of shape `shape.patches`.

    The picture is stretched to the square view, whatever its proportions: the function was compiled for that size
    alone. Patches go row by row; within a patch values go row, column, channel, as in the checkpoint's own processor.
    """
    view = picture.resize((shape.tile, shape.tile), norms.resample)
    values: NDArray[Any] = np.array(view, dtype=np.float32)
    values *= norms.scale
    values = (values - np.array(norms.mean, np.float32)) / np.array(norms.deviation, np.float32)
    grid = shape.tile // shape.patch
    cut = values.reshape(grid, shape.patch, grid, shape.patch, 3).transpose(0, 2, 1, 3, 4)
    return cut.reshape(shape.patches)
