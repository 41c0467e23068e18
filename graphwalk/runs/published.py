"""Read published runs: ZIP files of a run with a digest of each file.

The content is not trusted: only names of a run folder are unpacked, up to a size limit, and digests must match.
"""

import atexit
import hashlib
import shutil
import tempfile
from functools import cache
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile, ZipInfo, is_zipfile

from graphwalk.errors import RunLogError

DIGESTS = "SHA256SUMS"
FILES = frozenset({"run.json", "results.jsonl.gz", "replies.jsonl", "README.md", DIGESTS})
TEXTS = "texts"
_MOST_FILES = 5_000
_MOST_UNPACKED, _LITTLE = 200, 2**28
"""Largest unpacked size relative to the file, and in bytes for small files. Runs are packed to a tenth."""
_MOST_DEEP = 6
_BLOCK = 1 << 20


def is_published(path: Path) -> bool:
    return path.is_file() and is_zipfile(path)


def unpacked(path: Path) -> Path:
    """Return the folder of a published run, unpacked until the process ends.

    Raise RunLogError if the file is damaged or contains anything else.
    """
    state = path.stat()
    return _unpacked(path.resolve(), state.st_mtime_ns, state.st_size)


@cache
def _unpacked(path: Path, changed: int, size: int) -> Path:
    scratch = Path(tempfile.mkdtemp(prefix="graphwalk-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    folder = scratch / path.stem
    folder.mkdir()
    try:
        with ZipFile(path) as archive:
            _unpack(archive, folder, max(_LITTLE, _MOST_UNPACKED * size))
    except (BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        shutil.rmtree(scratch, ignore_errors=True)
        raise RunLogError(f"{path} cannot be read as a published run: {error}", hint="get the file again") from error
    return folder


def _unpack(archive: ZipFile, folder: Path, most: int) -> None:
    entries = archive.infolist()
    if len(entries) > _MOST_FILES or sum(entry.file_size for entry in entries) > most:
        raise ValueError(f"it contains more than {_MOST_FILES:,} files or {most:,} bytes")
    digests = {}
    for entry in entries:
        place = _place(entry)
        if place in digests:
            raise ValueError(f"{entry.filename!r} is in it twice")
        digests[place] = _copy(archive, entry, folder / place)
    if digests.pop(PurePosixPath(DIGESTS), None) is None:
        raise ValueError(f"it has no {DIGESTS}")
    sums = (line.partition("  ") for line in (folder / DIGESTS).read_text(encoding="utf-8").splitlines())
    listed = {PurePosixPath(name): digest for digest, _, name in sums}
    if digests != listed:
        wrong = sorted(str(p) for p in digests.keys() | listed.keys() if digests.get(p) != listed.get(p))
        raise ValueError(f"changed after it was published: {', '.join(wrong[:5])}")


def _place(entry: ZipInfo) -> PurePosixPath:
    """Return the relative path of a file. Raise ValueError for a name that no run folder has."""
    name = entry.filename
    place = PurePosixPath(name)
    kept = place.parts[0] == TEXTS and 1 < len(place.parts) <= _MOST_DEEP if place.parts else False
    plain = name.isprintable() and not any(part in ("", ".", "..") for part in name.split("/"))
    if not plain or "\\" in name or ":" in name or not (kept or name in FILES) or entry.flag_bits & 1:
        raise ValueError(f"{name!r} is no file of a run")
    return place


def _copy(archive: ZipFile, entry: ZipInfo, path: Path) -> str:
    """Unpack one file, up to its announced size, and return its SHA-256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, left = hashlib.sha256(), entry.file_size
    with archive.open(entry) as packed, path.open("xb") as file:
        while block := packed.read(_BLOCK):
            left -= len(block)
            if left < 0:
                raise ValueError(f"{entry.filename} is longer than announced")
            digest.update(block)
            file.write(block)
    return digest.hexdigest()
