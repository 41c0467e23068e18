"""From a fresh process to something on the screen: `graphwalk --help`, and the table of quickstart.

The compiled modules of Python are made by a first run that is not counted, as an installation makes them.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Row, in_turns, seconds_of

COMMAND = [sys.executable, "-c", "from graphwalk.cli import main; main()"]
HELP_SECONDS = 0.35


def measure(quick: bool) -> Iterator[Row]:
    """Rows for `--help`, and for all of quickstart."""
    with TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "modules")
        _help(environment)
        pair = in_turns(lambda: _help(environment), lambda: _nothing(environment), 1 if quick else 7)
        yield Row("graphwalk --help", "s", pair.ours, aim=HELP_SECONDS)
        yield Row("graphwalk --help ÷ Python doing nothing", "s", pair.ours, pair.plain)
        _quickstart(Path(folder) / "warm-up", environment)
        runs = [Path(folder) / str(number) for number in range(1 if quick else 5)]
        seconds = [seconds_of(lambda: _quickstart(run, environment)) for run in runs]  # noqa: B023 - called at once
        yield Row("quickstart: fresh process to the table after 108 episodes", "s", seconds)


def _help(environment: dict[str, str]) -> None:
    subprocess.run([*COMMAND, "--help"], check=True, stdout=subprocess.DEVNULL, env=environment)


def _nothing(environment: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True, env=environment)


def _quickstart(folder: Path, environment: dict[str, str]) -> None:
    command = [*COMMAND, "run", "quickstart", "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
