"""Rows as files, JSON Lines and Parquet: how a part is written, and how parts become one file."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphwalk.bulk.rows import Row
from graphwalk.errors import ConfigError
from graphwalk.files import new_file, write_whole

Columns = Mapping[str, type]
_BLOCK = 1 << 20


class Form(ABC):
    """A form of file. Same rows, same bytes; files are there whole or not at all."""

    @abstractmethod
    def write(self, path: Path, rows: Iterable[Row], columns: Columns) -> int:
        """Write one file; returns the number of rows. ConfigError where it cannot be written."""

    @abstractmethod
    def join(self, parts: Iterable[Path], out: Path, columns: Columns) -> int:
        """The same for files that `write` made, one after the other, without holding them in memory."""


class JsonLines(Form):
    """One JSON object a line."""

    def write(self, path: Path, rows: Iterable[Row], columns: Columns) -> int:
        written = 0

        def lines() -> Iterator[str]:
            nonlocal written
            for written, row in enumerate(rows, start=1):  # noqa: B007 -- counts for the caller
                yield json.dumps(row, ensure_ascii=False) + "\n"

        write_whole(path, lines())
        return written

    def join(self, parts: Iterable[Path], out: Path, columns: Columns) -> int:
        written = 0

        def blocks() -> Iterator[bytes]:
            nonlocal written
            for part in parts:
                with part.open("rb") as file:
                    while block := file.read(_BLOCK):
                        written += block.count(b"\n")
                        yield block

        write_whole(out, blocks())
        return written


class Parquet(Form):
    """A group of rows for each part."""

    def write(self, path: Path, rows: Iterable[Row], columns: Columns) -> int:
        import pyarrow
        from pyarrow.parquet import write_table

        held: dict[str, list[Any]] = {name: [] for name in columns}
        for row in rows:
            for name, values in held.items():
                values.append(_cell(row.get(name)))
        table = pyarrow.table(held, arrow_schema(columns))
        with new_file(path) as file:
            write_table(table, file, compression="zstd")
        return int(table.num_rows)

    def join(self, parts: Iterable[Path], out: Path, columns: Columns) -> int:
        from pyarrow.parquet import ParquetFile, ParquetWriter

        written = 0
        with new_file(out) as file, ParquetWriter(file, arrow_schema(columns), compression="zstd") as writer:
            for path in parts:
                with ParquetFile(path) as part:
                    for group in range(part.num_row_groups):
                        writer.write_table(part.read_row_group(group))
                    written += part.metadata.num_rows
        return written


def form_of(path: Path) -> Form:
    """Parquet for that ending, and JSON Lines for any other. ConfigError where pyarrow is missing."""
    if path.suffix.lower() != ".parquet":
        return JsonLines()
    check_pyarrow()
    return Parquet()


def check_pyarrow() -> None:
    """ConfigError where it is missing."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ConfigError("Parquet needs pyarrow", hint="pip install 'graphwalk-agents[parquet]'") from error


def arrow_schema(columns: Columns) -> Any:
    """The schema of a Parquet file; lists and maps are JSON text."""
    import pyarrow

    kinds = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64()}
    return pyarrow.schema([(name, kinds.get(kind, pyarrow.string())) for name, kind in columns.items()])


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
