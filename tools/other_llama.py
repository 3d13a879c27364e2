r"""Serve a GGUF model with the llama.cpp that another release of xllamacpp carries, under llama-server's own options.

Old builds are wanted for tests: what one release does to a prompt, the next one may not. Install the release into an
environment of its own and name a script that runs this file with that environment's Python as `--llama-server`:

    uv venv old && uv pip install --python old/bin/python xllamacpp==2026.8.10229
    printf '#!/bin/sh\nexec old/bin/python tools/other_llama.py "$@"\n' > old-llama-server && chmod +x old-llama-server

Nothing of the suite is imported here, so the environment needs nothing else.
"""

import argparse
import importlib.metadata
import threading

import xllamacpp


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", action="version", version=f"xllamacpp {importlib.metadata.version('xllamacpp')}")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--mmproj", default="")
    parser.add_argument("--ctx-size", type=int, required=True)
    parser.add_argument("--parallel", type=int, default=1)
    asked, _ = parser.parse_known_args()
    params = xllamacpp.CommonParams()
    params.model.path = asked.model
    params.port = asked.port
    params.n_ctx = asked.ctx_size
    params.n_parallel = asked.parallel
    params.endpoint_props = True
    params.use_jinja = True
    for name, value in (("hostnames", [asked.host]), ("hostname", asked.host), ("fit_params", False)):
        if hasattr(params, name):  # releases name these differently
            setattr(params, name, value)
    if asked.mmproj:
        params.mmproj.path = asked.mmproj
    server = xllamacpp.Server(params)
    threading.Event().wait()
    del server


if __name__ == "__main__":
    main()
