"""Runs as they are logged, with their trajectories: of scripted agents, and of states that a test makes up."""

from functools import partial
from random import Random
from typing import Any

from graphwalk.models.chat import to_dict
from graphwalk.runs.experiment import load_experiment
from graphwalk.suites.flawed import with_flaws
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.magma.answers import read_answer, write_answer
from graphwalk.suites.magma.suite import MagmaSuite
from tests.suites.players import played, policy_of

SUITE = MagmaSuite()
TRACES = [{"algorithm": ["bfs", "mst_prim"], "nodes": [5, 8], "count": 3}]


async def results(*policies: str, settings: tuple[str, ...] = ("io", "is"), **suite: Any) -> list[dict[str, Any]]:
    """Return a run of agents, or of one that hallucinates, as it is logged."""
    config = load_experiment({"name": "t", "suite": {"name": "magma", "traces": TRACES, **suite}, "seed": 3})
    return [
        await _episode(policy, setting, task, instance)
        for instance in SUITE.graphs(config.suite, config.seed)
        for task in (await SUITE.tasks(LoadedGraph(instance), config.suite, config.seed, config.agent)).asked
        for setting in settings
        if SUITE.asks(task, setting, config.suite)
        for policy in policies
    ]


async def _episode(policy: str, setting: str, task: Any, instance: Any) -> dict[str, Any]:
    invents = policy == "hallucination"
    player = policy_of(SUITE, "expert" if invents else policy, task, setting, None, 1)
    player = with_flaws(player, Random(1), spoil=partial(_invented, task)) if invents else player
    score, trajectory = await played(player, task, LoadedGraph(instance), setting)
    return {
        "task_id": task.task_id,
        "model": policy,
        "setting": setting,
        "repeat": 0,
        "exit_status": str(trajectory.exit_status),
        "score": vars(score),
        "turns": len(trajectory.turns),
        "tool_calls": 0,
        "usage": {"input_tokens": 10, "output_tokens": 2},
        "seconds": 0.5,
        "task": task.model_dump(mode="json"),
        "graph": dict(instance.facts),
        "trajectory": to_dict(trajectory),
    }


def _invented(task: Any, reply: str, random: Random) -> str:
    """Return a reply with a node, or an edge to it, that the graph lacks."""
    invented = task.n if task.algorithm == "bfs" else [0, task.n, 1.0]
    return write_answer(task.algorithm, [*read_answer(task.algorithm, reply).answer, invented])


def logged(
    states: dict[str, list[bool]], *, model: str = "us/gpt-4o", setting: str = "io_reasoning"
) -> list[dict[str, Any]]:
    """Results of traces "ALGORITHM SIZE NUMBER", one per step: is the state right?"""
    return [_result(trace, step, right, model, setting) for trace in states for step, right in _steps(states[trace])]


def _steps(states: list[bool]) -> list[tuple[int, tuple[bool, int]]]:
    return [(number, (right, len(states))) for number, right in enumerate(states, start=1)]


def _result(trace: str, step: int, right: tuple[bool, int], model: str, setting: str) -> dict[str, Any]:
    algorithm, n, number = trace.split()
    exact, total = right
    score = {"correct": exact, "precision": 1, "recall": 1, "f1": 1, "missing_prefix": 0}
    score |= {"false_negatives": 0, "hallucinations": 0, "invalid_items": 0}
    return {
        "task_id": f"{trace} {step}",
        "model": model,
        "setting": setting,
        "repeat": 0,
        "exit_status": "answered",
        "score": score,
        "turns": 1,
        "tool_calls": 0,
        "usage": {},
        "seconds": None,
        "task": {
            "algorithm": algorithm,
            "n": int(n),
            "template": algorithm,
            "question": f"Edges: [({number}, {n})]",
            "gold": [step],
            "graph_digest": trace,
            "trace_id": trace,
            "step": step,
            "total_steps": total,
        },
    }
