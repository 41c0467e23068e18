"""docs/results.md and the published runs in results/ that all its figures come from."""

import asyncio
import importlib
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from cogapp import Cog

from graphwalk.analysis.report.compare import compare_runs
from graphwalk.analysis.verify import verify_run
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.record import key_of
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
    assert len({key_of(record) for record in scored}) == len(scored) == folder.planned_episodes()


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


PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def section_of(heading: str) -> str:
    """Return the part of the page from a heading to the next one."""
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_each_published_run_is_on_the_page_with_its_figures() -> None:
    runs = section_of("Runs")
    assert PUBLISHED
    for path in PUBLISHED:
        assert f"\n| `{path.stem}` |" in runs, path.stem


def test_a_run_that_left_is_on_the_page_with_a_reason() -> None:
    command = ["git", "log", "--diff-filter=D", "--format=", "--name-only", "--", "results/*.zip"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout:
        pytest.skip("no history of results/ here")
    removed = {Path(name).stem for name in done.stdout.split()}
    removed -= {path.stem for path in PUBLISHED}  # these came back
    rows = [line for line in section_of("Runs that left results/").splitlines() if line.startswith("| `")]
    for name in removed:
        reasons = []
        for row in rows:
            _, runs, _, reason, _ = row.split("|")
            if f"`{name}`" in runs:
                reasons.append(reason.strip())
        assert reasons, name
        assert all(reasons), name


@pytest.mark.parametrize(
    ("heading", "claim", "controls"),
    [
        (
            "With equal tokens learnt, no lead of walking is shown",
            ("walk-long tools", "read-long no_tools"),
            [("walk-more tools", "read-long no_tools")],
        ),
        (
            "Asking for steps helps far more than learning them",
            ("is-0 is", "io-0 io"),
            [
                ("base is", "base io"),
                ("qwen-1.5b is", "qwen-1.5b io"),
                ("is-0 is − base is", "io-0 io − base io"),
                ("is-0 is", "repeat the previous state"),
                ("is-0-free is_own", "io-0 io"),
            ],
        ),
    ],
)
def test_a_claim_is_in_the_same_table_as_its_controls(
    heading: str, claim: tuple[str, str], controls: list[tuple[str, str]]
) -> None:
    cells = [f"| {first} | {second} |" for first, second in (claim, *controls)]
    tables = [part for part in section_of(heading).split("\n\n") if part.startswith("|")]
    tables_with_claim = [table for table in tables if cells[0] in table]
    assert any(all(cell in table for cell in cells) for table in tables_with_claim)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("run", "proven", "right"), [("walking-walk-long", 37, 39), ("walking-walk-0", 21, 29), ("walking-walk-1", 21, 25)]
)
def test_right_answers_of_walkers_are_proven_or_not(run: str, proven: int, right: int, results: ModuleType) -> None:
    (row,) = results.report_on((run,)).rows
    assert (row.figures["proven"], row.figures["correct"]) == (proven, right)


@pytest.mark.extended
def test_the_verdict_of_the_page_is_that_of_the_command(results: ModuleType) -> None:
    paths = [ROOT / "results" / f"{name}.zip" for name in results.TAUGHT]
    verdict = "\n".join(compare_runs(paths).verdict)
    assert "has the highest accuracy: 33.1 %" in verdict
    assert "read-long no_tools (18 points" in verdict
    assert "walk-long tools has the highest accuracy: 33.1 %" in results.verdict(*results.TAUGHT)
