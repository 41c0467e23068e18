"""The same seed gives the same graphs, tasks, prompts and scores wherever and whenever it is used (R20)."""

import os

import pytest

from tests.interpreters import interpreters, run_here, run_with

MADE = "tests.made_digests"


def seeded(number: int) -> dict[str, str]:
    return {**os.environ, "PYTHONHASHSEED": str(number)}


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_processes_hash_seeds_and_workers_change_nothing() -> None:
    digests = {
        run_here(MADE, workers, environment=seeded(seed)) for seed, workers in ((0, "1"), (1, "8"), (4321, "64"))
    }
    assert len(digests) == 1


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_versions_of_python_change_nothing() -> None:
    versions = interpreters()
    if len(versions) < 2:
        pytest.skip(f"only Python {', '.join(versions)} is here")
    digests = {version: run_with(python, MADE, "4", environment=seeded(7)) for version, python in versions.items()}
    assert len(set(digests.values())) == 1, digests
