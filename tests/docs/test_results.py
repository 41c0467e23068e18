"""docs/results.md and the published runs in results/ that all its figures come from."""

import asyncio
import importlib
from pathlib import Path
from types import ModuleType

import pytest
from cogapp import Cog

from graphwalk.analysis.report.compare import compare_runs
from graphwalk.analysis.verify import verify_run
from graphwalk.runs.folder import RunFolder
from graphwalk.variables import Variables

ROOT = Path(__file__).parents[2]
PUBLISHED = sorted((ROOT / "results").glob("*.zip"))


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem == "walking-walk-0" else pytest.mark.extended)
        for path in PUBLISHED
    ],
)
def test_published_run_is_small_and_recomputed_without_difference(path: Path) -> None:
    assert path.stat().st_size <= 1_100_000
    folder = RunFolder.open(path)
    verification = asyncio.run(verify_run(folder, Variables()))
    assert verification.holds, verification.error
    scored = [record for record in folder.records() if record["score"] is not None]
    episodes = {tuple(record[part] for part in ("task_id", "model", "setting", "repeat")) for record in scored}
    assert len(episodes) == len(scored) == folder.planned_episodes()


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that fills the page."""
    monkeypatch.syspath_prepend(ROOT / ".ci")
    return importlib.import_module("results")


@pytest.mark.extended
@pytest.mark.usefixtures("results")
def test_figures_of_the_page_are_those_of_the_published_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, where the other tests use the same reports."""
    monkeypatch.chdir(ROOT)
    assert Cog().main(["cog", "-I", ".ci", "--check", "docs/results.md"]) == 0


@pytest.mark.extended
@pytest.mark.parametrize(
    ("run", "proven", "right"), [("walking-walk-long", 39, 39), ("walking-walk-0", 22, 29), ("walking-walk-1", 22, 25)]
)
def test_right_answers_of_walkers_are_proven_or_not(run: str, proven: int, right: int, results: ModuleType) -> None:
    (row,) = results.report_on((run,)).rows
    assert (row["proven"], row["correct"]) == (proven, right)


@pytest.mark.extended
def test_the_verdict_of_the_page_is_that_of_the_command(results: ModuleType) -> None:
    paths = [ROOT / "results" / f"{name}.zip" for name in results.TAUGHT]
    (sentence, *_) = compare_runs(paths).verdict
    assert "is better than" in sentence
    assert "walk-long tools is better than read-long no_tools by 18 points" in results.verdict(*results.TAUGHT)
