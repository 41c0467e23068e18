"""The same seed gives the same graphs, tasks, prompts and scores in every process (P1).

That versions of Python change nothing is shown by tests/test_golden.py, which passes on each of them.
"""

import os
import subprocess
import sys

import pytest


def digests(seed: int, workers: int) -> str:
    command = [sys.executable, "-m", "tests.run_digests", str(workers)]
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_processes_hash_seeds_and_workers_change_nothing() -> None:
    assert len({digests(seed, workers) for seed, workers in ((0, 1), (1, 8), (4321, 64))}) == 1
