"""Read published runs: ZIP files of a run folder with the digests of its files."""

import atexit
import hashlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from graphwalk.errors import RunLogError

DIGESTS = "SHA256SUMS"
TEXTS = "texts"


def unpacked(path: Path) -> Path:
    """Unpack a published run until the process ends. RunLogError if the file is damaged or was changed."""
    return _unpacked(path.resolve(), path.stat().st_mtime_ns)


@cache
def _unpacked(path: Path, changed: int) -> Path:
    scratch = Path(tempfile.mkdtemp(prefix="graphwalk-"))
    atexit.register(_remove, scratch, os.getpid())
    folder = scratch / path.stem
    try:
        with ZipFile(path) as archive:
            archive.extractall(folder)
        _check_digests(folder)
    except (BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        shutil.rmtree(scratch, ignore_errors=True)
        raise RunLogError(f"{path} cannot be read as a published run: {error}", hint="get the file again") from error
    return folder


def _remove(scratch: Path, process: int) -> None:
    """Remove a folder at the end of the process that made it, not at the end of a process forked from it."""
    if os.getpid() == process:
        shutil.rmtree(scratch, ignore_errors=True)


def _check_digests(folder: Path) -> None:
    """Raise ValueError if a file does not have the digest that `SHA256SUMS` lists."""
    sums = folder / DIGESTS
    if not sums.is_file():
        raise ValueError(f"it has no {DIGESTS}")
    listed = {}
    for line in sums.read_text(encoding="utf-8").splitlines():
        # 9f86d081…  results.jsonl
        digest, _, name = line.partition("  ")
        listed[name] = digest

    digests = {}
    for path in folder.rglob("*"):
        if path.is_file() and path != sums:
            with path.open("rb") as file:
                digests[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    names = digests.keys() | listed.keys()
    wrong = sorted(name for name in names if digests.get(name) != listed.get(name))
    if wrong:
        raise ValueError(f"changed after it was published: {', '.join(wrong[:5])}")
