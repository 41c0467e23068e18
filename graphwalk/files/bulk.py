"""Rows in one file: JSON lines are written, JSON lines and Parquet are read."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from graphwalk.errors import ConfigError
from graphwalk.files.writing import write_whole
from graphwalk.sanitise import one_line

Row = Mapping[str, Any]
T = TypeVar("T")
_AT_ONCE = 100
"""Rows of a Parquet file that are read at once."""


def usable_rows(path: Path, columns: Sequence[str], read: Callable[[Row, int], T | None]) -> Iterator[T]:
    """Yield what `read` returns for the rows of a .jsonl or .parquet file with these columns.

    `read` gets a row and its number from 1 on: the line of a .jsonl file, else the position. It raises ValueError for a
    row that cannot be used, and returns None for one that is not chosen. Raise ConfigError for another ending, a file
    that cannot be read, the first row that cannot be used, and if no row is left.
    """
    suffix = path.suffix.lower()
    rows: Iterator[str | Row]
    if suffix == ".jsonl":
        rows = _lines(path)
    elif suffix == ".parquet":
        rows = _parquet_rows(path, columns)
    else:
        raise ConfigError(f"{path.name}: expected a .jsonl or .parquet file")
    usable = 0
    for number, row in enumerate(rows, 1):
        if isinstance(row, str) and not row.strip():
            continue
        try:
            value = read(_row(row, columns) if isinstance(row, str) else row, number)
        except ValueError as error:
            raise ConfigError(f"{path}: row {number}: {error}", hint="correct it, or leave it out") from error
        if value is not None:
            usable += 1
            yield value
    if not usable:
        raise ConfigError(f"{path}: no row is left", hint="choose other rows")


def _lines(path: Path) -> Iterator[str | Row]:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            yield from lines
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {one_line(error)}", hint="pass a text file in UTF-8") from error


def _row(line: str, columns: Sequence[str]) -> Row:
    """Return the object of a line. Raise ValueError if there is none with these columns."""
    try:
        row: Row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {one_line(error)}") from error
    # 7 is JSON without columns.
    names = row.keys() if isinstance(row, dict) else ()
    missing = [name for name in columns if name not in names]
    if missing:
        raise ValueError(f"missing column {', '.join(missing)}")
    return row


def _parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[str | Row]:
    import polars

    try:
        for batch in polars.scan_parquet(path).select(columns).collect_batches(chunk_size=_AT_ONCE):
            yield from batch.iter_rows(named=True)
    except (OSError, polars.exceptions.PolarsError) as error:
        reason, *_ = str(error).splitlines()  # a plan of the query follows
        raise ConfigError(f"{path} cannot be read as Parquet: {one_line(reason)}") from error


def write_rows(rows: Iterable[Row], out: Path) -> int:
    """Write FILE.jsonl, atomically and in constant memory; return the number of rows.

    Raise ConfigError for another ending, and if the file cannot be written.
    """
    if out.suffix.lower() != ".jsonl":
        raise ConfigError(f"{out.name}: expected a .jsonl file", hint=f"--out {out.stem}.jsonl")
    number = 0

    def lines() -> Iterator[str]:
        nonlocal number
        for row in rows:
            yield json.dumps(row, ensure_ascii=False) + "\n"
            number += 1

    write_whole(out, lines())
    return number


def cell(value: Any) -> Any:
    """Return the value of a cell, with lists and maps as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def cores() -> int:
    """Return the number of processors that this process may use."""
    # Containers and batch systems lend some of the machine's processors; only Linux tells which.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
