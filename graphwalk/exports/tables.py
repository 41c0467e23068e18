"""Tables of episodes and calls as CSV or Parquet."""

import csv
import io
from collections.abc import Mapping, Sequence, Set
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from graphwalk.analysis.suite_analysis import score_fields
from graphwalk.exports.episodes import Episodes
from graphwalk.files.bulk import Columns, cell, parquet_table
from graphwalk.files.writing import new_file, new_folder
from graphwalk.runs.record import Result, episode_row
from graphwalk.sanitise import escape_formula


def rows_of(result: Result, fields: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
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
    return {"episodes": [episode_row(result, fields)], "calls": calls}


def export_csv(episodes: Episodes, out: Path) -> None:
    """Write episodes.csv and calls.csv into a new folder.

    They have a row per episode, and one per call. An apostrophe precedes texts that a spreadsheet would execute.
    """
    folder, fields = new_folder(out), score_fields(episodes.folder)
    tables = _columns(episodes)
    with ExitStack() as stack:
        writers = {}
        for table, names in tables.items():
            stream = stack.enter_context(new_file(folder / f"{table}.csv"))
            file = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
            stack.callback(file.detach)
            writers[table] = csv.writer(file, lineterminator="\n")
            writers[table].writerow(names)
        for result in episodes:
            for table, rows in rows_of(result, fields).items():
                writers[table].writerows([_csv_text(row.get(name)) for name in tables[table]] for row in rows)


def export_parquet(episodes: Episodes, out: Path) -> None:
    """Write episodes.parquet and calls.parquet into a new folder.

    They have a row per episode, and one per call. Lists and maps are JSON, values of several types text.
    """
    folder, fields = new_folder(out), score_fields(episodes.folder)
    with ExitStack() as stack:
        add = {
            table: parquet_table(stack, folder / f"{table}.parquet", columns)
            for table, columns in _columns(episodes).items()
        }
        for result in episodes:
            for table, rows in rows_of(result, fields).items():
                add[table](rows)


def _columns(episodes: Episodes) -> dict[str, Columns]:
    """Return the columns of each table: any episode may add one."""
    types: dict[str, dict[str, set[type]]] = {"episodes": {}, "calls": {}}
    fields = score_fields(episodes.folder)
    for result in Episodes(episodes.folder, episodes.only):
        for table, rows in rows_of(result, fields).items():
            for row in rows:
                for name, value in row.items():
                    types[table].setdefault(name, set()).update([] if value is None else [type(cell(value))])
    return {table: {name: _common(kinds) for name, kinds in columns.items()} for table, columns in types.items()}


def _common(kinds: Set[type]) -> type:
    """Return the type of a column that holds values of these types."""
    if kinds == {int, float}:
        return float
    return next(iter(kinds)) if len(kinds) == 1 else str


def _csv_text(value: Any) -> Any:
    plain = cell(value)
    # Some programs end a text at a NUL, some refuse the file.
    return escape_formula(plain.replace("\0", "\\x00")) if isinstance(plain, str) else plain
