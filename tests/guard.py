"""Clears up after a test run, however it ends: a small process that waits until the run is gone.

    python -m tests.guard FOLDER VARIABLE

Its input is a pipe that only the run holds open. When that ends, every process that was started below the run (whose
environment has FOLDER in VARIABLE) is ended, and the folder removed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil

_WAIT_SECONDS = 30.0


def start_guard(folder: Path, variable: str) -> "subprocess.Popen[bytes]":
    """The guard of a run, outside its session, so that no signal to the run reaches it."""
    without = {name: value for name, value in os.environ.items() if name not in (variable, "TMPDIR")}
    words = [sys.executable, "-m", "tests.guard", str(folder), variable]
    root = Path(__file__).parents[1]
    return subprocess.Popen(words, stdin=subprocess.PIPE, env=without, cwd=root, start_new_session=True)


def started_below(folder: str, variable: str) -> list[psutil.Process]:
    """The processes that have the folder in their environment; those of other users cannot be read, nor be ours."""
    processes = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(variable) == folder:
                processes.append(process)
        except (psutil.Error, OSError):
            continue
    return processes


def clear_up(folder: str, variable: str) -> None:
    """End what was started, and what that starts in the meantime, then remove the folder."""
    while left := started_below(folder, variable):
        for process in left:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        if psutil.wait_procs(left, _WAIT_SECONDS)[1]:
            break
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    clear_up(sys.argv[1], sys.argv[2])
