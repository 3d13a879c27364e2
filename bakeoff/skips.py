"""A line of a journal for a sample that an arm is not asked."""

import msgspec


class Skip(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="skip"):
    """A sample that an arm is not asked, because of what its runtime cannot do: neither an answer nor an error."""

    sample_id: str
    track: str
    reason: str
