"""The studies that ship: small versions of them, played by scripted agents from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from graphwalk.cli.app import app

ONE = ("-o", "suite.questions=[node_by_property]", "--graphs", "1")


def run(folder: Path, *words: str) -> dict[str, Any]:
    called = CliRunner().invoke(app, ["run", *words, "--out", str(folder / "run"), "--json"], catch_exceptions=False)
    assert called.exit_code == 0
    report: dict[str, Any] = json.loads(called.stdout)
    return report


def test_compaction_study(tmp_path: Path) -> None:
    report = run(tmp_path, "compaction-study", *ONE, "-o", "suite.graphs=[{nodes: 20}]", "-m", "scripted/expert")
    assert {row["setting"] for row in report["rows"]} == {
        f"tools:compaction={name}" for name in ("none", "window", "summary", "scratchpad")
    }
    assert all(row["accuracy"] == 100 for row in report["rows"])


def test_turn_budget(tmp_path: Path) -> None:
    words = ("-o", "suite.questions=[relationship_count]", "--graphs", "1", "-m", "scripted/expert")
    report = run(tmp_path, "turn-budget", *words)
    limits = [int(row["setting"].partition("=")[2]) for row in report["rows"]]
    assert (limits[0], limits[-1]) == (5, 60)
    accuracies = [row["accuracy"] for row in report["rows"]]
    assert accuracies == sorted(accuracies)
    assert (accuracies[0], accuracies[-1]) == (0, 100)


@pytest.mark.extended
def test_wording_sensitivity(tmp_path: Path) -> None:
    report = run(tmp_path, "wording-sensitivity", "--limit", "3", "-m", "scripted/expert")
    assert len(report["rows"]) == 12
    assert {row["accuracy"] for row in report["rows"]} == {100}


@pytest.mark.extended
def test_one_factor(tmp_path: Path) -> None:
    report = run(tmp_path, "one-factor", *ONE, "-m", "scripted/expert")
    groups = [row["graph"] for row in report["groups"]["graph"]]
    assert {name.partition("=")[0] for name in groups} == {
        *("base", "nodes", "labels", "types", "degree", "properties", "values")
    }
    assert groups.index("nodes=60") < groups.index("nodes=200")
    rows = {row["graph"]: row["answer_rows"] for row in report["groups"]["graph"]}
    assert rows["values=2"] > rows["values=20"]
