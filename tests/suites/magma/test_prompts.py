"""The prompts of MAGMA, word for word in `tests/data/prompts/magma.yaml`, and the switches that follow the paper."""

from collections.abc import Callable

import pytest
import yaml

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.algorithms import ALGORITHMS, Instance, check_states, run_algorithm
from graphwalk.suites.magma.traces import MagmaSpec, MagmaTrace, make_traces
from tests.accepted import MAGMA, differences
from tests.suites.magma.test_suite import PAPER, experiment, tasks

TEXTS = yaml.safe_load(MAGMA.read_text("utf-8"))
PAPER_AGENT = AgentConfig(prompts="paper")


def trace(algorithm: str, first_state: str = "graphwalk") -> MagmaTrace:
    instance = Instance(
        4,
        ((0, 1), (0, 2), (1, 2)),
        (8.0, 3.0, 1.0) if algorithm in ("dijkstra", "floyd_warshall", "mst_prim") else None,
        0 if algorithm in ("bfs", "dijkstra", "mst_prim") else None,
    )
    states = run_algorithm(algorithm, instance, first_state)  # type: ignore[arg-type]
    return MagmaTrace(algorithm, instance, states, 0.5, 0, "test", 0)  # type: ignore[arg-type]


def from_the_start(algorithm: str) -> MagmaTrace:
    return trace(algorithm, "paper")


def chat(
    problem: MagmaTrace,
    setting: str,
    step: int,
    agent: AgentConfig = AgentConfig(),
    *,
    explain: bool = True,
) -> str:
    messages = prompts.conversation(problem, setting, step, agent, explain=explain)
    return "\n".join(f"{message.role}: {message.content}" for message in messages)


def last_part(text: str) -> str:
    """Return the text after the last empty line."""
    return text.rpartition("\n\n")[2]


CASES: dict[str, Callable[[], str]] = {
    "io bfs": lambda: chat(trace("bfs"), "io", 3),
    "io_reasoning floyd_warshall": lambda: chat(trace("floyd_warshall"), "io_reasoning", 4),
    "io of a step": lambda: chat(trace("mst_prim"), "io", 2).rsplit("MST Edges: []", 1)[1],
    "io_reasoning of a step": lambda: chat(trace("bfs"), "io_reasoning", 1).rsplit("Reachable Nodes: []", 1)[1],
    "is dfs": lambda: chat(trace("dfs"), "is", 3),
    "ish dijkstra": lambda: chat(trace("dijkstra"), "ish", 2),
    "ish mst_prim": lambda: chat(trace("mst_prim"), "ish", 2),
    "hint bfs": lambda: last_part(chat(trace("bfs"), "ish", 1)),
    "hint dfs": lambda: last_part(chat(trace("dfs"), "ish", 1)),
    "hint floyd_warshall": lambda: last_part(chat(trace("floyd_warshall"), "ish", 1)),
    "worked solution": lambda: prompts.training_chat(trace("mst_prim"), "io_reasoning")[-1].content or "",
    "paper ish dijkstra": lambda: chat(from_the_start("dijkstra"), "ish", 1, PAPER_AGENT, explain=False),
    "paper is floyd_warshall": lambda: chat(from_the_start("floyd_warshall"), "is", 1, PAPER_AGENT, explain=False),
    "paper io dfs": lambda: chat(trace("dfs"), "io", 4, PAPER_AGENT, explain=False),
    "before the first step, io": lambda: last_part(chat(from_the_start("mst_prim"), "io", 0)),
    "before the first step, io_reasoning": lambda: last_part(chat(from_the_start("mst_prim"), "io_reasoning", 0)),
    "before the first step, is": lambda: chat(from_the_start("mst_prim"), "is", 0).splitlines()[-1],
}


def test_prompts_are_these_word_for_word() -> None:
    assert not differences({name: case() for name, case in CASES.items()}, TEXTS, "Prompts of MAGMA")


def test_networkx_finds_every_state_also_the_first_one() -> None:
    for task, instance in tasks(experiment(**PAPER)):
        check_states(task.algorithm, instance.source.instance, {task.step: task.target})


def test_the_papers_first_states_are_added_to_ours() -> None:
    ours = {task.task_id: task for task, _ in tasks(experiment())}
    papers = {task.task_id: task for task, _ in tasks(experiment(**PAPER))}
    for name, task in ours.items():
        assert papers[name].target == task.target
    first = {papers[name].algorithm: papers[name] for name in papers.keys() - ours.keys()}
    assert {task.step for task in first.values()} == {0}
    assert first.keys() == {"dijkstra", "floyd_warshall", "mst_prim"}
    assert first["dijkstra"].target == first["mst_prim"].target == []
    instance = prompts.read_prompt(first["floyd_warshall"].question, first["floyd_warshall"].n)
    assert instance is not None
    assert first["floyd_warshall"].target == [list(edge) for edge in instance.weighted_edges]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_edges_show_the_graph(algorithm: str) -> None:
    for problem in make_traces(MagmaSpec(algorithm=algorithm, nodes=6, count=20), 3):  # type: ignore[arg-type]
        for text in (prompts.problem(problem), prompts.problem(problem, PAPER_AGENT)):
            assert prompts.read_prompt(text, 6) == problem.instance._replace(source=None)
