"""The tidy table as Parquet, a row group at a time."""

from pathlib import Path
from typing import Any

from bakeoff import __version__
from bakeoff.export.columns import Kind, Value, columns, rows
from bakeoff.export.reading import Survey
from bakeoff.files import filling_atomically

ROWS = 4096
TEXT = 16_000_000
"""A row group ends after so many rows or characters, whichever is first: memory does not grow with the run."""

_TYPES: dict[Kind, str] = {"text": "string", "whole": "int64", "number": "float64", "flag": "bool"}


def write_parquet(found: Survey, path: Path) -> tuple[Path, ...]:
    """Write the table to `path`; its metadata names the run and this version."""
    import pyarrow as pa  # noqa: PLC0415 - takes a while to load, and only this format needs it
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    of = columns(found)
    schema = pa.schema([pa.field(column.name, pa.type_for_alias(_TYPES[column.kind])) for column in of]).with_metadata(
        {"bakeoff.version": __version__, "bakeoff.run": found.manifest.run}
    )
    with (
        filling_atomically(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
    ):
        batch: list[tuple[Value, ...]] = []
        size = 0
        for row in rows(found, of):
            batch.append(row)
            size += sum(len(value) for value in row if isinstance(value, str))
            if len(batch) >= ROWS or size >= TEXT:
                writer.write_batch(_as_batch(pa, batch, schema))
                batch, size = [], 0
        if batch:
            writer.write_batch(_as_batch(pa, batch, schema))
    return (path,)


def _as_batch(pa: Any, batch: list[tuple[Value, ...]], schema: Any) -> Any:
    arrays = [
        pa.array(values, type=schema.field(position).type) for position, values in enumerate(zip(*batch, strict=True))
    ]
    return pa.record_batch(arrays, schema=schema)
