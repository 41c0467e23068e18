"""`graphwalk init` writes an experiment of one's own that runs, and its files are used."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.forked_commands import graphwalk

SHIPPED_QUESTIONS = ("-o", "suite.questions=[node_count, path_finding]")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    done = graphwalk("init", "mine", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "graphwalk run mine/experiment.yaml" in done.stdout
    return tmp_path / "mine"


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_bytes().splitlines()]


def test_written_experiment_runs(mine: Path) -> None:
    run = mine / "runs" / "first"
    done = graphwalk("run", "experiment.yaml", *SHIPPED_QUESTIONS, "--out", run, folder=mine)
    assert done.returncode == 0, done.stderr
    prompt = records(run)[0]["trajectory"]["prompt"][0]["content"]
    assert prompt.startswith("You answer questions about a property graph that you can see through tools alone.")
    assert (run / "texts" / "tools" / "my_tool.yaml").read_text() == (mine / "my_tool.yaml").read_text()
    assert (run / "texts" / "prompts" / "graph_tools.j2").read_text() == (mine / "prompts/graph_tools.j2").read_text()
