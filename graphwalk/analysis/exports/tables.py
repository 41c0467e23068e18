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


def as_strict_json(value: Any) -> Any:
    """Return JSON that every reader accepts: half a character becomes �, NaN and the infinities become text."""
    if isinstance(value, str):
        return _with_whole_characters(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, dict):
        return {as_strict_json(name): as_strict_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [as_strict_json(item) for item in value]
    return value


def _with_whole_characters(text: str) -> str:
    """Return a text with � for "\\ud83d", half of an emoji: models write it, and UTF-8 has no bytes for it."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(frozen=True)
class Episodes:
    """Episodes of a run folder that pass a filter; `on_read` is called after each one that was read."""

    folder: RunFolder
    only: EpisodeFilter = field(default_factory=EpisodeFilter)
    on_read: Callable[[], object] = field(default=lambda: None)

    @cached_property
    def _places(self) -> set[int]:
        """The places of the episodes in the log of the run. Raise ConfigError if there is none."""
        place_of: dict[EpisodeKey, int] = {}
        for place, record in enumerate(self.folder.records()):
            place_of[key_of(record)] = place  # of a repeated episode, the last one
        places = {place for key, place in place_of.items() if self.only(key)}
        if not places:
            raise self.only.nothing(self.folder.path, place_of)
        return places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Result]:
        places = self._places
        for place, record in enumerate(explained(self.folder)):
            if place in places:
                yield Result.from_dict(as_strict_json(record))
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
    """Return the tables `episodes` and `calls`."""
    fields = score_fields(episodes.folder)
    results = iter(episodes)
    frames_of_episodes = []
    frames_of_calls = []
    # A data frame takes less memory than its rows as Python objects.
    while batch := list(islice(results, _BATCH)):
        episode_rows = []
        call_rows = []
        for result in batch:
            episode_rows.append(episode_row(result, fields))
            call_rows.extend(_call_rows(result))
        frames_of_episodes.append(data_frame(episode_rows))
        frames_of_calls.append(data_frame(call_rows))
    return {"episodes": _joined(frames_of_episodes), "calls": _joined(frames_of_calls)}


def _joined(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of all frames, with the columns of all of them: any episode may add one."""
    table = pl.concat(frames, how="diagonal_relaxed")
    # A column without any value has the type Null, which not every reader of Parquet knows.
    return table.with_columns(pl.col(pl.Null).cast(pl.String))


def data_frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows as a data frame: lists and maps as JSON, values of several types as text."""
    rows_of_cells = []
    for row in rows:
        rows_of_cells.append({name: cell(value) for name, value in row.items()})
    # The type of a column is that of all its values: 3 and "three" in one column become texts.
    return pl.DataFrame(rows_of_cells, infer_schema_length=None, strict=False)


def _call_rows(result: Result) -> list[dict[str, Any]]:
    """Return a row per call; `turn` and `call` count from 1, `arguments` is the model's text."""
    rows = []
    for turn_number, turn in enumerate(result.trajectory.turns, 1):
        for call_number, output in enumerate(turn.results, 1):
            row = {
                **result.key.as_dict(),
                "turn": turn_number,
                "call": call_number,
                "tool": output.call.name,
                "arguments": output.call.arguments,
                "error": output.error,
                "rows": output.rows,
                "seconds": output.seconds,
                "result": output.content,
            }
            rows.append(row)
    return rows
