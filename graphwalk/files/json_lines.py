"""JSON lines files with checksums, which survive a kill and reveal damage.

Each line ends with a CRC-32 of its text. A last line without a newline was interrupted and is dropped with a warning.
Any other mismatch is damage and raises an error.
"""

import asyncio
import errno
import json
import math
import os
import warnings
import zlib
from collections.abc import Iterator
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from graphwalk.errors import GraphwalkError, RunLogError
from graphwalk.files.writing import cannot_write, sync_folder

_MARK = b', "crc32": "'
_TAIL = len(_MARK) + 8 + len(b'"}')
_BINARY = getattr(os, "O_BINARY", 0)
"""Windows would end lines otherwise."""
RESTORE = "nothing was changed; restore the file from a copy, or start a new run"
"""The hint for a damaged file."""
_SYNC_SECONDS = 0.5
"""A killed process loses nothing, since lines go to the kernel at once; a power cut loses at most this many seconds."""


class TornTailWarning(UserWarning):
    """The last line of a file was cut off by a kill, and was dropped."""


def encode_line(record: dict[str, Any]) -> bytes:
    """Return a record as one line. Lone surrogates survive; NaN and infinities become strings."""
    try:
        body = json.dumps(record, allow_nan=False)
    except ValueError:
        body = json.dumps(_finite(record), allow_nan=False)
    head = body[:-1].encode("ascii")
    return b'%s%s%08x"}\n' % (head, _MARK, zlib.crc32(head))


def decode_line(line: bytes) -> dict[str, Any]:
    """Return the record of a line (with or without newline). Raise ValueError for a wrong checksum or form."""
    # {"answer": 7, "crc32": "0a1b2c3d"}: the checksum is that of {"answer": 7
    line = line.rstrip(b"\n")
    head = line[:-_TAIL]
    tail = line[-_TAIL:]
    if tail != b'%s%08x"}' % (_MARK, zlib.crc32(head)):
        raise ValueError("checksum mismatch")
    record: dict[str, Any] = json.loads(head + b"}")
    return record


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records in order; an interrupted last line is skipped with a warning. Raise RunLogError for damage."""
    return (record for _, record in checked_lines(path))


def checked_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the checksum (CRC-32 in hexadecimal) and the record of each line, as `read_lines`; none without a file."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunLogError(f"{path} cannot be read: {error.strerror}", hint="restore the file from a copy") from error
    with file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                warnings.warn(f"{path.name}: line {number} was cut off and is left out", TornTailWarning, stacklevel=2)
                return
            try:
                record = decode_line(line)
            except (ValueError, RecursionError) as error:
                damage = f"{path}:{number}: the line is damaged ({error})"
                raise RunLogError(damage, hint=RESTORE) from error
            tail = line.rstrip(b"\n")[-_TAIL:]
            checksum = tail.removeprefix(_MARK).removesuffix(b'"}')
            yield checksum.decode(), record


class LineWriter:
    """A writer that appends records; each is passed to the operating system before `append` returns.

    A line is flushed to disk half a second later by the running event loop, without one when the writer is closed.
    Raise RunLogError if a write or a flush fails, or if the file was removed, and from then on at every call: later
    lines could follow a gap.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._failure: GraphwalkError | None = None
        self._timer: asyncio.TimerHandle | None = None
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o644)
            # An empty file cannot be mapped into memory.
            size = os.fstat(self._file).st_size
            if size > 0:
                with mmap(self._file, size, access=ACCESS_READ) as content:
                    end = content.rfind(b"\n") + 1
                if end < size:  # the last line is torn
                    os.ftruncate(self._file, end)
        except OSError as error:
            raise cannot_write(path, error, RunLogError) from error
        sync_folder(path.parent)

    def append(self, record: dict[str, Any]) -> None:
        self.write(encode_line(record))

    def write(self, line: bytes) -> None:
        """Append a line of `encode_line`."""
        if self._failure is not None:
            raise self._failure
        try:
            while line:
                # The kernel may take a part of it, as from a signal on.
                written = os.write(self._file, line)
                line = line[written:]
        except OSError as error:
            raise self._failed(error) from error
        if self._timer is None:
            with suppress(RuntimeError):  # no event loop
                self._timer = asyncio.get_running_loop().call_later(_SYNC_SECONDS, self._sync_in_time)

    def sync(self) -> None:
        """Flush all lines to disk."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if self._failure is not None:
            raise self._failure
        try:
            os.fsync(self._file)
            if os.fstat(self._file).st_nlink == 0:
                raise FileNotFoundError(errno.ENOENT, "it was removed while it was written")
        except OSError as error:
            raise self._failed(error) from error

    def _sync_in_time(self) -> None:
        with suppress(RunLogError):  # raised at the next call
            self.sync()

    def _failed(self, error: OSError) -> GraphwalkError:
        self._failure = cannot_write(self._path, error, RunLogError)
        return self._failure

    def close(self) -> None:
        try:
            self.sync()
        finally:
            os.close(self._file)


def _finite(value: Any) -> Any:
    """Return the value with "nan", "inf" and "-inf" for the numbers that JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
