"""The machine of a fleet that answered a sample."""

import msgspec


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """What it is called in `--tx`, its processor, its runtime with version."""

    name: str
    chip: str
    runtime: str
