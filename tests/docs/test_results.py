"""docs/results.md and the published runs in results/ that all its figures come from."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphwalk.runs.finished.verify import verify_run
from graphwalk.runs.run_folder import RunFolder
from graphwalk.settings import Settings

ROOT = Path(__file__).parents[2]
PUBLISHED = sorted((ROOT / "results").glob("*.zip"))


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_published_run_is_small_and_recomputed_without_difference(path: Path) -> None:
    assert path.stat().st_size <= 1_000_000
    folder = RunFolder.open(path)
    verification = asyncio.run(verify_run(folder, Settings()))
    assert verification.holds, verification.error
    scored = [record for record in folder.records() if record["score"] is not None]
    episodes = {tuple(record[part] for part in ("task_id", "model", "setting", "repeat")) for record in scored}
    assert folder.planned_episodes() == len(episodes) == len(scored)


def test_published_runs_are_few() -> None:
    assert PUBLISHED
    assert sum(path.stat().st_size for path in PUBLISHED) <= 8_000_000


def test_every_pupil_has_its_training() -> None:
    pupils = [
        path.stem.removesuffix("-free") for path in PUBLISHED if path.stem.removesuffix("-free")[-2:] in {"-0", "-1"}
    ]
    assert pupils
    for name in pupils:
        training = json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))
        assert training["tokens"] >= 100_000
        assert len(training["losses"]) == training["step"]
        assert f"{training['seed']}" == name[-1]
        assert all(len(digest) == 64 for digest in training["chats"].values())


def test_figures_of_the_page_are_those_of_the_published_runs() -> None:
    command = [sys.executable, "-m", "cogapp", "-I", ".ci", "--check", "docs/results.md"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
