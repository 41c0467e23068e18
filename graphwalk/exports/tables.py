"""Tables of episodes and calls, as CSV and Parquet."""

import csv
import io
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

from graphwalk.bulk import cell, parquet_table
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
            **{"turn": turn, "call": place, "tool": output.call.name, "arguments": output.call.arguments},
            **{"error": output.error, "rows": output.rows, "seconds": output.seconds, "result": output.content},
        }
        for turn, replied in enumerate(result.trajectory.turns, 1)
        for place, output in enumerate(replied.results, 1)
    ]
    return {"episodes": [episode_row(result, score_type)], "calls": calls}


def columns_of(episodes: Episodes) -> dict[str, dict[str, type]]:
    """Return name and type of each column of each table: bool, int, float, or str for others and mixed types.

    All episodes are read, since a column may appear in any of them.
    """
    tables: dict[str, dict[str, type | None]] = {"episodes": {}, "calls": dict.fromkeys(_OF_CALL)}
    for result in episodes.quiet:
        for table, rows in rows_of(result, episodes.suite.score_type).items():
            for row in rows:
                for name, value in row.items():
                    tables[table][name] = _common_type(tables[table].get(name), value)
    return {table: {name: kind or str for name, kind in kinds.items()} for table, kinds in tables.items()}


def _common_type(kind: type | None, value: Any) -> type | None:
    if value is None:
        return kind
    own = type(value) if isinstance(value, bool | int | float) else str
    if own is int and not -_LARGEST <= value < _LARGEST:
        own = str
    if kind is None or kind is own:
        return own
    return float if {kind, own} == {int, float} else str


Write: TypeAlias = Callable[[list[FlatRow]], object]
"""Adds rows to a table."""


def _export(
    episodes: Episodes, out: Path, open_table: Callable[[ExitStack, Path, Mapping[str, type]], Write], suffix: str
) -> None:
    folder, tables = new_folder(out), columns_of(episodes)
    with ExitStack() as stack:
        write = {name: open_table(stack, folder / f"{name}{suffix}", columns) for name, columns in tables.items()}
        for result in episodes:
            for table, rows in rows_of(result, episodes.suite.score_type).items():
                write[table](rows)


def export_csv(episodes: Episodes, out: Path) -> None:
    """Write episodes.csv and calls.csv into a new folder.

    They have a row per episode, and one per call. An apostrophe precedes texts that a spreadsheet would execute.
    """
    _export(episodes, out, _csv_table, ".csv")


def _csv_table(stack: ExitStack, path: Path, columns: Mapping[str, type]) -> Write:
    file = io.TextIOWrapper(stack.enter_context(new_file(path)), encoding="utf-8", newline="", write_through=True)
    stack.callback(file.detach)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    return lambda rows: writer.writerows([_csv_text(row.get(name)) for name in columns] for row in rows)


def _csv_text(value: Any) -> Any:
    plain = cell(value)
    # Some programs end a text at a NUL, some refuse the file.
    return escape_formula(plain.replace("\0", "\\x00")) if isinstance(plain, str) else plain


def export_parquet(episodes: Episodes, out: Path) -> None:
    """Write episodes.parquet and calls.parquet into a folder.

    They have a row per episode, and one per call. Lists and maps are JSON text. Needs pyarrow: pip install
    'graphwalk-agents[parquet]'
    """
    _export(episodes, out, parquet_table, ".parquet")
