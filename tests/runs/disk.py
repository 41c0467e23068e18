"""A disk below one folder, on which processes are killed, writes fail and the power is cut at any operation.

Processes are simulated: while `Disk.process` is open, every operation that changes a file below the folder passes
through here. A killed process raises `Killed` at this operation and at every later one, so that its clean-up changes
nothing. A power cut keeps what was synced: the names of some moment since the last sync, as a journal does, and of
what was written later nothing, a part, zeros, or all.
"""

import _pyio
import builtins
import errno
import fcntl
import io
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal
from unittest.mock import patch

Action = Literal["kill", "torn", "cut", "full", "sync error", "other"]
_REAL = {name: getattr(os, name) for name in ("open", "write", "fsync", "ftruncate", "replace", "unlink", "close")}
_FLOCK, _RMTREE, _OPEN = fcntl.flock, shutil.rmtree, io.open


class Killed(BaseException):
    """The process is dead."""


@dataclass(frozen=True)
class Fault:
    """A fault at the `number`-th operation on files whose path contains `target`.

    kill: the process ends. torn: it ends after half a write. cut: it ends, and so does the power. full: this write and
    all later ones fail. sync error: this sync fails. other: another process runs.
    """

    action: Action
    target: str
    number: int

    def at(self, kind: str, path: str) -> bool:
        wanted = {"torn": ("write",), "full": ("write",), "sync error": ("sync",)}.get(self.action, (kind,))
        return kind in wanted and self.target in path


@dataclass
class Disk:
    """The files below `root`: their numbers by path, what of each is synced, and the changes of names since then."""

    root: Path
    other: Callable[[], None] = lambda: None
    """The process that the fault "other" runs."""
    synced: Callable[[Path, bytes], None] = lambda path, content: None
    """Called with path and content after each sync of a file."""
    operations: list[tuple[str, str]] = field(default_factory=list)
    """Kind and path of each operation of the current process."""
    broken: list[str] = field(default_factory=list)
    """Rules of writing that a process broke."""
    fired: bool = False

    def __post_init__(self) -> None:
        self.dead = False
        self._fault: Fault | None = None
        self._left = 0
        self._full = False
        self._opened: dict[int, tuple[str, int]] = {}
        self._files: list[Any] = []
        self._failed: set[int] = set()
        self._numbers = 0
        self._thread: int | None = None
        self.adopt()

    def adopt(self) -> None:
        """Take all files as they are, as synced."""
        self._names: dict[str, int] = {}
        self._contents: dict[int, bytes] = {}
        self._gone: dict[int, bytes] = {}
        for path in self.root.rglob("*"):
            if path.is_file():
                self._contents[self._new(str(path))] = path.read_bytes()
        self._history = [dict(self._names)]

    @contextmanager
    def process(self, fault: Fault | None = None) -> Iterator[None]:
        """Run the block as one process, which may meet `fault`, and end what it left open."""
        self._fault, self._left, self.fired = fault, 0 if fault is None else fault.number, False
        self.dead = self._full = False
        self.operations.clear()
        self._thread = threading.get_ident()
        patches = [patch.object(os, name, getattr(self, f"_{name}")) for name in _REAL]
        patches += [patch.object(os, "rename", self._replace), patch.object(os, "sendfile", _no_sendfile)]
        patches += [patch.object(fcntl, "flock", self._flock), patch.object(shutil, "rmtree", self._rmtree)]
        patches += [patch.object(io, "open", self._open_file), patch.object(builtins, "open", self._open_file)]
        with _all(patches):
            try:
                yield
            finally:
                self.dead = True  # nothing more is written, whatever is still in a buffer
                for file in self._files:
                    file.close()
                for number in [*self._opened]:
                    self._close(number)
                self._files.clear()
                self._failed.clear()

    def edit(self, path: Path, content: bytes) -> None:
        """Change a file from outside; it counts as synced."""
        path.write_bytes(content)
        self._contents[self._names[str(path)]] = content

    def remove(self, folder: Path) -> None:
        """Remove a folder from outside."""
        self.dead = False
        with patch.object(self, "_before", lambda *rest: False):
            self._rmtree(folder)

    def cut_power(self, random: Random) -> None:
        """Replace the files by what a power cut leaves of them."""
        names = random.choice(self._history)
        after = {path: self._after_cut(number, random) for path, number in names.items()}
        _RMTREE(self.root)
        self.root.mkdir()
        for name, content in after.items():
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self.adopt()

    def _after_cut(self, number: int, random: Random) -> bytes:
        synced, now = self._contents.get(number, b""), self._content(number)
        if not now.startswith(synced):
            return random.choice([synced, now])
        later = now[len(synced) :]
        return synced + random.choice([b"", later[: random.randint(0, len(later))], bytes(len(later)), later])

    def _content(self, number: int) -> bytes:
        path = next((name for name, other in self._names.items() if other == number), None)
        return self._gone[number] if path is None else Path(path).read_bytes()

    def _new(self, path: str) -> int:
        self._numbers += 1
        self._names[path] = self._numbers
        return self._numbers

    def _changed(self) -> None:
        self._history.append(dict(self._names))

    def _below(self, path: Any) -> str | None:
        """Return the path of a file below the root; None for others."""
        if not isinstance(path, str | os.PathLike):
            return None
        name = os.path.abspath(os.fspath(path))  # noqa: PTH100 -- os.PathLike of any kind, and fast
        return name if name.startswith(f"{self.root}/") else None

    def _before(self, kind: str, path: str) -> bool:
        """Note an operation. Return True if a write is to be cut in half."""
        if self.dead:
            raise Killed
        if threading.get_ident() != self._thread:  # the other process
            return False
        self.operations.append((kind, path))
        if self._full and kind in ("write", "create"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fault = self._fault
        if fault is None or self.fired or not fault.at(kind, path.removeprefix(str(self.root))):
            return False
        self._left -= 1
        if self._left > 0:
            return False
        self.fired = True
        match fault.action:
            case "kill" | "cut":
                self.dead = True
                raise Killed
            case "other":
                self.other()
            case "sync error":
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            case "full":
                self._full = True
        return fault.action in ("torn", "full")

    def _open(self, path: Any, flags: int, mode: int = 0o777, **rest: Any) -> int:
        name = self._below(path)
        if name is None or not flags & (os.O_WRONLY | os.O_RDWR):
            return int(_REAL["open"](path, flags, mode, **rest))
        new = not os.path.exists(name)  # noqa: PTH110
        if new or flags & os.O_TRUNC:
            self._before("create", name)
        elif self.dead:
            raise Killed
        number = int(_REAL["open"](path, flags, mode, **rest))
        if new:
            self._new(name)
            self._changed()
        self._opened[number] = (name, self._names[name])
        return number

    def _open_file(self, file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
        ours = self._below(file) is not None or file in self._opened if isinstance(file, int | str | Path) else False
        if not ours or not set(mode) & set("wax+"):
            return _OPEN(file, mode, *rest, **named)
        opened = _pyio.open(file, mode, *rest, **named)
        buffered = getattr(opened, "buffer", opened)
        self._files.append(getattr(buffered, "raw", buffered))
        return opened

    def _write(self, number: int, data: Any) -> int:
        if number not in self._opened:
            return int(_REAL["write"](number, data))
        name, inode = self._opened[number]
        if inode in self._failed:
            self.broken.append(f"{Path(name).name} was written to after a sync of it had failed")
        if self._before("write", name):
            written = int(_REAL["write"](number, bytes(data)[: len(data) // 2]))
            if self._full:
                return written
            self.dead = True
            raise Killed
        return int(_REAL["write"](number, data))

    def _fsync(self, number: int) -> None:
        if number not in self._opened:
            if stat.S_ISDIR(os.fstat(number).st_mode):
                self._history = [dict(self._names)]
            return
        name, inode = self._opened[number]
        if inode in self._failed:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        try:
            self._before("sync", name)
        except OSError:
            self._failed.add(inode)
            raise
        self._contents[inode] = content = self._content(inode)
        self._history = [dict(self._names)]
        path = next((path for path, other in self._names.items() if other == inode), None)
        if path is not None:
            self.synced(Path(path), content)

    def _ftruncate(self, number: int, size: int) -> None:
        if number in self._opened:
            self._before("truncate", self._opened[number][0])
        _REAL["ftruncate"](number, size)

    def _replace(self, source: Any, target: Any, **rest: Any) -> None:
        before, after = self._below(source), self._below(target)
        if before is None or after is None:
            _REAL["replace"](source, target, **rest)
            return
        self._before("replace", after)
        self._keep(after)
        _REAL["replace"](source, target, **rest)
        self._names[after] = self._names.pop(before)
        self._changed()

    def _unlink(self, path: Any, **rest: Any) -> None:
        name = None if rest.get("dir_fd") is not None else self._below(path)
        if name is None or not os.path.lexists(name):
            if self.dead and name is not None:
                raise Killed
            _REAL["unlink"](path, **rest)
            return
        self._before("unlink", name)
        self._keep(name)
        _REAL["unlink"](path)
        del self._names[name]
        self._changed()

    def _rmtree(self, path: Any, *rest: Any, **named: Any) -> None:
        name = self._below(path)
        if name is not None:
            self._before("remove", name)
            for one in [one for one in self._names if one.startswith(f"{name}/")]:
                self._keep(one)
                del self._names[one]
            self._changed()
        _RMTREE(path, *rest, **named)

    def _keep(self, name: str) -> None:
        """Keep the content of a name that goes away, since a power cut may bring it back."""
        number = self._names.get(name)
        if number is not None:
            self._gone[number] = Path(name).read_bytes()

    def _close(self, number: int) -> None:
        self._opened.pop(number, None)
        _REAL["close"](number)

    def _flock(self, number: Any, operation: int) -> None:
        if isinstance(number, int) and number in self._opened and not self.dead:
            self._before("lock", self._opened[number][0])
        _FLOCK(number, operation)


def _no_sendfile(*rest: Any, **named: Any) -> int:
    """Let `shutil` copy by reading and writing."""
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


@contextmanager
def _all(patches: list[Any]) -> Iterator[None]:
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in reversed(patches):
            one.stop()
