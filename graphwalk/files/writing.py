"""Atomic file writes: a file is complete or absent after a crash or a full disk."""

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from graphwalk.errors import ConfigError, GraphwalkError, StoreError

FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
FREE_SOME_SPACE = "free some space, or choose another disk"
SCRATCH = ".part"
"""Ending of the file that replaces another one when it is complete; a killed writer leaves it."""


def write_whole(
    path: Path,
    parts: Iterable[str] | Iterable[bytes],
    *,
    private: bool = False,
    error: type[GraphwalkError] = ConfigError,
) -> None:
    """Write the parts to a file one by one, text as UTF-8, as by `new_file`."""
    with new_file(path, private=private, error=error) as file:
        file.writelines(part.encode() if isinstance(part, str) else part for part in parts)


@contextmanager
def new_file(path: Path, *, private: bool = False, error: type[GraphwalkError] = ConfigError) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends without an exception.

    A reader sees the old file or the new one, also after a power failure. `private`: readable by the owner only. Raise
    `error` with the cause if the file cannot be written, and leave nothing behind. Links are followed; devices and
    pipes are written to directly.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                yield device
            return
        target = path.resolve()
        # A name of its own, since two processes may write one file at the same time.
        scratch = target.with_name(f"{target.name}.{secrets.token_hex(4)}{SCRATCH}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        mode = 0o600 if private else 0o666
        number = os.open(scratch, flags, mode)
        try:
            with open(number, "wb") as file:  # noqa: PTH123 -- a path would have no mode
                yield file
                file.flush()
                os.fsync(number)
            os.replace(scratch, target)  # noqa: PTH105 -- after the block: Windows moves no open file
        finally:
            scratch.unlink(missing_ok=True)
        sync_folder(target.parent)
    except (OSError, UnicodeEncodeError) as cause:
        raise cannot_write(path, cause, error) from cause


def make_folder(
    path: Path, *, private: bool = False, parents: bool = True, error: type[GraphwalkError] = ConfigError
) -> bool:
    """Make a folder, `parents`: with those above it; return False if it exists. `error` where it cannot be made."""
    try:
        path.mkdir(parents=parents, mode=0o700 if private else 0o777)
    except OSError as cause:
        with suppress(OSError):
            if path.is_dir():
                return False
        raise cannot_write(path, cause, error) from cause
    return True


def new_folder(path: Path) -> Path:
    """Make a folder for many files. ConfigError where it is not empty, or the folder around it does not exist."""
    make_folder(path, parents=False)
    if any(path.iterdir()):
        raise ConfigError(f"{path} is not empty", hint="choose a new folder")
    return path


def cannot_write(path: Path, cause: OSError | UnicodeError, error: type[GraphwalkError]) -> GraphwalkError:
    """Return the error for a file or folder that cannot be written, with a hint; StoreError for a full disk."""
    # A UnicodeError has neither `errno` nor `strerror`.
    code = getattr(cause, "errno", None)
    reason = getattr(cause, "strerror", None) or str(cause)
    hint = "choose a place that you may write to"
    if code == errno.ENOENT and not path.parent.exists():
        reason = f"there is no folder {path.parent}"
        hint = "make the folder first, or choose another place"
    elif is_full_disk(cause):
        hint = FREE_SOME_SPACE
        if error.exit_code < StoreError.exit_code:
            error = StoreError
    return error(f"{path} cannot be written: {reason}", hint=hint)


def is_full_disk(error: BaseException) -> bool:
    """Return True for the exception of a write for which the disk, or the user's share of it, has no space."""
    return isinstance(error, OSError) and error.errno in FULL_DISK


def sync_folder(folder: Path) -> None:
    """Flush the directory to disk. Some file systems refuse, which is harmless."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
