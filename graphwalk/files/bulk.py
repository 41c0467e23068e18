"""Write rows into one file, as JSON Lines or Parquet; rows that take time are made by several processes."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.files.writing import new_file, write_whole
from graphwalk.terminal.progress import progress_bar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Row = Mapping[str, Any]
Columns = Mapping[str, type]
"""Name → type: bool, int, float, or str for texts, and for lists and maps, which Parquet holds as JSON text."""
_GROUP = 1000
"""Rows of a Parquet file that are held in memory."""
_PART = 8
"""Things that a process gets at a time."""
_AHEAD = 4
"""Parts per process that are made before they are written."""


def write_rows(rows: Iterable[Row], out: Path, columns: Columns) -> int:
    """Write a file in the format of its suffix, atomically and in constant memory; return the number of rows.

    Raise ConfigError if it cannot be written, or if pyarrow is missing for .parquet.
    """
    number = 0

    def counted_rows() -> Iterator[Row]:
        nonlocal number
        for number, row in enumerate(rows, start=1):  # noqa: B007
            yield row

    if out.suffix.lower() != ".parquet":
        write_whole(out, (json.dumps(row, ensure_ascii=False) + "\n" for row in counted_rows()))
        return number
    with ExitStack() as stack:
        add = parquet_table(stack, out, columns)
        for row in counted_rows():
            add([row])
    return number


def parquet_table(stack: ExitStack, path: Path, columns: Columns) -> Callable[[Iterable[Row]], object]:
    """Open a table; return the function that adds rows. Raise ConfigError if pyarrow is missing."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise ConfigError("Parquet needs pyarrow", hint="pip install 'graphwalk-agents[parquet]'") from error
    kinds = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    schema, waiting = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()]), list[Row]()
    writer = stack.enter_context(ParquetWriter(stack.enter_context(new_file(path)), schema, compression="zstd"))

    def flush() -> None:
        table = {name: [_typed(row.get(name), kind) for row in waiting] for name, kind in columns.items()}
        writer.write_table(pyarrow.table(table, schema))
        waiting.clear()

    def add(rows: Iterable[Row]) -> None:
        waiting.extend(rows)
        if len(waiting) >= _GROUP:
            flush()

    stack.callback(flush)
    return add


def _typed(value: Any, kind: type) -> Any:
    return None if value is None else kind(cell(value))


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
    columns: Columns
    inputs: Mapping[str, Any]
    """All inputs of the rows, as JSON, for a description of the file."""


def write_in_parallel(rows: Rows, out: Path, workers: int | None = None) -> int:
    """Write a file of rows that `workers` processes make (None: one per core); return the number of rows.

    The bytes do not depend on `workers`. Raise ConfigError as `write_rows`, GraphwalkError if a process was killed.
    """
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    workers = min(workers or cores(), max(1, -(-rows.total // _PART)))
    context = get_context("spawn")
    end, parent = context.Pipe(duplex=False)

    def each_row() -> Iterator[Row]:
        things = iter(rows.things)
        while parts := list(filter(None, (list(islice(things, _PART)) for _ in range(_AHEAD * workers)))):
            for part, part_rows in zip(parts, pool.map(partial(_list_of_rows, rows.make), parts), strict=True):
                yield from part_rows
                done(len(part))

    with (
        progress_bar(rows.name, rows.total) as done,
        end,
        ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(end,)) as pool,
        parent,
    ):
        try:
            return write_rows(each_row(), out, rows.columns)
        except BrokenProcessPool as error:
            hint = "run the same command again; with fewer --workers, if the memory was full"
            raise GraphwalkError("a process of several was killed", hint=hint) from error


def _list_of_rows(make: Callable[[Sequence[Any]], Iterable[Row]], things: Sequence[Any]) -> list[Row]:
    return list(make(things))


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _begin(end: "Connection[Any, Any]") -> None:
    """Prepare a worker process: ignore Ctrl-C, which the parent handles, and exit when the parent closes the pipe."""

    def exit_with_parent() -> None:
        end.poll(None)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=exit_with_parent, daemon=True).start()
