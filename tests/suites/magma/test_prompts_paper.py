"""The switches that follow the paper: first states, explanations, adjacency matrices, kinds of hints, its prompts."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from inline_snapshot import snapshot

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.config import MagmaSpec
from graphwalk.suites.magma.generate import ALGORITHMS, MagmaTrace, make_traces, state_before
from tests.suites.magma.test_prompts import trace
from tests.suites.magma.test_suite import SUITE, experiment, played, tasks

PAPER = {"first_state": "paper", "explain": False}


def from_the_start(algorithm: str) -> MagmaTrace:
    made = trace(algorithm)
    return replace(made, before=state_before(algorithm, made.instance))


def said(made: MagmaTrace, setting: str, step: int, agent: AgentConfig, form: prompts.Form = prompts.STANDARD) -> str:
    return "\n".join(f"{m.role}: {m.content}" for m in prompts.conversation(made, setting, step, agent, form=form))


SWITCHES: list[dict[str, Any]] = [PAPER, {"input": "matrix"}, {**PAPER, "input": "matrix"}]
WAYS: list[dict[str, Any]] = [{}, {"free_running": True}, {"io_steps": True}]


EACH_ONCE = list(zip(SWITCHES, WAYS, strict=True))


@pytest.mark.parametrize(("switches", "way"), EACH_ONCE)
def test_the_expert_is_right_under_every_switch(switches: dict[str, Any], way: dict[str, Any]) -> None:
    for setting in prompts.STRATEGIES:
        scores = [score for _, _, score in played("expert", setting, experiment(**switches, **way))]
        assert scores
        assert all(score.correct and all(step.exact for step in score.steps) for score in scores)


def test_first_states_are_those_of_the_paper() -> None:
    config = experiment(**PAPER)
    first = {task.algorithm: (task, instance) for task, instance in reversed(tasks(config)) if task.step == 0}
    assert first.keys() == {"dijkstra", "floyd_warshall", "mst_prim"}
    assert first["dijkstra"][0].gold == first["mst_prim"][0].gold == []
    task, instance = first["floyd_warshall"]
    _, edges, weights, _ = instance.source.instance
    assert task.gold == [[i, j, weight] for (i, j), weight in zip(edges, weights, strict=True)]


def test_a_first_state_is_verified_like_every_other() -> None:
    for way in ({}, {"free_running": True}):
        config = experiment(**PAPER, **way)
        for task, instance in tasks(config):
            assert asyncio.run(SUITE.verification.confirm(task, instance, config.suite)) == "networkx"


def test_later_states_and_their_names_stay() -> None:
    ours, papers = ({task.task_id: task.gold for task, _ in tasks(experiment(**s))} for s in ({}, PAPER))
    assert papers.items() > ours.items()
    assert {name.rpartition("-")[2] for name in papers.keys() - ours.keys()} == {"0"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_matrix_shows_the_graph_that_the_edges_show(algorithm: str) -> None:
    for made in make_traces(MagmaSpec(algorithm=algorithm, nodes=6, count=20), 3):  # type: ignore[arg-type]
        shown = prompts.problem(made, form=prompts.Form(input="matrix"))
        assert "\nEdges:" not in shown
        assert prompts.read_problem(shown, 6) == made.instance


@pytest.mark.parametrize(
    "text", ["[[0, 1], [1]]", "[[a]]", "[[0, [1]], [1, 0]]", "[[]]", "[[[[", "[[0, 1e999], [1, 0]]"]
)
def test_a_matrix_of_another_form_is_no_graph(text: str) -> None:
    assert prompts.read_problem(f"Adjacency matrix: {text}]]", 2) is None
    assert prompts.read_problem(f"Adjacency matrix: {text}", 3) is None


def test_an_adjacency_matrix() -> None:
    matrix = prompts.Form(input="matrix")
    assert prompts.problem(trace("mst_prim"), form=matrix) == snapshot("""\
Algorithm: Prim's minimum spanning tree, grown from the source node.
Goal: find the edges of a minimum spanning tree of the part of the graph that can be reached from the source. An edge of equal weight does not replace the one that gave a node its key first.
The graph is undirected and weighted; its nodes are the numbers 0 to 3. Row i and column j of the adjacency matrix hold the weight of the edge between nodes i and j, or 0.0 without one. Every tie goes to the node with the lowest number.

Adjacency matrix: [[0.0, 8.0, 3.0, 0.0], [8.0, 0.0, 1.0, 0.0], [3.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
Source: 0

Answer format: one line that begins with "MST Edges:", followed by a list in square brackets.
The list holds the tree's edges (i, j, weight) with i < j, sorted, for example: MST Edges: [(0, 1, 8.0), (1, 2, 3.0)]
Where there is nothing to list, answer: MST Edges: []\
""")
    line = next(row for row in prompts.problem(trace("bfs"), form=matrix).splitlines() if row.startswith("Adj"))
    assert line == snapshot("Adjacency matrix: [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]")


def hints(setting: str, made: MagmaTrace) -> list[str]:
    asked = [prompts.turn(made, setting, step) for step in made.states]
    return [next((line for line in text.splitlines() if line.startswith("Hint")), "") for text in asked]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_partial_hint_has_some_of_its_fields(algorithm: str) -> None:
    kept = []
    for made in make_traces(MagmaSpec(algorithm=algorithm, nodes=7, count=10), 3):  # type: ignore[arg-type]
        assert hints("ish_partial", made) == hints("ish_partial", made)
        for whole, partial in zip(hints("ish", made), hints("ish_partial", made), strict=True):
            kept.append((len(whole.split("; ")), len(partial.split("; "))))
            assert partial.startswith("Hint for step ")
    assert all(0 < part < whole for whole, part in kept)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_wrong_hint_is_that_of_another_step(algorithm: str) -> None:
    different = 0
    for made in make_traces(MagmaSpec(algorithm=algorithm, nodes=7, count=10), 3):  # type: ignore[arg-type]
        if len(made.steps) == 1:
            continue
        right = [line.partition(": ")[2] for line in hints("ish", made)]
        wrong = [line.partition(": ")[2] for line in hints("ish_wrong", made)]
        assert wrong == [line.partition(": ")[2] for line in hints("ish_wrong", made)]
        assert all(hint != right[place] and hint in right for place, hint in enumerate(wrong))
        different += len(wrong)
    assert different > 20


def test_a_trace_of_one_step_has_no_wrong_hint() -> None:
    config = experiment(traces=[{"algorithm": "dijkstra", "nodes": 5, "p": 0.1, "count": 20}])
    totals = [task.total_steps for task, _ in tasks(config)]
    assert 1 in totals
    assert all(task.total_steps > 1 for task, _, _ in played("expert", "ish_wrong", config))


def test_without_explanations() -> None:
    explained, short = (said(trace("bfs"), "is", 2, AgentConfig(), prompts.Form(explain)) for explain in (True, False))
    assert "One step takes the node at the front of the queue" in explained
    assert "One step" not in short
    assert short.count("Give the state after step") == explained.count("Give the state after step") == 2


def test_prompts_of_the_papers_protocol() -> None:
    agent, form = AgentConfig(prompts="paper"), prompts.Form(explain=False)
    assert said(from_the_start("dijkstra"), "ish", 1, agent, form) == snapshot("""\
system: You carry out graph algorithms.
user: Carry out Dijkstra's algorithm from the source node, to find the shortest paths in this graph.
The graph is undirected; its nodes are the numbers 0 to 3.
Edges: [(0, 1, 8.0), (0, 2, 3.0), (1, 2, 1.0)]
Source: 0
Output format: Distances: [(node, node, distance), …]

Step 0: the priority queue holds (node, distance) [(0, 0.0)]; the unvisited nodes are [0, 1, 2, 3]; the visited nodes are [].
Give the distances from the source to the other nodes as they are now.
assistant: Distances: []
user: Step 1: the priority queue holds (node, distance) [(0, 0.0)]; the unvisited nodes are [0, 1, 2, 3]; the visited nodes are [].
Give the distances from the source to the other nodes as they are now.\
""")
    assert said(from_the_start("floyd_warshall"), "is", 1, agent, form) == snapshot("""\
system: You carry out graph algorithms.
user: Carry out the Floyd–Warshall algorithm, to find the shortest paths in this graph.
The graph is undirected; its nodes are the numbers 0 to 3.
Edges: [(0, 1, 8.0), (0, 2, 3.0), (1, 2, 1.0)]
Output format: Distances: [(node, node, distance), …]

Give the distances between all pairs of nodes as they are now.
assistant: Distances: [(0, 1, 8.0), (0, 2, 3.0), (1, 2, 1.0)]
user: Give the distances between all pairs of nodes as they are now.\
""")
    assert said(trace("dfs"), "io", 4, agent, form) == snapshot("""\
system: You carry out graph algorithms.
user: Carry out depth-first search, to find the connected components of this graph.
The graph is undirected; its nodes are the numbers 0 to 3.
Edges: [(0, 1), (0, 2), (1, 2)]
Output format: Connected Components: [[node, node, …], [node, …], …]

Give the final result of the algorithm. Write that one line and nothing else.\
""")
    for algorithm in ALGORITHMS:
        assert prompts.read_problem(prompts.problem(trace(algorithm), agent), 4) == trace(algorithm).instance


def test_the_state_before_the_first_step() -> None:
    made = from_the_start("mst_prim")
    assert said(made, "io", 0, AgentConfig()).rsplit("\n\n", 1)[1] == snapshot(
        "Give the state before the first step. Write that one line and nothing else."
    )
    assert said(made, "io_reasoning", 0, AgentConfig()).rsplit("\n\n", 1)[1] == snapshot(
        "Work the state before the first step out in words of your own, and write it as the last line of your answer."
    )
    assert prompts.turn(made, "is", 0).splitlines()[-1] == snapshot(
        "Give the state before the first step, as one line in the answer format."
    )
