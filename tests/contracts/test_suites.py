"""The contract of suites, checked for each registered one."""

from typing import Any

import pytest

from graphwalk.suites.registry import SUITES
from tests.contracts.suite_checks import check_suite

SMALL: dict[str, dict[str, Any]] = {
    "questions": {"graphs": [{"preset": "paper-100"}]},
    "mazes": {"mazes": [{"size": 6, "min_path": 4}]},
    "magma": {"traces": [{"algorithm": ["bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim"]}]},
    "graphwalks": {"problems": [{"nodes": 12}]},
}
KNOWN: dict[str, dict[str, float]] = {
    "questions": {"expert": 1.0},
    "mazes": {"expert": 1.0, "depth_first": 1.0},
    "magma": {"expert": 1.0},
    "graphwalks": {"expert": 1.0},
}


@pytest.mark.parametrize("name", SUITES.names())
async def test_suite_contract(name: str) -> None:
    graphs = None if name == "own_questions" else 1
    await check_suite(name, SMALL.get(name), graphs=graphs, accuracy=KNOWN.get(name))
