"""Graph files, of which none can fill the memory: their size, unpacked, is known before they are read."""

import gzip
import io
from pathlib import Path

from graphwalk.errors import ConfigError

MOST_BYTES = 2**30
"""Of one file, after unpacking (1 GiB)."""
_MOST_UNPACKED, _LITTLE = 200, 2**26
"""How often its own size a packed file may hold, where that is more than 64 MiB. Graphs are packed to a tenth."""
_BLOCK = 2**20
PACKED = ".gz"


def without_packing(path: Path) -> Path:
    """`movies.json` for `movies.json.gz`: the name that tells the format."""
    return path.with_suffix("") if path.suffix.lower() == PACKED else path


def open_bytes(path: Path) -> io.BufferedReader | gzip.GzipFile:
    """Open a file, to be unpacked if it ends in .gz.

    Raise OSError where it cannot be opened, ValueError where it is too large, ConfigError where it is no file.
    """
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path} is not a file", hint="name a file; only CSV files in Neo4j's layout are in a folder")
    packed = path.suffix.lower() == PACKED
    size = path.stat().st_size
    most = min(MOST_BYTES, max(_LITTLE, _MOST_UNPACKED * size)) if packed else MOST_BYTES
    if (_unpacked_size(path, most) if packed else size) > most:
        raise ValueError(f"it holds more than {most:,} bytes, the most that is read{' of such a file' * packed}")
    return gzip.open(path) if packed else path.open("rb")


def _unpacked_size(path: Path, most: int) -> int:
    """Return the number of bytes, counted to a little beyond `most`."""
    size = 0
    with gzip.open(path) as file:
        while size <= most and (block := file.read(_BLOCK)):
            size += len(block)
    return size


def open_text(path: Path) -> io.TextIOWrapper:
    """Line ends stay as they are. UnicodeDecodeError, a ValueError, while it is read, where it is not UTF-8."""
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="")


def read_text(path: Path) -> str:
    """All of a text file, in one piece; see `open_text`."""
    with open_text(path) as file:
        return file.read()
