"""Runs as Parquet: `episodes.parquet` and `calls.parquet`."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from graphwalk.bulk.forms import arrow_schema, check_pyarrow
from graphwalk.exports.episodes import Episodes, new_folder
from graphwalk.exports.tables import FlatRow, cell, columns_of, rows_of
from graphwalk.files import new_file

_ROWS = 1000
"""Rows that are held in memory."""


def export_parquet(episodes: Episodes, out: Path) -> None:
    """Parquet: episodes.parquet with a row for each episode, calls.parquet with a row for each call, in a new folder.

    Lists and maps, such as answers, are JSON text. Needs pyarrow: pip install 'graphwalk-agents[parquet]'
    """
    check_pyarrow()
    folder, tables = new_folder(out), columns_of(episodes)
    with ExitStack() as stack:
        writers = {table: _Table(stack, folder / f"{table}.parquet", columns) for table, columns in tables.items()}
        for result in episodes:
            for table, rows in rows_of(result, episodes.suite.score_type).items():
                writers[table].add(rows)
        for writer in writers.values():
            writer.flush()


class _Table:
    """One file while it is written, a group of rows after the other."""

    def __init__(self, stack: ExitStack, path: Path, columns: dict[str, type]) -> None:
        from pyarrow.parquet import ParquetWriter

        self._columns, self._rows = columns, list[FlatRow]()
        self._schema = arrow_schema(columns)
        self._writer = stack.enter_context(ParquetWriter(stack.enter_context(new_file(path)), self._schema))

    def add(self, rows: list[FlatRow]) -> None:
        self._rows += rows
        if len(self._rows) >= _ROWS:
            self.flush()

    def flush(self) -> None:
        import pyarrow

        table = {name: [_typed(row.get(name), kind) for row in self._rows] for name, kind in self._columns.items()}
        self._writer.write_table(pyarrow.table(table, self._schema))
        self._rows.clear()


def _typed(value: Any, kind: type) -> Any:
    return None if value is None else kind(cell(value))
