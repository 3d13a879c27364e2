"""Finds the `.litertlm` file that a name means."""

from pathlib import Path

import huggingface_hub
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from bakeoff.errors import UsageProblem
from bakeoff.spec import ModelSpec


def litert_file(spec: ModelSpec) -> tuple[Path, str | None]:
    """Return the file and the hub's commit, None for a file on disk.

    Raises:
        UsageProblem: when there is none, when a repository has several and the name does not say which, or the hub
            cannot be reached.
    """
    if spec.weights is not None:
        file = Path(spec.weights).expanduser()
        if not file.is_file():
            raise UsageProblem(f"model {spec.name!r}: there is no file {file}")
        return file, None
    try:
        info = huggingface_hub.HfApi().model_info(spec.location, revision=spec.revision)
        files = sorted(s.rfilename for s in info.siblings or () if s.rfilename.endswith(".litertlm"))
        found = [name for name in files if (spec.quant or "").lower() in name.lower()]
        if len(found) != 1:
            raise UsageProblem(
                f"model {spec.name!r}: {len(found)} of its .litertlm files fit; it has: {', '.join(files) or 'none'}.\n"
                f"Name a part of one: litert:{spec.location}:<part of the file's name>"
            )
        return Path(huggingface_hub.hf_hub_download(spec.location, found[0], revision=info.sha)), info.sha
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise UsageProblem(
            f"model {spec.name!r}: {spec.location} cannot be read from the hub: {error}\n"
            "Check the name, the network, and HF_TOKEN for a gated repository; or name a file on disk."
        ) from error
