"""Read published runs, ZIP files that are not trusted: known names only, up to a size, with the right digests."""

import atexit
import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from graphwalk.errors import RunLogError

DIGESTS = "SHA256SUMS"
FILES = frozenset({"run.json", "results.jsonl.gz", "replies.jsonl", "README.md", DIGESTS})
TEXTS = "texts"
_MOST_FILES = 5_000
_MOST_UNPACKED, _LITTLE = 200, 2**28
"""Largest unpacked size relative to the file, and in bytes for small files. Runs are packed to a tenth."""
_MOST_DEEP = 6


def unpacked(path: Path) -> Path:
    """Unpack a published run until the process ends. RunLogError if the file is damaged or contains anything else."""
    state = path.stat()
    return _unpacked(path.resolve(), state.st_mtime_ns, state.st_size)


@cache
def _unpacked(path: Path, changed: int, size: int) -> Path:
    scratch = Path(tempfile.mkdtemp(prefix="graphwalk-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    folder = scratch / path.stem
    try:
        with ZipFile(path) as archive:
            _check_entries(archive.infolist(), max(_LITTLE, _MOST_UNPACKED * size))
            archive.extractall(folder)
        _check_digests(folder)
    except (BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        shutil.rmtree(scratch, ignore_errors=True)
        raise RunLogError(f"{path} cannot be read as a published run: {error}", hint="get the file again") from error
    return folder


def _check_entries(entries: Sequence[ZipInfo], most: int) -> None:
    """Raise ValueError for a file that no run has, and for more than fits a run."""
    if len(entries) > _MOST_FILES or sum(entry.file_size for entry in entries) > most:
        raise ValueError(f"it contains more than {_MOST_FILES:,} files or {most:,} bytes")
    names = [entry.filename for entry in entries]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{repeated!r} is in it twice")
    for name in names:
        parts = name.split("/")
        of_run = name in FILES or (parts[0] == TEXTS and 1 < len(parts) <= _MOST_DEEP)
        if not of_run or not name.isprintable() or {"", ".", ".."} & {*parts} or "\\" in name or ":" in name:
            raise ValueError(f"{name!r} is no file of a run")


def _check_digests(folder: Path) -> None:
    """Raise ValueError if a file does not have the digest that `SHA256SUMS` lists."""
    sums = folder / DIGESTS
    if not sums.is_file():
        raise ValueError(f"it has no {DIGESTS}")
    lines = (line.partition("  ") for line in sums.read_text(encoding="utf-8").splitlines())
    listed = {name: digest for digest, _, name in lines}
    digests = {}
    for path in folder.rglob("*"):
        if path.is_file() and path != sums:
            with path.open("rb") as file:
                digests[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    if wrong := sorted(name for name in digests.keys() | listed.keys() if digests.get(name) != listed.get(name)):
        raise ValueError(f"changed after it was published: {', '.join(wrong[:5])}")
