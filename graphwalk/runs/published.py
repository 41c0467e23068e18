"""Read published runs, ZIP files that are not trusted: known names only, with the right digests."""

import atexit
import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from graphwalk.errors import RunLogError

DIGESTS = "SHA256SUMS"
FILES = frozenset({"run.json", "results.jsonl", "replies.jsonl", "README.md", DIGESTS})
TEXTS = "texts"


def unpacked(path: Path) -> Path:
    """Unpack a published run until the process ends. RunLogError if the file is damaged or contains anything else."""
    return _unpacked(path.resolve(), path.stat().st_mtime_ns)


@cache
def _unpacked(path: Path, changed: int) -> Path:
    scratch = Path(tempfile.mkdtemp(prefix="graphwalk-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    folder = scratch / path.stem
    try:
        with ZipFile(path) as archive:
            _check_names(archive.namelist())
            archive.extractall(folder)
        _check_digests(folder)
    except (BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        shutil.rmtree(scratch, ignore_errors=True)
        raise RunLogError(f"{path} cannot be read as a published run: {error}", hint="get the file again") from error
    return folder


def _check_names(names: Sequence[str]) -> None:
    """Raise ValueError for a file that no run has."""
    for name in names:
        parts = name.split("/")
        of_run = name in FILES or (parts[0] == TEXTS and len(parts) > 1)
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
