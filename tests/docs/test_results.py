"""docs/results.md and the published runs in results/ that all its figures come from."""

import asyncio
import importlib
import json
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
QUICK = {"magma-is-0", "walking-walk-0"}
"""Two runs; the others are left to `make test-all`."""


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else pytest.mark.extended) for path in PUBLISHED],
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


def test_every_pupil_has_its_training() -> None:
    pupils = [
        name
        for path in PUBLISHED
        if (name := path.stem.removesuffix("-free"))[-2:] in {"-0", "-1"} and "sampled" not in name
    ]
    assert pupils
    for name in pupils:
        training = json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))
        assert training["tokens"] >= 90_000
        assert len(training["losses"]) == training["step"]
        assert f"{training['seed']}" == name[-1]
        assert all(len(digest) == 64 for digest in training["chats"].values())
        assert 0 < training["characters"]["replies"] < training["characters"]["all"]


@pytest.mark.usefixtures("results")
def test_figures_of_the_page_are_those_of_the_published_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, where the other tests use the same reports."""
    monkeypatch.chdir(ROOT)
    assert Cog().main(["cog", "-I", ".ci", "--check", "docs/results.md"]) == 0


def ends(difference: str) -> tuple[float, float]:
    low, high = re.findall(r"[+-][\d.]+", difference.partition("(")[2])
    return float(low), float(high)


def test_what_the_page_calls_not_shown_is_not_shown(results: ModuleType) -> None:
    untaught = results.QWEN
    for first, second in (
        (("walking-*", "walk-1 tools"), ("walking-*", "read-1 no_tools")),
        (("walking-*", "walk-more tools"), ("walking-*", "read-long no_tools")),
        ((untaught, "qwen-1.5b tools"), (untaught, "qwen-1.5b no_tools")),
        (("magma-*", "is-0 is"), results.COPYING),
        (("magma-*", "is-0 is"), ("magma-*", "qwen-1.5b is")),
    ):
        low, high = ends(results.lead(first, second))
        assert low <= 0 <= high, (first, second)


def test_leads_on_the_page_are_shown(results: ModuleType) -> None:
    for first, second, measure in (
        (("walking-*", "walk-0 tools"), ("walking-*", "read-0 no_tools"), "accuracy"),
        (("walking-*", "walk-long tools"), ("walking-*", "read-long no_tools"), "accuracy"),
        (("magma-*", "is-0 is"), results.COPYING, "later_exact"),
        (("magma-*", "is-1 is"), results.COPYING, "later_exact"),
        (("magma-*", "is-1 is"), results.COPYING, "accuracy"),
    ):
        assert ends(results.lead(first, second, measure))[0] > 0
