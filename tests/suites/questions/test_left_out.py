"""Questions that a generated graph cannot host: found early, and left out of sweeps over sizes."""

from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.experiments.config import AnyExperiment
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.runs.reporting import report_of
from graphwalk.runs.run_folder import RunFolder
from graphwalk.stores.base import Database
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import choose_kinds, shipped_kinds
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.generate import own_tasks, tasks_on
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from tests.runs.runs import experiment, records, start

EACH = "each relationship in its own direction"
LACKS = {
    "path_finding": "in 27 no path of two relationships, each in its own direction, visits the three labels",
    "variable_hop_path": f"in 18 no path, {EACH}, leads to the second label and one step on",
    "remote_node_property": "no path of two or more relationships, each in its own direction, leads from the node",
    "compositional_intersection": "in 18 no node has relationships that go to both labels",
    "negation_with_connection": "in 4 no node leads to both labels, so that the negation rules out none",
}
"""The omitted kinds of a graph in which people and companies lead to films, and films to nothing."""
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
    with pytest.raises(ConfigError, match="have too many paths"):
        await tasks_on(graph, seed=1, questions=["variable_hop_path"])


def films() -> PropertyGraph:
    """Person -[ACTED_IN | DIRECTED]-> Movie <-[PRODUCED]- Company: an ordinary schema."""
    numbers = range(90)
    nodes = [Node(f"{label} {n}", (label,), {"born": 1900 + n % 70}) for label in ("Person", "Movie") for n in numbers]
    nodes += [Node(f"Company {n}", ("Company",), {"country": "AB"[n % 2]}) for n in range(12)]
    acted = [("ACTED_IN", f"Person {(7 * n + 11 * k * k) % 90}", n) for n in numbers for k in range(2 + n % 3)]
    others = [("DIRECTED", f"Person {31 * n % 90}", n) for n in numbers]
    others += [("PRODUCED", f"Company {n * n % 12}", n) for n in numbers]
    relationships = [Relationship(type_, source, f"Movie {n}", {"share": n % 4}) for type_, source, n in acted + others]
    return PropertyGraph.from_rows(nodes, relationships)


async def test_the_reason_says_what_an_ordinary_graph_lacks() -> None:
    graph, left_out = films(), dict[str, str]()
    store = await EmbeddedDatabase().load(graph)
    kinds = list(shipped_kinds().values())
    tasks = await own_tasks(graph, store, kinds, seed=1, leave_out=left_out.__setitem__)
    assert left_out.keys() == LACKS.keys()
    for name, words in LACKS.items():
        assert words in left_out[name], left_out[name]
    assert "shared_neighbor" in {task.template for task in tasks}


async def test_nodes_are_found_over_relationships_in_both_directions(any_database: Database) -> None:
    """Target and expert's walk agree on every kind of start, in the middle of a path of two relationships too."""
    graph, store = films(), await any_database.load(films())
    kinds = choose_kinds(["shared_neighbor"])
    tasks = await own_tasks(graph, store, kinds, seed=1, leave_out=lambda *why: None, per_question=12)
    labels = {tuple(task.parameters[f"{name}_label"] for name in ("source", "middle", "target")) for task in tasks}
    assert labels > {("Person", "Movie", "Person"), ("Movie", "Person", "Movie")}
    assert all(task.reference_calls is not None for task in tasks)
