"""Which parquet files of a dataset repository hold a split of a configuration."""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from bakeoff.prepare.problems import SchemaChanged


def data_files(paths: Iterable[str], card: str, *, repository: str, config: str, split: str) -> list[str]:
    """Return the parquet files of `split`, sorted: those that the dataset card names, else those that names suggest.

    `card` is the text of the repository's README.md, which may be empty. Without an entry for `config` in it, a split
    is looked for in the folder of the configuration's name, and for `default` in `data` and at the top.

    Raises:
        SchemaChanged: when there is none; the message lists the parquet files there are.
    """
    parquet = sorted(path for path in paths if path.endswith(".parquet"))
    declared = _declared(card, config)
    if declared is None:
        folder = r"(data/)?" if config == "default" else rf"(data/)?{re.escape(config)}/"
        found = [path for path in parquet if re.match(rf"{folder}({re.escape(split)})([-_./].*|\d.*)?\.parquet$", path)]
    else:
        patterns = declared.get(split, [])
        found = [path for path in parquet if any(fnmatchcase(path, pattern) for pattern in patterns)]
    if not found:
        have = ", ".join(parquet[:12]) + (f" and {len(parquet) - 12} more" if len(parquet) > 12 else "")  # noqa: PLR2004
        raise SchemaChanged(
            f"{repository} has no parquet files for split {split!r} of configuration {config!r}. It has "
            f"{have or 'no parquet file at all'}. Name a revision that has them with --revision TRACK=SHA."
        )
    return found


def _declared(card: str, config: str) -> dict[str, list[str]] | None:
    """Return the patterns that the card gives to each split of `config`, None when it says nothing of `config`."""
    for entry in _configs(card):
        if entry.get("config_name") == config and "data_files" in entry:
            prefix = f"{entry['data_dir'].strip('/')}/" if isinstance(entry.get("data_dir"), str) else ""
            named = entry["data_files"]
            by_split = named if isinstance(named, list) and all(isinstance(n, dict) for n in named) else None
            if by_split is None:
                return {"train": [prefix + pattern for pattern in _texts(named)]}
            return {str(n.get("split")): [prefix + pattern for pattern in _texts(n.get("path"))] for n in by_split}
    return None


def _configs(card: str) -> list[Mapping[str, Any]]:
    """Return the `configs` of a card's YAML head; a head that is not YAML declares nothing."""
    head = re.match(r"\s*---\r?\n(.*?)\r?\n---", card, flags=re.DOTALL)
    if head is None:
        return []
    try:
        content = msgspec.yaml.decode(head[1])
    except msgspec.DecodeError:
        return []
    configs = content.get("configs") if isinstance(content, dict) else None
    return [entry for entry in configs if isinstance(entry, dict)] if isinstance(configs, list) else []


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
