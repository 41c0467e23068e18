"""Rows in one file, as JSON, CSV or Parquet; rows that take hours are made by several processes."""

import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.files.writing import new_file, write_whole
from graphwalk.sanitise import one_line
from graphwalk.terminal import progress_bar

Row = Mapping[str, Any]
T = TypeVar("T")
Columns = Mapping[str, type]
"""Name → type: bool, int, float, list for chat messages, or str for texts, and for lists and maps, which Parquet holds
as JSON text."""
_AT_ONCE = 100
"""Rows of a Parquet file that are read at once."""
_GROUP = 1000
"""Rows of a group of a Parquet file."""
_PART = 8
"""Things that a process gets at a time."""
_AHEAD = 4
"""Parts per process of one batch."""


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


def write_rows(rows: Iterable[Row], out: Path, columns: Columns) -> int:
    """Write a file in the format of its suffix, atomically and in constant memory; return the number of rows.

    Raise ConfigError if it cannot be written.
    """
    numbers = count()
    numbered = zip(rows, numbers)  # noqa: B905 (numbers have no end)
    if out.suffix.lower() != ".parquet":
        write_whole(out, (json.dumps(row, ensure_ascii=False) + "\n" for row, _ in numbered))
        return next(numbers)
    import polars

    message = polars.Struct({"role": polars.String, "content": polars.String})
    types = {bool: polars.Boolean, int: polars.Int64, float: polars.Float64, str: polars.String}
    schema = {name: polars.List(message) if kind is list else types[kind] for name, kind in columns.items()}
    with new_file(out) as file, TemporaryDirectory(dir=out.parent) as folder:
        lines = Path(folder) / "rows.jsonl"
        typed = ({name: _typed(row.get(name), kind) for name, kind in columns.items()} for row, _ in numbered)
        write_whole(lines, (json.dumps(row) + "\n" for row in typed))
        polars.scan_ndjson(lines, schema=schema).sink_parquet(file, row_group_size=_GROUP)
    return next(numbers)


def _typed(value: Any, kind: type) -> Any:
    return value if value is None or kind is list else kind(cell(value))


def cell(value: Any) -> Any:
    """Return the value of a cell, with lists and maps as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


@dataclass(frozen=True)
class Rows:
    """Deterministic rows that are made part by part, in any process."""

    make: Callable[[Sequence[Any]], Iterable[Row]]
    """Return the rows of some of the `things`; picklable: a function of a module, or a partial of one."""
    things: Iterable[Any]
    """Things in the order of the file, made one by one."""
    name: str
    """Name of the things for the progress bar: "graphs"."""
    total: int
    """Number of things."""

    def in_order(self, workers: int | None = None) -> Iterator[Row]:
        """Yield the rows in their order, made by `workers` processes (None: one per core).

        Raise GraphwalkError if a process was killed.
        """
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        things = iter(self.things)
        parts = iter(lambda: list(islice(things, _PART)), [])
        workers = min(workers or cores(), max(1, -(-self.total // _PART)))
        with (
            progress_bar(self.name, self.total) as done,
            ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool,
        ):
            try:
                while batch := list(islice(parts, _AHEAD * workers)):
                    for part, rows in zip(batch, pool.map(partial(_list_of, self.make), batch), strict=True):
                        yield from rows
                        done(len(part))
            except BrokenProcessPool as error:
                hint = "fewer --workers, if the memory was full"
                raise GraphwalkError("a process of several was killed", hint=hint) from error


def _list_of(make: Callable[[Sequence[Any]], Iterable[Row]], part: Sequence[Any]) -> list[Row]:
    return list(make(part))


def cores() -> int:
    """Return the number of processors that this process may use."""
    # Containers and batch systems lend some of the machine's processors; only Linux tells which.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
