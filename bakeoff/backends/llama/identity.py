"""What can move a score of a llama.cpp server: files by hash, build, template, context, endpoint."""

import hashlib
from typing import Any

from bakeoff.backends.identity import weights_identity
from bakeoff.backends.llama.server import LlamaServer, props
from bakeoff.errors import UsageProblem
from bakeoff.hub import GgufFiles, file_sha256


def server_identity(server: LlamaServer, files: GgufFiles, *, endpoint: str) -> dict[str, Any]:
    """Return what can move a score of this server.

    Raises:
        UsageProblem: when the weights bring no chat template.
    """
    known = props(server.url)
    if not known.get("chat_template"):
        raise UsageProblem(f"{files.weights} has no chat template, so its prompts would be a guess")
    return {
        "runtime": "llama.cpp",
        "runtime_version": str(known.get("build_info", "unknown")) if server.launch.binary else _bundled_version(),
        "weights": files.weights.name,
        "weights_sha256": file_sha256(files.weights),
        "projector": files.projector.name if files.projector else None,
        "projector_sha256": file_sha256(files.projector) if files.projector else None,
        "revision": files.revision,
        "template_sha256": hashlib.sha256(str(known.get("chat_template", "")).encode()).hexdigest(),
        "weights_bytes": files.weights.stat().st_size + (files.projector.stat().st_size if files.projector else 0),
        "context_tokens": int(known.get("default_generation_settings", {}).get("n_ctx", 0)),
        "endpoint": endpoint,
        "server_args": list(server.launch.extra),
        **weights_identity(files.weights, *([files.projector] if files.projector else [])),
    }


def _bundled_version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - only this branch needs it

    return f"xllamacpp {version('xllamacpp')}"
