"""Every moment is a good one for Ctrl-C: the process ends in time, in order, and says how to go on (R05)."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.integration.test_kills import command

SECONDS = 5.5
"""Five seconds, and what a busy machine takes to notice."""
BIG = ["-o", "suite.graphs=[{nodes: 400000}]", "--limit", "1", "--model", "scripted/expert"]
MANY = ["--graphs", "1", "--repeats", "2000", "--model", "scripted/expert", "--max-concurrency", "1"]
LARGE = ["-o", "suite.graphs=[{nodes: 400000, mean_degree: 3}]", "--model", "scripted/expert"]
"""Lists of 400,000 rows: C code holds the interpreter for up to nine seconds."""
HELD = """
import ctypes, sys, threading
from graphwalk.cli import main
held = lambda: ctypes.PyDLL(None).sleep(60)
threading.Timer(float(sys.argv.pop(1)), held).start()
main()
"""
"""The command, with C code that takes the interpreter after so many seconds and keeps it."""


def ended(
    folder: Path,
    words: Sequence[str],
    seconds: float,
    signum: signal.Signals,
    *,
    before: Sequence[str] = (),
    held: bool = False,
) -> str:
    """What a run says that gets a signal so many seconds after its folder is there; it ended in time and in order."""
    process = subprocess.Popen(
        [*(before or command()), "run", "quickstart", *words, "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (folder / "run.json").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    time.sleep(seconds)
    sent = time.monotonic()
    # A terminal sends Ctrl-C to all that run in its foreground.
    (os.killpg if signum == signal.SIGINT else os.kill)(process.pid, signum)
    _, errors = process.communicate()
    assert time.monotonic() - sent < SECONDS, errors
    # Whoever holds the interpreter to the last moment is killed; who frees gigabytes has no handler any more.
    allowed = (128 + signum, *([-signum, -signal.SIGKILL] if held else []))
    assert process.returncode in allowed, errors
    assert "Traceback" not in errors
    assert errors.count(f"go on with:  graphwalk resume {folder}") == 1
    return errors


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_while_a_large_graph_is_made(tmp_path: Path, signum: signal.Signals) -> None:
    ended(tmp_path / "run", BIG, 4.0, signum)


def test_in_the_middle_of_queries(tmp_path: Path) -> None:
    draw = random.Random(2)
    for number in range(4):
        ended(tmp_path / f"run{number}", MANY, draw.uniform(0, 1.5), signal.SIGINT)


@pytest.mark.parametrize("signum", ["INT", "TERM"])
def test_timeout_sends_its_signal_twice_and_means_one(tmp_path: Path, signum: str) -> None:
    """GNU `timeout` sends it to the process and to the group that it made for it."""
    if shutil.which("timeout") is None:
        pytest.skip("timeout is not installed")
    for number in range(2):
        words = command("run", "quickstart", *MANY, "--out", tmp_path / f"{number}")
        done = subprocess.run(["timeout", "-s", signum, "8", *words], capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
        assert done.stderr.count(f"SIG{signum}: stopped") == 1, done.stderr


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_while_nothing_of_python_can_run(tmp_path: Path, signum: signal.Signals) -> None:
    ended(tmp_path / "run", MANY, 3.0, signum, before=[sys.executable, "-c", HELD, "3"], held=True)


GUARDED = """
import os, signal, sys, time
from graphwalk.deadline import deadline
signal.signal(signal.SIGTERM, lambda *given: None)
guard = deadline(0.5, [signal.SIGTERM], "stopped")
{then}
time.sleep(20)
"""


@pytest.mark.parametrize(
    ("then", "code", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGKILL, "SIGTERM: stopped\n"),
        ("guard.told(); os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGKILL, ""),
        ("os.kill(os.getpid(), signal.SIGTERM); os._exit(7)", 7, "SIGTERM: stopped\n"),
        ("guard.lift(); os.kill(os.getpid(), signal.SIGTERM); sys.exit(7)", 7, ""),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, ""),
        ("sys.exit(7)", 7, ""),
    ],
)
def test_whoever_guards_a_deadline_goes_with_the_command(then: str, code: int, said: str) -> None:
    begun = time.monotonic()
    words = [sys.executable, "-c", GUARDED.format(then=then)]
    # stderr is the guard's too: its end is the guard's end.
    ended = subprocess.run(words, capture_output=True, text=True, timeout=15, check=False)
    assert (ended.returncode, ended.stderr) == (code, said)
    assert time.monotonic() - begun < 5


def test_a_guard_that_nobody_listens_to_keeps_the_deadline(tmp_path: Path) -> None:
    words = [sys.executable, "-c", GUARDED.format(then="os.kill(os.getpid(), signal.SIGTERM)")]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stderr.close()
        assert process.wait(timeout=10) == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [20.0, 40.0, 60.0, 75.0, 90.0, 105.0])
def test_while_a_graph_is_walked_whose_lists_hold_the_interpreter(tmp_path: Path, seconds: float) -> None:
    ended(tmp_path / "run", LARGE, seconds, signal.SIGTERM, held=True)


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
