"""Rows by the million into one file, part by part.

Each part is a file of its own in FILE.parts/ until all are there: whichever process makes it, and however often the
work is killed and begun again, the parts are the same, and so is what they are joined to.
"""

import json
import os
import shlex
import shutil
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from graphwalk.bulk.rows import Job, Row, Rows
from graphwalk.console import counted
from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.files import cannot_write, make_folder, new_file, write_whole
from graphwalk.progress import progress_bar, speed
from graphwalk.version import __version__

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

J = TypeVar("J")
_AHEAD = 2
"""Jobs that wait or are worked on, for each process: those that have not begun are not in memory."""
Columns = Mapping[str, type]
_BLOCK = 1 << 20
_ABOUT = "about.json"


@dataclass(frozen=True)
class Written:
    """What came of it: `rows` in the file; `things` made now, in `seconds`, those of an earlier try not counted."""

    rows: int
    things: int
    seconds: float
    name: str

    def __str__(self) -> str:
        rate = f", {speed(self.things / self.seconds)}" if self.things and self.seconds else ""
        made = counted(self.things, self.name.removesuffix("s"))
        return f"{counted(self.rows, 'row')}; {made} in {self.seconds:.2f} s{rate}"


def write_rows(rows: Rows, out: Path, workers: int | None = None) -> Written:
    """Write a file of rows in the form of its name, in so many processes (None: one for each core).

    What an earlier try left in FILE.parts/ is gone on with. ConfigError where that was begun in another way, or the
    file cannot be written.
    """
    file_format, begun = format_of(out), time.perf_counter()
    if not out.parent.is_dir():
        raise cannot_write(out, FileNotFoundError(2, "No such file or directory"), ConfigError)
    folder = out.with_name(f"{out.name}.parts")
    jobs = list(islice(rows.jobs(), 2))
    if len(jobs) == 1 and not folder.exists():
        with progress_bar(rows.name):
            written = file_format.write(out, rows.of(jobs[0].what), rows.columns)
        return Written(written, rows.total, time.perf_counter() - begun, rows.name)
    _claim(folder, out, rows.about)
    parts = _Parts(folder, out.suffix)
    number, made = _make_parts(rows, file_format, parts, workers or cores())
    seconds = time.perf_counter() - begun
    with progress_bar("joining"):
        written = file_format.join(map(parts.path, range(number)), out, rows.columns)
    shutil.rmtree(folder, ignore_errors=True)
    return Written(written, made, seconds, rows.name)


class _Parts(NamedTuple):
    folder: Path
    suffix: str

    def path(self, number: int) -> Path:
        return self.folder / f"{number:07}{self.suffix}"


def _make_parts(rows: Rows, file_format: "FileFormat", parts: _Parts, workers: int) -> tuple[int, int]:
    """How many parts there are, and how many things were made for those that were missing."""
    number = made = 0

    def missing(done: Callable[[int], None]) -> Iterator[tuple[Path, Job]]:
        nonlocal number
        for number, job in enumerate(rows.jobs(), start=1):
            path = parts.path(number - 1)
            if path.exists():
                done(job.things)
            else:
                yield path, job

    with progress_bar(rows.name, rows.total) as done:
        for _, job in spread(partial(_make_part, rows, file_format), missing(done), workers):
            made += job.things
            done(job.things)
    return number, made


def _make_part(rows: Rows, file_format: "FileFormat", part: tuple[Path, Job]) -> None:
    path, job = part
    file_format.write(path, rows.of(job.what), rows.columns)


def _claim(folder: Path, out: Path, about: Mapping[str, Any]) -> None:
    """Note what the parts are of. ConfigError where they are of something else."""
    now = json.loads(json.dumps({"graphwalk_version": __version__, **about}))
    path, away = folder / _ABOUT, f"rm -r {shlex.quote(str(folder))}   begins anew"
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


class FileFormat(ABC):
    """A form of file. Same rows, same bytes; files are there whole or not at all."""

    @abstractmethod
    def write(self, path: Path, rows: Iterable[Row], columns: Columns) -> int:
        """Write one file; returns the number of rows. ConfigError where it cannot be written."""

    @abstractmethod
    def join(self, parts: Iterable[Path], out: Path, columns: Columns) -> int:
        """The same for files that `write` made, one after the other, without holding them in memory."""


class JsonLines(FileFormat):
    """One JSON object a line."""

    def write(self, path: Path, rows: Iterable[Row], columns: Columns) -> int:
        written = 0

        def lines() -> Iterator[str]:
            nonlocal written
            for written, row in enumerate(rows, start=1):  # noqa: B007 -- counts for the caller
                yield json.dumps(row, ensure_ascii=False) + "\n"

        write_whole(path, lines())
        return written

    def join(self, parts: Iterable[Path], out: Path, columns: Columns) -> int:
        written = 0

        def blocks() -> Iterator[bytes]:
            nonlocal written
            for part in parts:
                with part.open("rb") as file:
                    while block := file.read(_BLOCK):
                        written += block.count(b"\n")
                        yield block

        write_whole(out, blocks())
        return written


class Parquet(FileFormat):
    """A group of rows for each part."""

    def write(self, path: Path, rows: Iterable[Row], columns: Columns) -> int:
        import pyarrow
        from pyarrow.parquet import write_table

        held: dict[str, list[Any]] = {name: [] for name in columns}
        for row in rows:
            for name, values in held.items():
                values.append(_cell(row.get(name)))
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


def format_of(path: Path) -> FileFormat:
    """Parquet for that ending, and JSON Lines for any other. ConfigError where pyarrow is missing."""
    if path.suffix.lower() != ".parquet":
        return JsonLines()
    check_pyarrow()
    return Parquet()


def check_pyarrow() -> None:
    """ConfigError where it is missing."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ConfigError("Parquet needs pyarrow", hint="pip install 'graphwalk-agents[parquet]'") from error


def arrow_schema(columns: Columns) -> Any:
    """The schema of a Parquet file; lists and maps are JSON text."""
    import pyarrow

    kinds = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64()}
    return pyarrow.schema([(name, kinds.get(kind, pyarrow.string())) for name, kind in columns.items()])


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(work: Callable[[J], object], jobs: Iterable[J], workers: int) -> Iterator[J]:
    """Work on all jobs in so many processes (1: this one), and yield each when it is done, in any order.

    Errors of `work` are raised. GraphwalkError where a process was killed.
    """
    if workers == 1:
        for job in jobs:
            work(job)
            yield job
        return
    context = get_context("spawn")
    over, held = context.Pipe(duplex=False)
    with over, held, ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(over,)) as pool:
        try:
            waiting: dict[Future[Any], J] = {}
            for job in jobs:
                waiting[pool.submit(work, job)] = job
                if len(waiting) >= _AHEAD * workers:
                    yield from _ended(waiting)
            while waiting:
                yield from _ended(waiting)
        except BrokenProcessPool as error:
            held.close()
            hint = "the same command goes on; with fewer --workers, if the memory was full"
            raise GraphwalkError("a process of several was killed", hint=hint) from error
        except BaseException:
            held.close()
            raise


def _ended(waiting: dict[Future[Any], J]) -> Iterator[J]:
    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
        job = waiting.pop(future)
        future.result()
        yield job


def _begin(over: "Connection[Any, Any]") -> None:
    """In each process. Ctrl-C reaches all of them; the first one decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(over,), daemon=True).start()


def _end_with(over: "Connection[Any, Any]") -> None:
    """Wait until the first process lets go of its end of a pipe, or is killed: their queue would not tell them."""
    over.poll(None)
    os._exit(1)
