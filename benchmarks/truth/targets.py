"""Targets of all suites recomputed with networkx, by the ways that `graphwalk verify` uses (`Verification.confirm`)."""

from dataclasses import dataclass, field
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.registry import suite_named

_ODD = {"missing_rate": 0.3, "self_loops": True, "parallel_relationships": True}
CONFIGS: tuple[dict[str, Any], ...] = (
    {"name": "questions", "graphs": [{"preset": "paper-100", "count": 10}], "per_question": 2},
    {"name": "questions", "graphs": [{"preset": "paper-100", "nodes": 40, "count": 10, **_ODD}], "per_question": 2},
    {
        "name": "mazes",
        "mazes": [{"generator": name, "count": 60} for name in ("random", "depth_first")],
    },
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
    """Targets of one kind of task: how many agree, how many have no second way, which differ."""

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
                    way = task.confirm(instance)
                except OracleError as error:
                    count.differ.append(str(error))
                    continue
                count.agree += way is not None
                count.unknown += way is None
    return found
