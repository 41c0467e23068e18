"""Questions that a generated graph cannot host: found early, and left out of sweeps over sizes."""

from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.experiments.config import AnyExperiment
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.runs.reporting import report_of
from graphwalk.runs.run_folder import RunFolder
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.generate import tasks_on
from tests.runs.runs import experiment, records, start

TINY = {"nodes": 4, "labels": 2, "mean_degree": 0.5}
QUESTIONS = ["node_by_property", "variable_hop_path"]


def sweep(graphs: list[dict[str, Any]], leave_out: bool | None = None) -> AnyExperiment:
    fields = {"name": "questions", "graphs": graphs, "questions": QUESTIONS, "leave_out": leave_out}
    made = {"suite": QuestionsConfig.model_validate(fields), "models": ("scripted/expert",)}
    return experiment().model_copy(update=made)


async def test_a_sweep_over_sizes_leaves_them_out_and_says_so(tmp_path: Path) -> None:
    summary = await start(tmp_path / "run", sweep([TINY, {"preset": "paper-100"}]))
    assert summary.finished == summary.episodes == len(records(tmp_path / "run"))
    asked = {record["task"]["template"] for record in records(tmp_path / "run")}
    assert asked == set(QUESTIONS)
    graphs = RunFolder.open(tmp_path / "run").read_manifest()["fingerprint"]["graphs"]
    assert "variable_hop_path" in graphs[0]["left_out"]
    assert "left_out" not in graphs[1]
    notes = report_of(RunFolder.open(tmp_path / "run")).notes
    assert "Some graphs are not asked: variable_hop_path (see run.json for the reasons)." in notes


@pytest.mark.parametrize(("graphs", "leave_out"), [([TINY], None), ([TINY, {"preset": "paper-100"}], False)])
async def test_elsewhere_they_are_an_error(
    tmp_path: Path, graphs: list[dict[str, Any]], leave_out: bool | None
) -> None:
    with pytest.raises(ConfigError, match="cannot host the question"):
        await start(tmp_path / "run", sweep(graphs, leave_out=leave_out))


async def test_a_dense_graph_is_known_not_to_host_a_long_walk_before_it_is_walked() -> None:
    graph = generate_graph(GraphSpec(nodes=300, labels=1, relationship_types=1, mean_degree=60.0), 1)
    with pytest.raises(ConfigError, match="too long"):
        await tasks_on(graph, seed=1, questions=["variable_hop_path"])
