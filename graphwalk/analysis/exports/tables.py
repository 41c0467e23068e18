"""Tables of episodes and calls as CSV or Parquet."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from graphwalk.analysis.explained import explained
from graphwalk.analysis.suite_analysis import score_fields
from graphwalk.config.resources import Registry
from graphwalk.files.bulk import cell
from graphwalk.files.writing import new_folder, write_whole
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.record import EpisodeFilter, EpisodeKey, Result, episode_row, key_of
from graphwalk.sanitise import escape_formula

EXPORTS = Registry(
    "export format",
    "graphwalk.exports",
    {
        "csv": "graphwalk.analysis.exports.tables:export_csv",
        "parquet": "graphwalk.analysis.exports.tables:export_parquet",
    },
)


def whole(value: Any) -> Any:
    """Return JSON that every reader accepts: half a character becomes �, NaN and the infinities become text."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, dict):
        return {whole(name): whole(item) for name, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Episodes:
    """Episodes of a run folder that pass a filter; `on_read` is called after each one that was read."""

    folder: RunFolder
    only: EpisodeFilter = field(default_factory=EpisodeFilter)
    on_read: Callable[[], object] = field(default=lambda: None)

    @cached_property
    def keys(self) -> dict[EpisodeKey, int]:
        """Return the log line of each episode, the last one if it was repeated. Raise ConfigError if there is none."""
        played = {key: n for n, key in enumerate(map(key_of, self.folder.records()))}
        lines = {key: n for key, n in played.items() if self.only(key)}
        if not lines:
            raise self.only.nothing(self.folder.path, played)
        return lines

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Result]:
        lines = set(self.keys.values())
        for number, record in enumerate(explained(self.folder)):
            if number in lines:
                # Halves of characters, which models may write, are in no other program's files.
                yield Result.from_dict(whole(record))
                self.on_read()


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
        parts["episodes"].append(frame_of([episode_row(result, fields) for result in batch]))
        parts["calls"].append(frame_of([row for result in batch for row in _calls(result)]))
    tables = {name: pl.concat(frames, how="diagonal_relaxed") for name, frames in parts.items()}
    return {name: table.with_columns(pl.col(pl.Null).cast(pl.String)) for name, table in tables.items()}


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows as a data frame: lists and maps as JSON, values of several types as text."""
    cells = [{name: cell(value) for name, value in row.items()} for row in rows]
    return pl.DataFrame(cells, infer_schema_length=None, strict=False)


def _calls(result: Result) -> list[dict[str, Any]]:
    """Return a row per call; `turn` and `call` count from 1, `arguments` is the model's text."""
    return [
        {
            **result.key.as_dict(),
            "turn": turn,
            "call": place,
            "tool": output.call.name,
            "arguments": output.call.arguments,
            "error": output.error,
            "rows": output.rows,
            "seconds": output.seconds,
            "result": output.content,
        }
        for turn, replied in enumerate(result.trajectory.turns, 1)
        for place, output in enumerate(replied.results, 1)
    ]
