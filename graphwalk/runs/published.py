"""Published runs: a ZIP that holds what reading a run takes, with a digest of every file; opened, and never written to.

Nothing in such a file is trusted: only names that a run folder has are unpacked, so much and no more, and every file
must have its digest.
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
"""How often its own size a file may hold, where that is more than 256 MiB. Runs are packed to a tenth."""
_MOST_DEEP = 6
_BLOCK = 1 << 20


def is_published(path: Path) -> bool:
    return path.is_file() and is_zipfile(path)


def unpacked(path: Path) -> Path:
    """The folder of a published run, unpacked for as long as this process lives.

    RunLogError where the file is damaged, or holds what no run has.
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
        raise RunLogError(f"{path} cannot be read as a published run: {error}", hint="ask for it again") from error
    return folder


def _unpack(archive: ZipFile, folder: Path, most: int) -> None:
    entries = archive.infolist()
    if len(entries) > _MOST_FILES or sum(entry.file_size for entry in entries) > most:
        raise ValueError(f"it holds more than {_MOST_FILES:,} files or {most:,} bytes")
    digests = {}
    for entry in entries:
        place = _place(entry)
        if place in digests:
            raise ValueError(f"{entry.filename!r} is in it twice")
        digests[place] = _copy(archive, entry, folder / place)
    if digests.pop(PurePosixPath(DIGESTS), None) is None:
        raise ValueError(f"it has no {DIGESTS}")
    listed = _listed(folder / DIGESTS)
    if digests != listed:
        wrong = sorted(str(p) for p in digests.keys() | listed.keys() if digests.get(p) != listed.get(p))
        raise ValueError(f"not as it was published: {', '.join(wrong[:5])}")


def _place(entry: ZipInfo) -> PurePosixPath:
    """Where a file of the archive belongs. ValueError for every name that no run folder has."""
    name = entry.filename
    place = PurePosixPath(name)
    kept = place.parts[0] == TEXTS and 1 < len(place.parts) <= _MOST_DEEP if place.parts else False
    plain = name.isprintable() and not any(part in ("", ".", "..") for part in name.split("/"))
    if not plain or "\\" in name or ":" in name or not (kept or name in FILES) or entry.flag_bits & 1:
        raise ValueError(f"{name!r} is no file of a run")
    return place


def _copy(archive: ZipFile, entry: ZipInfo, path: Path) -> str:
    """Unpack one file, no more of it than is announced; its SHA-256."""
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


def _listed(path: Path) -> dict[PurePosixPath, str]:
    """What SHA256SUMS says: `digest  name` a line, as sha256sum writes it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {PurePosixPath(name): digest for digest, _, name in (line.partition("  ") for line in lines)}
