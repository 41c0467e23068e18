"""A suite of another package, run through every command; and suites that lack something."""

import json
import shutil
import sys
from importlib import import_module

import pytest

from graphwalk.analysis.suite_analysis import analysis_of
from tests.extending.packages import EXAMPLES, Place

PROJECT = EXAMPLES / "suite"


@pytest.fixture
def chains(place: Place) -> Place:
    place.install(PROJECT)
    shutil.copy(PROJECT / "demo.yaml", place.folder)
    return place


def test_a_suite_names_its_report_in_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PROJECT)
    suite = import_module("graphwalk_demo.suite").ChainsSuite()
    assert "graphwalk_demo.report" not in sys.modules
    report = analysis_of(suite).report()
    assert [grouping.name for grouping in report.groupings] == ["template", "length"]
    assert report.columns[-1].heading == "Steps short"


@pytest.mark.extended
def test_suite_run_has_a_report(chains: Place) -> None:
    done = chains.graphwalk("run", "demo.yaml", "--out", "first")
    assert done.returncode == 0, done.stderr
    assert "scripted/expert" in done.stdout
    report = json.loads(chains.graphwalk("report", "first", "--json").stdout)
    assert {row["length"] for row in report["groups"]["length"]} == {5, 9}
    rows = report["rows"]
    scores = {row["model"]: (row["correct"], row["scored"], row["steps_short"]) for row in rows}
    assert scores == {"scripted/expert": (6, 6, 0.0), "scripted/guess": (0, 6, None)}
    assert chains.graphwalk("report", "first", "--plots", "plots").returncode == 0
    assert (chains.folder / "plots" / "accuracy-by-template.svg").exists()
    assert chains.graphwalk("view", "first", "--out", "run.html").returncode == 0
    estimate = json.loads(chains.graphwalk("run", "demo.yaml", "--dry-run", "--json").stdout)
    assert estimate["tasks"] == {"end_of_chain": 6}
    assert estimate["rows"][0]["tool_calls"] == 4 * 5 + 2 * 9


def test_suite_run_is_resumed_and_rescored(chains: Place) -> None:
    assert chains.graphwalk("run", "demo.yaml", "--out", "run").returncode == 0
    log = chains.folder / "run" / "results.jsonl"
    log.write_bytes(b"".join((log.parent / "results.jsonl").read_bytes().splitlines(keepends=True)[:5]))
    resumed = chains.graphwalk("resume", "run")
    assert resumed.returncode == 0, resumed.stderr
    assert "5 of them finished earlier" in resumed.stderr
    assert "12 results rescored, 0 scores changed" in chains.graphwalk("rescore", "run").stderr


HEAD = "from graphwalk.suites.suite import Suite\n"


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("Broken = 7", "lacks name, settings, config_type, task_type"),
        ("import no_such_module", "cannot be imported: ModuleNotFoundError"),
        (
            "from graphwalk.suites.suite import Score\nclass Broken(Score):\n    missing: int",
            "broken_suite.Broken has fields with names of ours: missing",
        ),
    ],
)
def test_incomplete_suites_are_errors_before_the_run(chains: Place, body: str, cause: str) -> None:
    chains.install_text("broken_suite", f"{HEAD}{body}\n", "[graphwalk.suites]\nbroken = broken_suite:Broken\n")
    (chains.folder / "broken.yaml").write_text("name: broken\nsuite: {name: broken}\n")
    done = chains.graphwalk("run", "broken.yaml", "--out", "run")
    assert done.returncode == 2
    assert done.stderr.startswith("error: broken.yaml: ")
    assert cause in done.stderr
    assert "Traceback" not in done.stderr
    assert not (chains.folder / "run").exists()


def test_a_broken_suite_does_not_disturb_the_others(chains: Place) -> None:
    chains.install_text("broken_suite", "1 / 0\n", "[graphwalk.suites]\nbroken = broken_suite:Broken\n")
    assert chains.graphwalk("run", "demo.yaml", "--graphs", 1).returncode == 0
