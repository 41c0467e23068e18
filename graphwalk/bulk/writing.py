"""Rows by the million into one file, part by part.

Each part is a file of its own in FILE.parts/ until all are there: whichever process makes it, and however often the
work is killed and begun again, the parts are the same, and so is what they are joined to.
"""

import json
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from graphwalk.bulk.forms import Form, form_of
from graphwalk.bulk.processes import cores, spread
from graphwalk.bulk.rows import Job, Rows
from graphwalk.console import counted
from graphwalk.errors import ConfigError
from graphwalk.files import cannot_write, make_folder, write_whole
from graphwalk.long_work import long_work, speed
from graphwalk.version import __version__

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
    form, begun = form_of(out), time.perf_counter()
    if not out.parent.is_dir():
        raise cannot_write(out, FileNotFoundError(2, "No such file or directory"), ConfigError)
    folder = out.with_name(f"{out.name}.parts")
    jobs = list(islice(rows.jobs(), 2))
    if len(jobs) == 1 and not folder.exists():
        with long_work(rows.name):
            written = form.write(out, rows.of(jobs[0].what), rows.columns)
        return Written(written, rows.total, time.perf_counter() - begun, rows.name)
    _claim(folder, out, rows.about)
    parts = _Parts(folder, out.suffix)
    number, made = _make_parts(rows, form, parts, workers or cores())
    seconds = time.perf_counter() - begun
    with long_work("joining"):
        written = form.join(map(parts.path, range(number)), out, rows.columns)
    shutil.rmtree(folder, ignore_errors=True)
    return Written(written, made, seconds, rows.name)


class _Parts(NamedTuple):
    folder: Path
    suffix: str

    def path(self, number: int) -> Path:
        return self.folder / f"{number:07}{self.suffix}"


def _make_parts(rows: Rows, form: Form, parts: _Parts, workers: int) -> tuple[int, int]:
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

    with long_work(rows.name, rows.total) as done:
        for _, job in spread(partial(_make_part, rows, form), missing(done), workers):
            made += job.things
            done(job.things)
    return number, made


def _make_part(rows: Rows, form: Form, part: tuple[Path, Job]) -> None:
    path, job = part
    form.write(path, rows.of(job.what), rows.columns)


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
