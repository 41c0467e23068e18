"""Write millions of rows into one file, part by part, on all cores.

Each part is a file in FILE.parts/ until all are complete; then they are joined. Parts do not depend on the process
that makes them, so that killed work can be resumed with the same result.
"""

import json
import os
import shlex
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from graphwalk.console import counted
from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.files import cannot_write, make_folder, new_file, write_whole
from graphwalk.progress import progress_bar, speed
from graphwalk.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

J = TypeVar("J")
Row = Mapping[str, Any]
Columns = Mapping[str, type]
Workers = Annotated[int | None, typer.Option(min=1, help="Number of processes. Default: one per core.")]
"""The option of commands that write rows."""
_AHEAD = 4
"""Jobs per process that are running or wait."""


class Job(NamedTuple):
    """The input of one part of a file, sent to another process. `things`: the number that the job makes."""

    what: Any
    things: int


@dataclass(frozen=True)
class Rows:
    """Deterministic rows, made job by job in any process."""

    name: str
    """Name of the things for the progress bar: "mazes"."""
    of: Callable[[Any], Iterable[Row]]
    """Returns the rows of a job from its `what`; picklable: a function of a module, or a partial of one."""
    jobs: Callable[[], Iterable[Job]]
    """Yields the jobs lazily, in the order of the file."""
    columns: Mapping[str, type]
    """Of every row, in order: bool, int, float, str; list or dict, which Parquet holds as JSON text."""
    about: Mapping[str, Any]
    """All inputs of the rows, as JSON; parts made from other inputs are refused."""
    total: int
    """Total number of things."""


def in_ranges(first: int, count: int, size: int) -> Iterator[Job]:
    """Yield jobs of `size` things each, with `what` = (start, end)."""
    for start in range(first, first + count, size):
        end = min(start + size, first + count)
        yield Job((start, end), end - start)


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


def write_rows(rows: Rows, out: Path, workers: int | None = None) -> Written:
    """Write a file of rows in the format of its suffix, with `workers` processes (None: one per core).

    Continue with the parts in FILE.parts/. Raise ConfigError if they have other inputs, or on a write error.
    """
    file_format, begun = JsonLines() if out.suffix.lower() != ".parquet" else Parquet(), time.perf_counter()
    if not out.parent.is_dir():
        raise cannot_write(out, FileNotFoundError(2, "No such file or directory"), ConfigError)
    folder = out.with_name(f"{out.name}.parts")
    if len(list(islice(rows.jobs(), 2))) < 2:
        workers = 1
    _claim(folder, out, rows.about)
    count = made = 0

    def part(number: int) -> Path:
        return folder / f"{number:07}{out.suffix}"

    with progress_bar(rows.name, rows.total) as done:

        def missing() -> Iterator[tuple[Path, Job]]:
            nonlocal count
            for count, job in enumerate(rows.jobs(), start=1):
                if part(count - 1).exists():
                    done(job.things)
                else:
                    yield part(count - 1), job

        for _, job in spread(partial(_make_part, rows.of, rows.columns, file_format), missing(), workers or cores()):
            made += job.things
            done(job.things)
    seconds = time.perf_counter() - begun
    with progress_bar("joining"):
        written = file_format.join(map(part, range(count)), out, rows.columns)
    shutil.rmtree(folder, ignore_errors=True)
    return Written(written, made, seconds, rows.name)


def _make_part(
    of: Callable[[Any], Iterable[Row]], columns: Columns, file_format: "JsonLines | Parquet", part: tuple[Path, Job]
) -> None:
    path, job = part
    file_format.write(path, of(job.what), columns)


def _claim(folder: Path, out: Path, about: Mapping[str, Any]) -> None:
    """Record the inputs of the parts. Raise ConfigError if existing parts have other inputs."""
    now = json.loads(json.dumps({"graphwalk_version": __version__, **about}))
    path, away = folder / "about.json", f"rm -r {shlex.quote(str(folder))}   starts anew"
    if not folder.exists():
        make_folder(folder)
        write_whole(path, [json.dumps(now, indent=2), "\n"])
        return
    try:
        then = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder} is in the way of {out.name}: {error}", hint=away) from error
    if then != now:
        changed = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
        raise ConfigError(
            f"{folder} holds parts of {out.name} that were made in another way: {', '.join(changed)}", hint=away
        )


class JsonLines:
    """Files with one JSON object per line: deterministic bytes, atomic writes."""

    def write(self, path: Path, rows: Iterable[Row], columns: Columns) -> int:
        """Write one file and return the number of rows. Raise ConfigError if it cannot be written."""
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        write_whole(path, lines)
        return len(lines)

    def join(self, parts: Iterable[Path], out: Path, columns: Columns) -> int:
        """Join files of `write` in order, one at a time in memory; return the number of rows."""
        written = 0

        def contents() -> Iterator[bytes]:
            nonlocal written
            for part in parts:
                content = part.read_bytes()
                written += content.count(b"\n")
                yield content

        write_whole(out, contents())
        return written


class Parquet:
    """Parquet files with one row group per part; see `JsonLines`. Raise ConfigError if pyarrow is missing."""

    def __init__(self) -> None:
        check_pyarrow()

    def write(self, path: Path, rows: Iterable[Row], columns: Columns) -> int:
        import pyarrow
        from pyarrow.parquet import write_table

        held: dict[str, list[Any]] = {name: [] for name in columns}
        for row in rows:
            for name, values in held.items():
                value = row.get(name)
                values.append(json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value)
        table = pyarrow.table(held, arrow_schema(columns))
        with new_file(path) as file:
            write_table(table, file, compression="zstd")
        return int(table.num_rows)

    def join(self, parts: Iterable[Path], out: Path, columns: Columns) -> int:
        from pyarrow.parquet import ParquetFile, ParquetWriter

        written = 0
        with new_file(out) as file, ParquetWriter(file, arrow_schema(columns), compression="zstd") as writer:
            for path in parts:
                with ParquetFile(path) as part:
                    for group in range(part.num_row_groups):
                        writer.write_table(part.read_row_group(group))
                    written += part.metadata.num_rows
        return written


def check_pyarrow() -> None:
    """Raise ConfigError if pyarrow is missing."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ConfigError("Parquet needs pyarrow", hint="pip install 'graphwalk-agents[parquet]'") from error


def arrow_schema(columns: Columns) -> Any:
    """Return the schema of a Parquet file; lists and maps are JSON text."""
    import pyarrow

    kinds = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64()}
    return pyarrow.schema([(name, kinds.get(kind, pyarrow.string())) for name, kind in columns.items()])


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

    if workers == 1:
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
