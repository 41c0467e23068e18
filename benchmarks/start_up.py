"""From a fresh process to something on the screen: `graphwalk --help`, and the first scored episode of quickstart.

The compiled modules of Python are made by a first run that is not counted, as an installation makes them.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Row, in_turns

COMMAND = [sys.executable, "-c", "from graphwalk.cli import main; main()"]
HELP_SECONDS = 0.35
FIRST_EPISODE_SECONDS = 20.0


def measure(quick: bool) -> Iterator[Row]:
    """Rows for `--help`, and for the first episode and all 108 of quickstart."""
    with TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "modules")
        _help(environment)
        pair = in_turns(lambda: _help(environment), lambda: _nothing(environment), 1 if quick else 7)
        yield Row("graphwalk --help", "s", pair.ours, aim=HELP_SECONDS)
        yield Row("graphwalk --help ÷ Python doing nothing", "s", pair.ours, pair.plain)
        quickstart(Path(folder) / "warm-up", environment)
        runs = [quickstart(Path(folder) / str(number), environment) for number in range(1 if quick else 5)]
        yield Row(
            "quickstart: fresh process to first scored episode", "s", [f for f, _ in runs], aim=FIRST_EPISODE_SECONDS
        )
        yield Row("quickstart: fresh process to the table after 108 episodes", "s", [whole for _, whole in runs])


def _help(environment: dict[str, str]) -> None:
    subprocess.run([*COMMAND, "--help"], check=True, stdout=subprocess.DEVNULL, env=environment)


def _nothing(environment: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True, env=environment)


def quickstart(folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds until the first episode is in the log, and until the process has ended."""
    results = folder / "results.jsonl"
    command = [*COMMAND, "run", "quickstart", "--out", str(folder)]
    quiet = subprocess.DEVNULL
    begun = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as process:
        first = None
        while process.poll() is None:
            # It is compressed as soon as the run is done.
            with suppress(FileNotFoundError):
                if first is None and b"\n" in results.read_bytes():
                    first = time.perf_counter() - begun
            time.sleep(0.005)
        assert process.returncode == 0
        return first or time.perf_counter() - begun, time.perf_counter() - begun
