"""What a command line itself says of the samples and tracks that it means."""

import pytest


def selects_samples(config: pytest.Config) -> bool:
    """Return whether this command line itself says which samples it means."""
    return bool(config.option.keyword or config.option.markexpr or any("::" in argument for argument in config.args))


def chooses_among_items(config: pytest.Config) -> bool:
    """Return whether this command line leaves out items once they are collected, for reasons of its own."""
    return selects_samples(config) or any(config.getoption(name, None) for name in ("lf", "failedfirst", "deselect"))


def selects_tracks(config: pytest.Config) -> bool:
    """Return whether this command line names tracks: by selecting samples, or by naming a test module."""
    return selects_samples(config) or any(argument.endswith(".py") for argument in config.args)
