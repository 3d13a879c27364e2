"""Runs in the forms that other tools read, made from a run directory alone: the same files give the same bytes.

`csv` and `parquet` hold the tidy table of `columns`; `inspect` the logs that `inspect view` opens; `hf` the scores of
a model card; `markdown` a table to paste. Tables and logs are written record by record.
"""

from bakeoff.export.csv_table import write_csv
from bakeoff.export.hub import Wishes, write_hub
from bakeoff.export.inspect_log import write_inspect
from bakeoff.export.markdown import markdown_table
from bakeoff.export.parquet import write_parquet
from bakeoff.export.reading import survey

FORMATS = ("csv", "parquet", "inspect", "hf", "markdown")

__all__ = [
    "FORMATS",
    "Wishes",
    "markdown_table",
    "survey",
    "write_csv",
    "write_hub",
    "write_inspect",
    "write_parquet",
]
