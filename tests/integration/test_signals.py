"""Ctrl-C at any moment: the process ends in order, and prints how to resume."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.integration.test_kills import command

SECONDS = 60
"""A command that has not ended after these hangs."""
BIG = ["-o", "suite.graphs=[{nodes: 100000}]", "--limit", "1", "--model", "scripted/expert"]
MANY = ["--graphs", "1", "-o", "repeats=2000", "--model", "scripted/expert", "--max-concurrency", "1"]


def ended(folder: Path, words: Sequence[str], seconds: float, signum: signal.Signals) -> None:
    """Start a run, send it a signal so many seconds after its folder is there, and check that it ends in order."""
    process = subprocess.Popen(
        [*command(), "run", "quickstart", *words, "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (folder / "run.json").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    time.sleep(seconds)
    # A terminal sends Ctrl-C to all that run in its foreground.
    (os.killpg if signum == signal.SIGINT else os.kill)(process.pid, signum)
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + signum, errors
    assert "Traceback" not in errors
    assert errors.count(f"graphwalk resume {folder}") == 1


STUBBORN = """
import asyncio, time
from graphwalk.terminal import run_async

async def blocks_the_loop():
    print("begun", flush=True)
    while True:
        time.sleep(0.01)

run_async(blocks_the_loop(), "stopping")
"""


def test_a_second_signal_exits_at_once() -> None:
    """Whatever the work does, the first signal prints its message at once."""
    words = [sys.executable, "-c", STUBBORN]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        assert process.stderr.readline() == "SIGTERM: stopping\n"
        time.sleep(0.6)  # two signals within half a second count as one
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, errors) == (128 + signal.SIGINT, "")


ORDERLY = """
import asyncio, os, signal
from graphwalk.terminal import Interrupted, run_async

async def work():
    os.kill(os.getpid(), signal.SIGTERM)
    try:
        await asyncio.sleep(600)
    finally:
        await asyncio.sleep(1)
        print("in order", flush=True)

try:
    run_async(work(), "stopping")
except Interrupted as interrupted:
    print(interrupted.exit_code)
"""


def test_the_work_has_the_time_to_put_things_in_order() -> None:
    words = [sys.executable, "-c", ORDERLY]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.stdout, done.stderr) == ("in order\n143\n", "SIGTERM: stopping\n")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_at_any_moment(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    signum = draw.choice((signal.SIGINT, signal.SIGTERM))
    words, longest = (BIG, 2) if seed % 2 else (MANY, 12)
    ended(tmp_path / "run", words, draw.uniform(0, longest), signum)
