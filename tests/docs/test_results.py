"""docs/results.md and the published runs in results/ that all its figures come from."""

import asyncio
import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest
from cogapp import Cog

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


LEADS = (
    (("walking-*", "walk-0 tools"), ("walking-*", "read-0 no_tools"), "accuracy"),
    (("walking-*", "walk-long tools"), ("walking-*", "read-long no_tools"), "accuracy"),
    (("magma-*", "is-0 is"), "COPYING", "later_exact"),
    (("magma-*", "is-1 is"), "COPYING", "accuracy"),
)
NO_LEADS = (
    (("walking-*", "walk-1 tools"), ("walking-*", "read-1 no_tools"), "accuracy"),
    (("magma-*", "is-0 is"), "COPYING", "accuracy"),
    (("magma-*", "is-0 is"), ("magma-*", "qwen-1.5b is"), "accuracy"),
)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("first", "second", "measure", "shown"),
    [*((*lead, True) for lead in LEADS), *((*lead, False) for lead in NO_LEADS)],
)
def test_a_lead_of_the_page_is_shown_where_the_page_says_so(
    first: object, second: object, measure: str, shown: bool, results: ModuleType
) -> None:
    difference = results.lead(first, results.COPYING if second == "COPYING" else second, measure)
    low, high = map(float, re.findall(r"[+-][\d.]+", difference.partition("(")[2]))
    assert (low > 0) == shown
    assert high > 0
