"""Atomic file writes: a file is complete or absent after a crash or a full disk."""

import errno
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PureWindowsPath
from typing import BinaryIO
from uuid import uuid4

from graphwalk.errors import ConfigError, GraphwalkError, StoreError

FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_SCRATCH_START, _SCRATCH_END = ".graphwalk-", ".part"
_WINDOWS_PATH = re.compile(r"[A-Za-z]:\\|\\\\\w")
_STALE_SECONDS = 60.0
"""Age of an unlocked scratch file, in seconds, after which its writer must have been killed; writers lock it."""
_LOCK_SECONDS = 2.0
"""A lock that is free within this time was that of a list of runs, which looks only whether it is held."""
_ANOTHER_PLACE = "choose a place that you may write to"
_HINTS = {
    errno.ENOENT: "make the folder first, or choose another place",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EISDIR: "name a file, not a folder",
    errno.EIO: "check the disk; the system's log has the cause",
    **dict.fromkeys((errno.ENOLCK, errno.EOPNOTSUPP), "its file system has no file locks; choose another disk"),
    **dict.fromkeys(FULL_DISK, "free some space, or choose another disk"),
}


def write_whole(
    path: Path,
    parts: Iterable[str] | Iterable[bytes],
    *,
    private: bool = False,
    parents: bool = False,
    keep: Path | None = None,
    error: type[GraphwalkError] = ConfigError,
) -> None:
    """Write a file atomically, text as UTF-8: a reader sees the old file or the new one, also after a power failure.

    `parts` are written one by one. `private`: readable by the owner only. `parents`: create missing folders. `keep`:
    path for a copy of a replaced file. Raise `error` with the cause if the file cannot be written, and leave nothing
    behind. Exceptions of `parts` propagate. Links are followed; devices and pipes are written to directly.
    """
    _check_names(path, error)
    if parents:
        make_folder(path.parent, private=private, error=error)
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                device.writelines(map(_as_bytes, parts))
        else:
            with _replacing(path.resolve(), 0o600 if private else 0o666, keep) as file:
                file.writelines(map(_as_bytes, parts))
    except (OSError, UnicodeEncodeError) as cause:
        raise cannot_write(path, cause, error) from cause


@contextmanager
def new_file(path: Path, *, error: type[GraphwalkError] = ConfigError) -> Iterator[BinaryIO]:
    """Open a file that libraries write piece by piece; it replaces `path` when the block ends without an exception.

    Errors are those of `write_whole`.
    """
    _check_names(path, error)
    try:
        with _replacing(path.resolve(), 0o666, None) as file:
            yield file
    except OSError as cause:
        raise cannot_write(path, cause, error) from cause


def make_folder(
    path: Path, *, private: bool = False, parents: bool = True, error: type[GraphwalkError] = ConfigError
) -> None:
    """Make a folder if it does not exist; `parents`: with all folders above it. `error` where it cannot be made."""
    _check_names(path, error)
    try:
        path.mkdir(parents=parents, exist_ok=True, mode=0o700 if private else 0o777)
    except FileExistsError as cause:
        raise cannot_write(path, NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)), error) from cause
    except OSError as cause:
        raise cannot_write(path, cause, error) from cause


def new_folder(path: Path) -> Path:
    """Make a folder for many files. ConfigError where it is not empty, or the folder around it does not exist."""
    make_folder(path, parents=False)
    if not all(map(is_scratch, path.iterdir())):
        raise ConfigError(f"{path} is not empty", hint="choose a new folder")
    return path


def _check_names(path: Path, error: type[GraphwalkError]) -> None:
    """Raise `error` for a Windows path on another system, where it would be the name of one file."""
    if os.name == "posix" and (name := next(filter(_WINDOWS_PATH.match, path.parts), None)):
        hint = f"write it with slashes, as in {'/'.join(PureWindowsPath(name).parts[1:]) or 'runs/mine'}"
        raise error(f"{name} is a Windows path, and this system would take it for one name", hint=hint)


def check_links(folder: Path, error: type[GraphwalkError]) -> None:
    """Raise `error` for a link in `folder`, at any depth, that leads out of the folder in which it is."""
    for path in sorted(folder.rglob("*")):
        check_link(path, error)


def check_link(path: Path, error: type[GraphwalkError]) -> None:
    """Raise `error` where `path` is a link that leads out of the folder in which it is."""
    if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(path.parent.resolve()):
        raise error(f"{path} is a link to a place outside its folder", hint="put a copy of the file in its place")


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
def locked(path: Path, error: type[GraphwalkError], busy: GraphwalkError | None = None) -> Iterator[None]:
    """Hold the lock of a file while the block runs; the lock also ends with the process.

    Raise `busy` if another process works with it, without `busy` wait. Raise `error` if the file cannot be locked.
    """
    from filelock import FileLock, Timeout  # slow to import

    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(_LOCK_SECONDS if busy else -1)
    except Timeout:
        assert busy is not None
        raise busy from None
    except OSError as cause:
        hint = _HINTS.get(cause.errno or 0, _ANOTHER_PLACE)
        raise error(f"{path} cannot be locked: {cause.strerror}", hint=hint) from cause
    try:
        yield
    finally:
        lock.release()


def is_scratch(path: Path) -> bool:
    """Return True for a scratch file of a killed writer."""
    return path.name.startswith(_SCRATCH_START) and path.name.endswith(_SCRATCH_END)


@contextmanager
def _replacing(path: Path, mode: int, keep: Path | None) -> Iterator[BinaryIO]:
    _sweep(path.parent)
    scratch = path.with_name(f"{_SCRATCH_START}{uuid4().hex}{_SCRATCH_END}")
    number = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with open(number, "wb") as file:  # noqa: PTH123 -- a path could not be exclusive
            with suppress(OSError):  # some file systems have no locks
                _lock(file)
            yield file
            file.flush()
            os.fsync(number)
            if keep is not None and path.exists():
                with path.open("rb") as old, _replacing(keep, mode, None) as copy:
                    shutil.copyfileobj(old, copy)
        scratch.replace(path)  # Windows moves no open file
    finally:
        with suppress(OSError):
            scratch.unlink()
    sync_folder(path.parent)


def _as_bytes(part: str | bytes) -> bytes:
    return part.encode("utf-8") if isinstance(part, str) else part


def _lock(file: BinaryIO) -> None:
    """Lock an open file on POSIX, or raise OSError. Windows needs no lock: it removes no open file."""
    with suppress(ImportError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def sync_folder(folder: Path) -> None:
    """Flush the directory to disk. Some file systems refuse, which is harmless."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _sweep(folder: Path) -> None:
    """Remove scratch files of killed writers from a folder. Locked files are kept, since the clock may have jumped."""
    for scratch in folder.glob(f"{_SCRATCH_START}*{_SCRATCH_END}"):
        with suppress(OSError):
            if time.time() - scratch.stat().st_mtime > _STALE_SECONDS:
                with scratch.open("rb") as file:
                    _lock(file)
                scratch.unlink()
