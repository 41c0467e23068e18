"""Tables of episodes and calls, as CSV and Parquet."""

import csv
import io
import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

from graphwalk.bulk import arrow_schema, check_pyarrow
from graphwalk.exports.episodes import Episodes, new_folder
from graphwalk.files import new_file
from graphwalk.runs.result import Result, episode_row
from graphwalk.sanitise import escape_formula
from graphwalk.types.episode import Score

FlatRow: TypeAlias = dict[str, Any]

_OF_CALL = (
    *("task_id", "model", "setting", "repeat", "turn", "call", "tool", "arguments", "error", "rows", "seconds"),
    "result",
)
_LARGEST = 2**63


def rows_of(result: Result, score_type: type[Score]) -> Mapping[str, list[FlatRow]]:
    """Return the rows of an episode in each table. `turn` and `call` count from 1; `arguments` is the model's text."""
    calls = [
        {
            **result.key._asdict(),
            **{"turn": turn, "call": place, "tool": found.call.name, "arguments": found.call.arguments},
            **{"error": found.error, "rows": found.rows, "seconds": found.seconds, "result": found.content},
        }
        for turn, replied in enumerate(result.trajectory.turns, 1)
        for place, found in enumerate(replied.results, 1)
    ]
    return {"episodes": [episode_row(result, score_type)], "calls": calls}


def columns_of(episodes: Episodes) -> dict[str, dict[str, type]]:
    """Return name and type of each column of each table: bool, int, float, or str for others and mixed types.

    All episodes are read, since a column may appear in any of them.
    """
    found: dict[str, dict[str, type | None]] = {"episodes": {}, "calls": dict.fromkeys(_OF_CALL)}
    for result in episodes.quiet:
        for table, rows in rows_of(result, episodes.suite.score_type).items():
            for row in rows:
                for name, value in row.items():
                    found[table][name] = _joined(found[table].get(name), value)
    return {table: {name: kind or str for name, kind in kinds.items()} for table, kinds in found.items()}


def _joined(kind: type | None, value: Any) -> type | None:
    if value is None:
        return kind
    own = type(value) if isinstance(value, bool | int | float) else str
    if own is int and not -_LARGEST <= value < _LARGEST:
        own = str
    if kind is None or kind is own:
        return own
    return float if {kind, own} == {int, float} else str


def cell(value: Any) -> Any:
    """Return the value of a cell, with lists and maps as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def export_csv(episodes: Episodes, out: Path) -> None:
    """Write episodes.csv and calls.csv into a new folder.

    They have a row per episode, and one per call. An apostrophe precedes texts that a spreadsheet would execute.
    """
    folder, tables = new_folder(out), columns_of(episodes)
    with ExitStack() as stack:
        writers = {}
        for table, columns in tables.items():
            file = stack.enter_context(new_file(folder / f"{table}.csv"))
            text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
            stack.callback(text.detach)
            writers[table] = csv.writer(text, lineterminator="\n")
            writers[table].writerow(columns)
        for result in episodes:
            for table, rows in rows_of(result, episodes.suite.score_type).items():
                writers[table].writerows([_csv_text(row.get(name)) for name in tables[table]] for row in rows)


def _csv_text(value: Any) -> Any:
    plain = cell(value)
    # Some programs end a text at a NUL, some refuse the file.
    return escape_formula(plain.replace("\0", "\\x00")) if isinstance(plain, str) else plain


_ROWS = 1000
"""Rows that are held in memory."""


def export_parquet(episodes: Episodes, out: Path) -> None:
    """Write episodes.parquet and calls.parquet into a folder.

    They have a row per episode, and one per call. Lists and maps are JSON text. Needs pyarrow: pip install
    'graphwalk-agents[parquet]'
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

        def typed(value: Any, kind: type) -> Any:
            return None if value is None else kind(cell(value))

        table = {name: [typed(row.get(name), kind) for row in self._rows] for name, kind in self._columns.items()}
        self._writer.write_table(pyarrow.table(table, self._schema))
        self._rows.clear()
