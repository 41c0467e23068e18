"""Atomic file writes: a file is complete or absent after a crash or a full disk."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from graphwalk.errors import ConfigError, GraphwalkError, StoreError

FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
SCRATCH = ".part"
"""Ending of the file that replaces another one when it is complete."""
_ANOTHER_PLACE = "choose a place that you may write to"
_HINTS = {
    errno.ENOENT: "make the folder first, or choose another place",
    **dict.fromkeys(FULL_DISK, "free some space, or choose another disk"),
}


def write_whole(
    path: Path,
    parts: Iterable[str] | Iterable[bytes],
    *,
    private: bool = False,
    parents: bool = False,
    error: type[GraphwalkError] = ConfigError,
) -> None:
    """Write a file atomically, text as UTF-8: a reader sees the old file or the new one, also after a power failure.

    `parts` are written one by one. `private`: readable by the owner only. `parents`: create missing folders. Raise
    `error` with the cause if the file cannot be written, and leave nothing behind. Exceptions of `parts` propagate.
    Links are followed; devices and pipes are written to directly.
    """
    if parents:
        make_folder(path.parent, private=private, error=error)
    chunks = (part.encode() if isinstance(part, str) else part for part in parts)
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                device.writelines(chunks)
        else:
            with _replacing(path.resolve(), 0o600 if private else 0o666) as file:
                file.writelines(chunks)
    except (OSError, UnicodeEncodeError) as cause:
        raise cannot_write(path, cause, error) from cause


@contextmanager
def new_file(path: Path, *, error: type[GraphwalkError] = ConfigError) -> Iterator[BinaryIO]:
    """Open a file that libraries write piece by piece; it replaces `path` when the block ends without an exception.

    Errors are those of `write_whole`.
    """
    try:
        with _replacing(path.resolve(), 0o666) as file:
            yield file
    except OSError as cause:
        raise cannot_write(path, cause, error) from cause


def make_folder(
    path: Path, *, private: bool = False, parents: bool = True, error: type[GraphwalkError] = ConfigError
) -> None:
    """Make a folder if it does not exist; `parents`: with all folders above it. `error` where it cannot be made."""
    try:
        path.mkdir(parents=parents, exist_ok=True, mode=0o700 if private else 0o777)
    except FileExistsError as cause:
        raise cannot_write(path, NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)), error) from cause
    except OSError as cause:
        raise cannot_write(path, cause, error) from cause


def new_folder(path: Path) -> Path:
    """Make a folder for many files. ConfigError where it is not empty, or the folder around it does not exist."""
    make_folder(path, parents=False)
    if any(path.iterdir()):
        raise ConfigError(f"{path} is not empty", hint="choose a new folder")
    return path


def cannot_write(path: Path, cause: OSError | UnicodeError, error: type[GraphwalkError]) -> GraphwalkError:
    """Return the error for a file or folder that cannot be written, with a hint; StoreError for a full disk."""
    if not isinstance(cause, OSError):
        return error(f"{path} cannot be written: {cause}")
    if cause.errno == errno.ENOENT and not path.parent.exists():
        return error(f"{path} cannot be written: there is no folder {path.parent}", hint=_HINTS[errno.ENOENT])
    hint = _HINTS.get(cause.errno or 0, _ANOTHER_PLACE)
    if cause.errno in FULL_DISK and error.exit_code < StoreError.exit_code:
        error = StoreError
    return error(f"{path} cannot be written: {cause.strerror}", hint=hint)


@contextmanager
def _replacing(path: Path, mode: int) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends. The next writer overwrites what a killed one left."""
    scratch = path.with_name(f"{path.name}{SCRATCH}")
    number = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), mode)
    try:
        with open(number, "wb") as file:  # noqa: PTH123 -- a path would have no mode
            yield file
            file.flush()
            os.fsync(number)
        os.replace(scratch, path)  # noqa: PTH105 -- after the block: Windows moves no open file
    finally:
        scratch.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush the directory to disk. Some file systems refuse, which is harmless."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
