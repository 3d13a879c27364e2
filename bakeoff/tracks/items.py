"""One item of a file of custom cases while it is read: its fields, and refusals that say where it stands."""

import difflib
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from bakeoff.errors import DataMissing

_ALIKE: Final = 0.8
_SHOWN: Final = 200
_MOST: Final = 10**15
"""Beyond it a whole number is a slip of the keys, and not every one is a float."""


class Fields(dict[str, Any]):
    """A JSON object; `repeated` is a field that stands in it twice, of which JSON readers keep the last."""

    repeated: str | None = None

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, Any]]) -> "Fields":
        """Return the object of these fields."""
        found = cls()
        for name, value in pairs:
            if name in found:
                found.repeated = name
            found[name] = value
        return found


class Item:
    """An item while it is being read: knows where it stands, so that a refusal can say so."""

    def __init__(self, place: str, fields: Mapping[str, Any]) -> None:
        self.place = place
        self._fields = fields

    def refuse(self, field: str, expected: str, found: object) -> DataMissing:
        """Return the refusal of a field."""
        shown = "nothing" if found is None else shortened(repr(found))
        return DataMissing(f"{self.place}, field {field}: expected {expected}, found {shown}")

    def get(self, field: str) -> Any:
        """Return a field; `expected.x` is field x of the object `expected`."""
        found: Any = self._fields
        for name in field.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        return found

    def check_names(self, known: tuple[str, ...], within: str = "") -> None:
        """Refuse a field that stands twice, and one that is most likely a `known` one mistyped.

        Others are left alone: files may carry fields of their owners.
        """
        fields, before = (self.get(within), f"{within}.") if within else (self._fields, "")
        if not isinstance(fields, Mapping):
            return
        if isinstance(fields, Fields) and fields.repeated is not None:
            raise DataMissing(f"{self.place}, field {before}{fields.repeated}: expected it once, found it twice")
        for name in sorted(fields.keys() - set(known)):
            near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=_ALIKE)
            if near and near[0] not in fields:
                raise self.refuse(before + name, f"the name {near[0]}", name)

    def text(self, field: str) -> str:
        """Return a text that is not blank."""
        found = self.get(field)
        if not is_text(found):
            raise self.refuse(field, "a text that is not blank", found)
        return str(found)

    def number(self, field: str, default: float, low: float, high: float) -> float:
        """Return a number within bounds, `default` where there is none."""
        found = self.get(field)
        if found is None:
            return default
        if not is_number(found) or not low <= found <= high:
            raise self.refuse(field, f"a number from {low:g} to {high:g}", found)
        return float(found)

    def whole(self, field: str, default: int, low: int, high: int) -> int:
        """Return a whole number within bounds, `default` where there is none."""
        found = self.get(field)
        if found is None:
            return default
        if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
            raise self.refuse(field, f"a whole number from {low} to {high}", found)
        return found


def shortened(text: str) -> str:
    """Return a text as a message shows it, cut where it is very long."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def is_number(value: object) -> bool:
    """Return whether a value is a finite number, and no truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) <= _MOST


def is_text(value: object) -> bool:
    """Return whether a value is a text that is not blank and can be sent: half a surrogate pair cannot."""
    return (
        isinstance(value, str) and bool(value.strip()) and not any("\ud800" <= letter <= "\udfff" for letter in value)
    )
