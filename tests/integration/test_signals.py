"""Every moment is a good one for Ctrl-C: the process ends in time, in order, and says how to go on (R05)."""

import random
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.integration.test_kills import command

SECONDS = 5.5
"""Five seconds, and what a busy machine takes to notice."""
BIG = ["-o", "suite.graphs=[{nodes: 400000}]", "--limit", "1", "--model", "scripted/expert"]
MANY = ["--graphs", "1", "--repeats", "2000", "--model", "scripted/expert", "--max-concurrency", "1"]


def ended(folder: Path, words: Sequence[str], seconds: float, signum: signal.Signals) -> str:
    """What a run says that gets a signal so many seconds after its folder is there; it ended in time and in order."""
    process = subprocess.Popen(
        command("run", "quickstart", *words, "--out", folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (folder / "run.json").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    time.sleep(seconds)
    sent = time.monotonic()
    process.send_signal(signum)
    _, errors = process.communicate()
    assert time.monotonic() - sent < SECONDS, errors
    assert process.returncode == 128 + signum, errors
    assert "Traceback" not in errors
    assert f"go on with:  graphwalk resume {folder}" in errors
    return errors


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_while_a_large_graph_is_made(tmp_path: Path, signum: signal.Signals) -> None:
    ended(tmp_path / "run", BIG, 4.0, signum)


def test_in_the_middle_of_queries(tmp_path: Path) -> None:
    draw = random.Random(2)
    for number in range(4):
        ended(tmp_path / f"run{number}", MANY, draw.uniform(0, 1.5), signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_at_any_moment(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    signum = draw.choice((signal.SIGINT, signal.SIGTERM))
    ended(tmp_path / "run", BIG if seed % 2 else MANY, draw.uniform(0, 12), signum)


@pytest.mark.parametrize("words", [["tools"], ["questions"], ["experiments", "--schema"], ["--help"]])
def test_a_reader_that_has_gone_is_no_error(words: list[str]) -> None:
    """As in `graphwalk questions | head -1`."""
    with subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read().decode()
    assert (process.returncode, errors) == (0, "")
