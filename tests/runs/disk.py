"""Faults at one operation on the files of a folder: a kill, a torn line, a full disk, a sync that fails.

While `process` is open, every write of a log line, sync, replacement and removal below the folder passes through here.
A killed process raises `Killed` at this operation and at every later one, so that its clean-up changes nothing.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

_REAL = {name: getattr(os, name) for name in ("write", "fsync", "replace", "unlink")}


class Killed(BaseException):
    """The process is dead."""


@dataclass(frozen=True)
class Fault:
    """A fault at the `number`-th operation on files whose path contains `target`.

    kill: the process ends. torn: it ends after half a write. full: this write and all later ones fail. sync error:
    this sync fails.
    """

    action: Literal["kill", "torn", "full", "sync error"]
    target: str
    number: int

    def at(self, kind: str, path: str) -> bool:
        wanted = {"torn": "write", "full": "write", "sync error": "sync"}.get(self.action, kind)
        return kind == wanted and self.target in path


@dataclass
class Disk:
    """The files below `root`. `broken` lists writes to a file after a sync of it had failed."""

    root: Path
    broken: list[str] = field(default_factory=list)
    fired: bool = False
    dead: bool = False

    @contextmanager
    def process(self, fault: Fault | None = None) -> Iterator[None]:
        """Run the block as one process, which may meet `fault`."""
        self._fault, self._left = fault, 0 if fault is None else fault.number
        self._failed = set[str]()
        self.fired = self.dead = self._full = False
        with ExitStack() as patches:
            for name in _REAL:
                patches.enter_context(patch.object(os, name, getattr(self, f"_{name}")))
            yield

    def _before(self, kind: str, path: str) -> bool:
        """Return True if a write is to be cut in half."""
        if not path.startswith(f"{self.root}/"):
            return False
        if self.dead:
            raise Killed
        if self._full and kind == "write":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fault = self._fault
        if fault is None or self.fired or not fault.at(kind, path.removeprefix(str(self.root))):
            return False
        self._left -= 1
        if self._left > 0:
            return False
        self.fired = True
        self.dead = fault.action == "kill"
        self._full = fault.action == "full"
        if self.dead:
            raise Killed
        if fault.action == "sync error":
            self._failed.add(path)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return True

    def _write(self, number: int, data: Any) -> int:
        path = _path(number)
        if path in self._failed:
            self.broken.append(f"{path} was written to after a sync of it had failed")
        if not self._before("write", path):
            return int(_REAL["write"](number, data))
        written = int(_REAL["write"](number, data[: len(data) // 2]))
        if not self._full:
            self.dead = True
            raise Killed
        return written

    def _fsync(self, number: int) -> None:
        self._before("sync", _path(number))
        _REAL["fsync"](number)

    def _replace(self, source: Any, target: Any) -> None:
        self._before("replace", str(target))
        _REAL["replace"](source, target)

    def _unlink(self, path: Any, **rest: Any) -> None:
        self._before("unlink", os.fspath(path))
        _REAL["unlink"](path, **rest)


def _path(number: int) -> str:
    """Return the path of an open file."""
    return os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115 -- a Path would hide that the file may be removed
