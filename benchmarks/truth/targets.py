"""Targets of all suites recomputed with networkx."""

from dataclasses import dataclass, field
from typing import Any

from benchmarks.truth.brute_force import rows_by_brute_force
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.magma.algorithms import check_states
from graphwalk.suites.mazes.generate import check_path
from graphwalk.suites.rows import distinct, same_rows
from graphwalk.suites.suite import suite_named

_ODD = {"missing_rate": 0.3, "self_loops": True, "parallel_relationships": True}
CONFIGS: tuple[dict[str, Any], ...] = (
    {"name": "questions", "graphs": [{"preset": "paper-100", "count": 10}], "per_question": 2},
    {"name": "questions", "graphs": [{"preset": "paper-100", "nodes": 40, "count": 10, **_ODD}], "per_question": 2},
    {"name": "mazes", "mazes": [{"count": 120}]},
    {
        "name": "magma",
        "traces": [
            {
                "algorithm": ["bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim"],
                "nodes": [5, 7, 11, 15],
                "count": 10,
            }
        ],
    },
)


@dataclass
class Found:
    """Targets of one kind of task: how many agree, how many are not checked, which differ."""

    agree: int = 0
    unknown: int = 0
    differ: list[str] = field(default_factory=list)


async def targets(seed: int = 12) -> dict[str, Found]:
    """By "suite: kind"."""
    found: dict[str, Found] = {}
    for fields in CONFIGS:
        suite = suite_named(fields["name"])
        config: Any = suite.config_type.model_validate(fields)
        for instance in suite.graphs(config, seed):
            store = None if instance.graph is None else await EmbeddedDatabase().load(instance.graph)
            for task in (await suite.tasks(LoadedGraph(instance, store), config, seed, AgentConfig())).asked:
                count = found.setdefault(f"{suite.name}: {task.template}", Found())
                try:
                    checked = check(suite.name, task, instance)
                except OracleError as error:
                    count.differ.append(str(error))
                    continue
                count.agree += checked
                count.unknown += not checked
    return found


def check(suite: str, task: Any, instance: GraphInstance) -> bool:
    """Return False for a question with too many paths. Raise OracleError if networkx finds another target."""
    if suite == "magma":
        check_states(task.algorithm, instance.source.instance, {task.step: task.target})
        return True
    assert instance.graph is not None
    if suite == "mazes":
        check_path(instance.graph, str(task.start), str(task.goal), task.target)
        return True
    rows = rows_by_brute_force(task.template, task.parameters, instance.graph)
    if rows is not None and not (len(distinct(rows)) == len(task.target) and same_rows(rows, task.target)):
        raise OracleError(f"brute force over networkx finds other rows for {task.template} {task.parameters}")
    return rows is not None
