"""Tables of episodes and calls as CSV or Parquet."""

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from graphwalk.analysis.suite_analysis import score_fields
from graphwalk.exports.episodes import Episodes
from graphwalk.files.bulk import cell
from graphwalk.files.writing import new_folder, write_whole
from graphwalk.runs.record import Result, episode_row
from graphwalk.sanitise import escape_formula

_BATCH = 1000
"""Episodes whose rows are held as Python objects."""


def export_csv(episodes: Episodes, out: Path) -> None:
    """Write episodes.csv and calls.csv into a new folder.

    They have a row per episode, and one per call. An apostrophe precedes texts that a spreadsheet would execute.
    """
    folder = new_folder(out)
    for name, table in _tables(episodes).items():
        # Some programs end a text at a NUL, some refuse the file.
        texts = pl.col(pl.String).str.replace_all("\0", "\\x00", literal=True)
        texts = texts.map_elements(escape_formula, return_dtype=pl.String)
        truths = pl.col(pl.Boolean).cast(pl.String).str.to_titlecase()
        _write(folder / f"{name}.csv", table.with_columns(texts, truths).write_csv)


def export_parquet(episodes: Episodes, out: Path) -> None:
    """Write episodes.parquet and calls.parquet into a new folder.

    They have a row per episode, and one per call. Lists and maps are JSON, values of several types text.
    """
    folder = new_folder(out)
    for name, table in _tables(episodes).items():
        _write(folder / f"{name}.parquet", table.write_parquet)


def _write(path: Path, write: Callable[[BytesIO], object]) -> None:
    """Write a table by way of memory: polars reports a full disk without the number of the error."""
    buffer = BytesIO()
    write(buffer)
    write_whole(path, [buffer.getvalue()])


def _tables(episodes: Episodes) -> dict[str, pl.DataFrame]:
    """Return the tables by name: any episode may add a column."""
    fields, results = score_fields(episodes.folder), iter(episodes)
    parts: dict[str, list[pl.DataFrame]] = {"episodes": [], "calls": []}
    while batch := list(islice(results, _BATCH)):
        parts["episodes"].append(_frame([episode_row(result, fields) for result in batch]))
        parts["calls"].append(_frame([row for result in batch for row in _calls(result)]))
    tables = {name: pl.concat(frames, how="diagonal_relaxed") for name, frames in parts.items()}
    return {name: table.with_columns(pl.col(pl.Null).cast(pl.String)) for name, table in tables.items()}


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    cells = [{name: cell(value) for name, value in row.items()} for row in rows]
    return pl.DataFrame(cells, infer_schema_length=None, strict=False)


def _calls(result: Result) -> list[dict[str, Any]]:
    """Return a row per call; `turn` and `call` count from 1, `arguments` is the model's text."""
    return [
        {
            **result.key._asdict(),
            **{"turn": turn, "call": place, "tool": output.call.name, "arguments": output.call.arguments},
            **{"error": output.error, "rows": output.rows, "seconds": output.seconds, "result": output.content},
        }
        for turn, replied in enumerate(result.trajectory.turns, 1)
        for place, output in enumerate(replied.results, 1)
    ]
