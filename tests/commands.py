"""`graphwalk WORDS` as a process of its own, forked from one that has imported what commands need: it starts at once."""

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
_FORKS.set_forkserver_preload(["tests.preloaded"])


def graphwalk(
    *words: object, folder: Path | None = None, typed: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder` with `typed` as its input, without keys and databases of this machine."""
    hidden = {name for name in os.environ if name.endswith("_API_KEY") or name.startswith(("NEO4J_", "OPENAI_"))}
    given = {name: value for name, value in os.environ.items() if name not in hidden}
    with tempfile.TemporaryDirectory() as files:
        streams = [Path(files, name) for name in ("stdin", "stdout", "stderr")]
        for stream in streams:
            stream.write_text((typed or "") if stream is streams[0] else "", encoding="utf-8")
        environment = {**given, "NO_COLOR": "1", "COLUMNS": "100", **variables}
        process = start(words, environment, folder or Path.cwd(), streams)
        code = wait(process)
        stdout, stderr = (stream.read_text(encoding="utf-8") for stream in streams[1:])
    return subprocess.CompletedProcess(["graphwalk", *words], code, stdout, stderr)


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
    """Become the command, with its streams, variables, folder and words."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(os.open(stream, os.O_RDWR), number)
    sys.stdin = os.fdopen(0, "r", closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    os.chdir(folder)
    sys.path[:0] = [part for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part not in sys.path]
    sys.argv = ["graphwalk", *words]
    from graphwalk.cli import main

    main()
