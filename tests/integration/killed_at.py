"""A `graphwalk` that kills itself at a named point of writing a run, as the kernel would: for tests to start.

    python -m tests.integration.killed_at POINT TIMES run quickstart …

`TIMES`: it dies when it comes to the point for that many times. Nothing of this is in the code that ships.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphwalk.cli import main
from graphwalk.jsonlines import LineWriter

Hit = Callable[[], bool]
"""True when the point is come to for the last time."""


def _around(owner: Any, name: str, part: str = "", *, after: bool = False) -> Callable[[Hit], None]:
    """Die before a function is called, or after; `part`: of what it is called with, a path say."""

    def patch(hit: Hit) -> None:
        real = getattr(owner, name)

        def patched(*args: Any, **named: Any) -> Any:
            meant = part in " ".join(map(str, args))
            if meant and not after and hit():
                _die()
            found = real(*args, **named)
            if meant and after and hit():
                _die()
            return found

        setattr(owner, name, patched)

    return patch


def half_a_line(hit: Hit) -> None:
    real = os.write

    def torn(number: int, line: bytes) -> int:
        if line.startswith(b'{"') and line.endswith(b"}\n") and hit():
            real(number, line[: len(line) // 2])
            _die()
        return real(number, line)

    os.write = torn


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


POINTS: dict[str, Callable[[Hit], None]] = {
    "before a line": _around(LineWriter, "append"),
    "half a line": half_a_line,
    "after a line": _around(LineWriter, "append", after=True),
    "before the disk confirms": _around(os, "fsync"),
    "after the disk confirmed": _around(os, "fsync", after=True),
    "before run.json is replaced": _around(Path, "replace", "run.json"),
    "after run.json is replaced": _around(Path, "replace", "run.json", after=True),
    "before results are compressed": _around(Path, "replace", "results.jsonl.gz"),
    "before the plain results go": _around(Path, "unlink", "results.jsonl"),
}


def _main() -> None:
    left = int(sys.argv[2])

    def hit() -> bool:
        nonlocal left
        left -= 1
        return left == 0

    POINTS[sys.argv[1]](hit)
    sys.argv = ["graphwalk", *sys.argv[3:]]
    main()


if __name__ == "__main__":
    _main()
