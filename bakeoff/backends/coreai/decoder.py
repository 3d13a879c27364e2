"""The compiled decoder: its state for one prompt, and prompts read in chunks where it takes them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bakeoff.backends.coreai.runtime import Function
from bakeoff.backends.coreai.shape import Shape

CHUNK = 9
"""Tokens read in one call. 9 and 16 were token-exact on the runtime's first release, and 32 crashed it."""

USUAL_POSITIONS = 2048
"""Positions of the state where the function does not state them."""


class Reading:
    """One prompt on its way through the decoder: its own state, and how many positions were read."""

    def __init__(self, decoder: "Decoder", embeddings: NDArray[Any]) -> None:
        self._function = decoder.function
        self._embeddings = embeddings
        self._state = decoder.empty_state()
        self.read_tokens = 0

    def read(self, tokens: Sequence[int]) -> NDArray[Any]:
        """Read tokens in one call and return the logits after the last of them, of shape [vocabulary]."""
        end = self.read_tokens + len(tokens)
        found = self._function(
            {
                "input_ids": np.array([tokens], np.int32),
                "position_ids": np.arange(end, dtype=np.int32)[None],
                "image_embeds": self._embeddings,
            },
            self._state,
        )
        self.read_tokens = end
        logits = found["logits"]
        return np.asarray(logits.reshape(-1, logits.shape[-1])[-1], np.float32)


class Decoder:
    """A decoder function and what was found out about it.

    Raises:
        UsageProblem: when the function is not one of a model of this shape.
    """

    def __init__(self, function: Function, shape: Shape) -> None:
        self.function = function
        self._shape = shape
        stated = function.states["keyCache"].sizes if "keyCache" in function.states else ()
        self.positions: int = (stated[3] if len(stated) > 3 else None) or USUAL_POSITIONS  # noqa: PLR2004 - the axis
        function.expect(
            {
                "input_ids": (1, None),
                "position_ids": (1, None),
                "image_embeds": (shape.image_tokens, shape.hidden),
            },
            self._state_sizes(),
        )
        self.takes_chunks: bool | None = False if function.inputs["input_ids"].sizes[1] == 1 else None

    def empty_state(self) -> dict[str, Any]:
        """Return the state of a prompt of which nothing was read."""
        return {name: self.function.zeros(name, sizes) for name, sizes in self._state_sizes().items()}

    def prefill(
        self, tokens: Sequence[int], embeddings: NDArray[Any], between: Callable[[], None]
    ) -> tuple[Reading, NDArray[Any]]:
        """Read a prompt, calling `between` before each call, and return it with the logits after its last token.

        The first prompt finds out whether the decoder takes chunks. Where it does not, what it did to the state is not
        known, so the prompt begins anew with an empty one.
        """
        reading, left = Reading(self, embeddings), list(tokens)
        if self.takes_chunks is None and len(left) > 1:
            between()
            try:
                logits = reading.read(left[:CHUNK])
            except Exception:  # noqa: BLE001 - whatever it raises: if it reads single tokens, it refused the chunk
                reading = Reading(self, embeddings)
                logits = reading.read(left[:1])
                self.takes_chunks = False
            else:
                self.takes_chunks = True
            left = left[reading.read_tokens :]
            if not left:
                return reading, logits
        step = CHUNK if self.takes_chunks else 1
        for start in range(0, len(left), step):
            between()
            logits = reading.read(left[start : start + step])
        return reading, logits

    def _state_sizes(self) -> dict[str, tuple[int, ...]]:
        shape = self._shape
        cache = (shape.attention_layers, 1, shape.kv_heads, self.positions, shape.head_dim)
        return {
            "keyCache": cache,
            "valueCache": cache,
            "convState": (shape.conv_layers, 1, shape.hidden, shape.conv_width),
        }
