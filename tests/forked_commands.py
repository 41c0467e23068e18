"""`graphwalk WORDS` as a process of its own that starts at once.

The imports of a command take a second. One process, the fork server of `multiprocessing`, makes them once
(`tests.command_imports`); each command is a fork of it.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

_SECONDS = 120
_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.command_imports"])


def graphwalk(
    *words: object, folder: Path | None = None, typed: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder` with `typed` as its input, without keys and databases of this machine."""
    environment = {"NO_COLOR": "1", "COLUMNS": "100"}
    for name, value in os.environ.items():
        if not is_key_or_database(name):
            environment.setdefault(name, value)
    environment.update(variables)

    with tempfile.TemporaryDirectory() as name:
        stdin, stdout, stderr = (Path(name, stream) for stream in ("stdin", "stdout", "stderr"))
        stdin.write_text(typed or "", encoding="utf-8")
        stdout.touch()
        stderr.touch()
        process = start(words, environment, folder or Path.cwd(), [stdin, stdout, stderr])
        code = wait(process)
        output = stdout.read_text(encoding="utf-8")
        errors = stderr.read_text(encoding="utf-8")
    return subprocess.CompletedProcess(["graphwalk", *words], code, output, errors)


def is_key_or_database(variable: str) -> bool:
    """True for a variable that would let a test use a paid model or a database of this machine's user."""
    return variable.endswith("_API_KEY") or variable.startswith(("NEO4J_", "OPENAI_"))


def start(
    words: tuple[object, ...], environment: Mapping[str, str], folder: Path, streams: list[Path]
) -> ForkServerProcess:
    """Start a command; `streams` are the files of its input, output and errors, which may be a terminal."""
    process = _FORKS.Process(target=_run, args=(list(map(str, words)), environment, folder.resolve(), streams))
    process.start()
    return process


def wait(process: ForkServerProcess) -> int:
    """Return the exit code; a command that hangs is killed."""
    process.join(_SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f"the command ran for {_SECONDS} s")
    return process.exitcode


def _run(words: list[str], environment: Mapping[str, str], folder: Path, streams: list[Path]) -> None:
    """Become the command: take its streams, variables, folder and words, then call what `graphwalk` calls."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(os.open(stream, os.O_RDWR), number)
    encoding = environment.get("PYTHONIOENCODING")
    sys.stdin = os.fdopen(0, "r", closefd=False, encoding=encoding)
    sys.stdout = os.fdopen(1, "w", closefd=False, encoding=encoding)
    sys.stderr = os.fdopen(2, "w", closefd=False, encoding=encoding, errors="backslashreplace")

    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # TMPDIR may be another folder now
    os.chdir(folder)
    # Python reads PYTHONPATH when it starts; this process started with the one of the fork server.
    for part in reversed(environment.get("PYTHONPATH", "").split(os.pathsep)):
        if part not in sys.path:
            sys.path.insert(0, part)

    sys.argv = ["graphwalk", *words]
    from graphwalk.cli import main

    main()
