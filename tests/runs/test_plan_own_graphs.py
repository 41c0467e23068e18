"""Experiments on the user's own graph: questions, omitted kinds, and the anonymised copy."""

from pathlib import Path

import pytest

from graphwalk.analysis.report.report import report_of
from graphwalk.errors import ConfigError, RunLogError
from graphwalk.graphs.files import save_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import RunFolder
from tests.runs.runs import resume, start

NODES = [Node(f"p{n}", ("Person",), {"city": "Oslo" if n % 3 else "Rome"}) for n in range(9)]
NODES += [Node(f"f{n}", ("Film",), {"year": 1990 + n % 2}) for n in range(4)]
ENDS = [(f"p{n}", f"f{n % 4}") for n in range(8)] + [("f0", "p1"), ("f1", "p8"), ("p1", "p2")]
GRAPH = PropertyGraph.from_rows(NODES, [Relationship("SAW", s, t, {}) for s, t in ENDS])


async def play(folder: Path, graph: PropertyGraph, **entry: object) -> RunFolder:
    save_graph(graph, folder / "movies.json")
    data = {
        "name": "own",
        "suite": {"name": "questions", "graphs": [{"file": str(folder / "movies.json"), **entry}]},
        "settings": ["tools", "write_cypher"],
        "models": ["scripted/expert", "scripted/cypher"],
    }
    await start(folder / "run", load_experiment(data))
    return RunFolder.open(folder / "run")


async def test_the_questions_that_a_graph_cannot_host_are_left_out_and_named(tmp_path: Path) -> None:
    folder = await play(tmp_path, GRAPH)
    (facts,) = folder.read_manifest()["fingerprint"]["graphs"]
    assert facts["name"] == "movies"
    assert facts["source"] == "file movies.json"
    assert facts["left_out"]["relationship_by_property"] == (
        "none of 0 parameter sets has an answer of at most 100 rows (suite.most_rows) that is not trivial"
    )
    asked = {record["task"]["template"] for record in folder.records()}
    assert asked.isdisjoint(facts["left_out"])
    assert "node_by_property" in asked
    assert all(record["score"]["correct"] for record in folder.records())
    assert any(note.startswith("movies is not asked: ") for note in report_of(folder).notes)


async def test_a_twin_is_asked_the_same_and_compared(tmp_path: Path) -> None:
    folder = await play(tmp_path, GRAPH, twin=True)
    tasks = {record["task_id"]: record["task"] for record in folder.records()}
    twins = [task for task in tasks.values() if task.get("twin_of")]
    assert len(twins) * 2 == len(tasks)
    for task in twins:
        original = tasks[task["twin_of"]]
        assert (task["template"], task["gold_size"]) == (original["template"], original["gold_size"])
        assert "Person" not in task["question"]
    assert [pair.measures["accuracy"].difference for pair in report_of(folder).memorisation_test] == [0, 0]


async def test_resume_refuses_another_graph(tmp_path: Path) -> None:
    await play(tmp_path, GRAPH)
    save_graph(PropertyGraph.from_rows(NODES, []), tmp_path / "movies.json")
    with pytest.raises((RunLogError, ConfigError)):
        await resume(tmp_path / "run")
