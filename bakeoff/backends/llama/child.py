"""The process that holds a llama.cpp server: `python -m bakeoff.backends.llama.child`, given a `Launch` as JSON.

It leads a process group of its own and ends the whole group when its standard input closes, which the kernel does when
the process that started it is gone, however it went. So no server outlives its run.
"""

import os
import signal
import subprocess
import sys
import threading

import msgspec

CHECKPOINTS = 4
"""States a slot keeps to go back to; with fewer than two a model that is not all attention reads every image again."""

UNLESS_SET = {"LLAMA_ARG_CACHE_RAM": "0", "LLAMA_ARG_CTX_CHECKPOINTS": str(CHECKPOINTS)}
"""The same for a `llama-server` program; in its environment, because an older one does not know the options."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """What to start. `binary` is a `llama-server`; None is the server inside xllamacpp.

    `context_tokens` is the whole context, all `slots` together.
    """

    binary: str | None
    host: str
    port: int
    weights: str
    projector: str | None
    context_tokens: int
    slots: int
    extra: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """Return the command line of a `llama-server` binary."""
        projector = ["--mmproj", self.projector] if self.projector else []
        return [
            *(str(self.binary), "--host", self.host, "--port", str(self.port), "--model", self.weights),
            *("--ctx-size", str(self.context_tokens), "--parallel", str(self.slots), "--n-gpu-layers", "99", "--jinja"),
            *projector,
            *self.extra,
        ]


def serve_bundled(launch: Launch) -> object:
    """Start the server inside xllamacpp and return the object that keeps it alive."""
    import xllamacpp  # noqa: PLC0415 - loads the runtime, which only this branch needs

    params = xllamacpp.CommonParams()
    params.model.path = launch.weights
    params.hostnames = [launch.host]
    params.port = launch.port
    params.n_ctx = launch.context_tokens
    params.n_parallel = launch.slots
    params.fit_params = False  # the context is computed from the samples and must not shrink unseen
    params.endpoint_props = True
    params.use_jinja = True
    params.cache_ram_mib = 0  # questions on one image follow each other, so states of images gone by are dead weight
    params.n_ctx_checkpoints = CHECKPOINTS
    params.kv_unified = False  # every slot has its share of the context and no other
    params.ui = False
    if launch.projector:
        params.mmproj.path = launch.projector
    return xllamacpp.Server(params)


def end_group() -> None:
    """End this process and everything it started, at once."""
    os.killpg(os.getpgrp(), signal.SIGKILL)


def end_with_parent() -> None:
    """Wait until standard input closes, then end the group."""
    sys.stdin.buffer.read()
    end_group()


def main() -> None:
    """Run the server until it ends by itself or the starter goes away."""
    launch = msgspec.json.decode(sys.argv[1], type=Launch)
    threading.Thread(target=end_with_parent, daemon=True).start()
    if launch.binary is None:
        server = serve_bundled(launch)
        threading.Event().wait()
        del server
    else:
        environment = {**UNLESS_SET, **os.environ}
        code = subprocess.call(launch.command(), stdin=subprocess.DEVNULL, env=environment)
        # Not sys.exit: the thread that reads standard input would make the interpreter abort with a code of its own.
        os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
