"""Parts of an identity that several backends share."""

from pathlib import Path
from typing import Any

from bakeoff.errors import UsageProblem
from bakeoff.weights import describe_weights


def weights_identity(*paths: Path) -> dict[str, Any]:
    """Return parameters, bits per weight, tensor types and recipe; nothing where a header is of a form not known."""
    try:
        return describe_weights(*paths).identity()
    except UsageProblem:
        return {}
