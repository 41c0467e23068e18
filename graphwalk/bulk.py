"""Write rows into one file, as JSON Lines or Parquet; work that takes hours is divided into parts, on all cores."""

import json
import os
import shlex
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from graphwalk.console import counted
from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.files import cannot_write, make_folder, new_file, write_whole
from graphwalk.progress import progress_bar, speed

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

J = TypeVar("J")
Row = Mapping[str, Any]
Columns = Mapping[str, type]
"""Name → type: bool, int, float, or str for texts, and for lists and maps, which Parquet holds as JSON text."""
_GROUP = 1000
"""Rows of a Parquet file that are held in memory."""
_PART = 8
"""Things of a part."""
_AHEAD = 4
"""Parts per process that are running or wait."""


def write_rows(rows: Iterable[Row], out: Path, columns: Columns) -> int:
    """Write a file in the format of its suffix, atomically and in constant memory; return the number of rows.

    Raise ConfigError if it cannot be written, or if pyarrow is missing for .parquet.
    """
    number = 0

    def counted_rows() -> Iterator[Row]:
        nonlocal number
        for number, row in enumerate(rows, start=1):  # noqa: B007
            yield row

    if out.suffix.lower() == ".parquet":
        with ExitStack() as stack:
            add = parquet_table(stack, out, columns)
            for row in counted_rows():
                add([row])
    else:
        write_whole(out, (json.dumps(row, ensure_ascii=False) + "\n" for row in counted_rows()))
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
    """All inputs of the rows, as JSON; parts made from other inputs are refused."""


class Written(NamedTuple):
    """The result of a write: `rows` in the file; `things` made now in `seconds`, without those made earlier."""

    rows: int
    things: int
    seconds: float
    name: str

    def __str__(self) -> str:
        rate = f", {speed(self.things / self.seconds)}" if self.things and self.seconds else ""
        made = counted(self.things, self.name.removesuffix("s"))
        return f"{counted(self.rows, 'row')}; {made} in {self.seconds:.2f} s{rate}"


def write_in_parts(rows: Rows, out: Path, workers: int | None = None) -> Written:
    """Write a file of rows with `workers` processes (None: one per core), which make its parts in FILE.parts/.

    The bytes do not depend on `workers`. Continue with the parts that an interrupted call left. Raise ConfigError if
    they have other inputs, or on a write error.
    """
    if not out.parent.is_dir():
        raise cannot_write(out, FileNotFoundError(2, "No such file or directory"), ConfigError)
    folder = out.with_name(f"{out.name}.parts")
    _claim(folder, json.dumps(rows.inputs))
    begun, parts, made = time.perf_counter(), list[Path](), 0
    workers = min(workers or cores(), -(-rows.total // _PART))

    with progress_bar(rows.name, rows.total) as done:

        def missing() -> Iterator[tuple[Path, list[Any]]]:
            things = iter(rows.things)
            while part := list(islice(things, _PART)):
                parts.append(folder / f"{len(parts):07}.jsonl")
                if parts[-1].exists():
                    done(len(part))
                else:
                    yield parts[-1], part

        for _, part in spread(partial(_write_part, rows.make), missing(), workers):
            made += len(part)
            done(len(part))
    seconds = time.perf_counter() - begun
    with progress_bar("joining"):
        number = write_rows(_rows_in(parts), out, rows.columns)
    shutil.rmtree(folder, ignore_errors=True)
    return Written(number, made, seconds, rows.name)


def _claim(folder: Path, inputs: str) -> None:
    """Record the inputs of the parts. Raise ConfigError if existing parts have other inputs."""
    path = folder / "inputs.json"
    if not folder.exists():
        make_folder(folder)
        write_whole(path, [inputs])
    elif not path.is_file() or path.read_text(encoding="utf-8") != inputs:
        raise ConfigError(
            f"{folder} holds parts of a file with other inputs",
            hint=f"rm -r {shlex.quote(str(folder))}   starts anew",
        )


def _write_part(make: Callable[[Sequence[Any]], Iterable[Row]], part: tuple[Path, Sequence[Any]]) -> None:
    path, things = part
    write_rows(make(things), path, {})


def _rows_in(parts: Iterable[Path]) -> Iterator[Row]:
    for part in parts:
        with part.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(work: Callable[[J], object], jobs: Iterable[J], workers: int) -> Iterator[J]:
    """Run all jobs in `workers` processes (1: this one); yield each when it is done.

    Errors of `work` are raised. Raise GraphwalkError if a process was killed.
    """
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    if workers <= 1:
        for job in jobs:
            work(job)
            yield job
        return
    waiting: deque[tuple[Future[Any], J]] = deque()

    def first_done() -> J:
        future, job = waiting.popleft()
        future.result()
        return job

    context = get_context("spawn")
    over, held = context.Pipe(duplex=False)
    with over, ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(over,)) as pool, held:
        try:
            for job in jobs:
                waiting.append((pool.submit(work, job), job))
                if len(waiting) >= _AHEAD * workers:
                    yield first_done()
            while waiting:
                yield first_done()
        except BrokenProcessPool as error:
            hint = "run the same command again to continue; with fewer --workers, if the memory was full"
            raise GraphwalkError("a process of several was killed", hint=hint) from error


def _begin(over: "Connection[Any, Any]") -> None:
    """Prepare a worker process: ignore Ctrl-C, which the parent handles, and exit when the parent closes the pipe."""

    def exit_with_parent() -> None:
        over.poll(None)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=exit_with_parent, daemon=True).start()
