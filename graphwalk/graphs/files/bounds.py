"""Files opened so that none of them can fill the memory: their size is counted while they are read, unpacked or not."""

import gzip
import io
from pathlib import Path
from typing import BinaryIO

from graphwalk.errors import ConfigError

MOST_BYTES = 2**30
"""Of one file, after unpacking (1 GiB)."""
PACKED = ".gz"


def without_packing(path: Path) -> Path:
    """`movies.json` for `movies.json.gz`: the name that tells the format."""
    return path.with_suffix("") if path.suffix.lower() == PACKED else path


def open_bytes(path: Path, most: int | None = None) -> BinaryIO:
    """A file to be read, unpacked if it ends in .gz.

    OSError where it cannot be opened; ValueError, while it is read, where it has more than `most` bytes (MOST_BYTES),
    and ConfigError for what is not a file.
    """
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path} is not a file", hint="name a file; only CSV files in Neo4j's layout are in a folder")
    packed = path.suffix.lower() == PACKED
    opened = gzip.open(path) if packed else path.open("rb")  # noqa: SIM115 -- the reader that is given back closes it
    return io.BufferedReader(_Counted(opened, MOST_BYTES if most is None else most), 2**16)


def open_text(path: Path) -> io.TextIOWrapper:
    """Line ends stay as they are. UnicodeDecodeError, a ValueError, while it is read, where it is not UTF-8."""
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="")


def read_text(path: Path) -> str:
    """All of a text file, in one piece; see `open_text`."""
    with open_text(path) as file:
        return file.read()


class _Counted(io.RawIOBase):
    """Another file, until too much has been read from it."""

    def __init__(self, inner: "gzip.GzipFile | io.BufferedReader", most: int) -> None:
        self._inner = inner
        self._most = most
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        part = self._inner.read(len(buffer))
        self._read += len(part)
        if self._read > self._most:
            raise ValueError(f"it holds more than {self._most} bytes, the most that is read")
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._inner.close()
        super().close()
