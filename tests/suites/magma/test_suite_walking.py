"""MAGMA with the graph in the store: the same states, from tool results alone."""

import pytest

from graphwalk.environments.stage import Stage
from graphwalk.errors import ConfigError

ALGORITHMS = ["bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim"]


def fields(**suite: object) -> dict[str, object]:
    return {
        "name": "walking",
        "suite": {"name": "magma", "traces": [{"algorithm": ALGORITHMS, "nodes": 6, "count": 1}], **suite},
        "settings": ["tools"],
    }


@pytest.mark.parametrize("free_running", [False, True])
async def test_the_tools_suffice_for_every_algorithm(free_running: bool) -> None:
    stage = await Stage.open(fields(in_store=True, free_running=free_running))
    assert {planned.task.template for planned in stage.planned} == set(ALGORITHMS)
    for number in range(len(stage)):
        earned = await stage.expert(number)
        assert (earned.exact, earned.f1) == (1, 1), stage.planned[number].task.task_id
    await stage.close()


async def test_no_edge_is_shown_but_by_a_tool() -> None:
    stage = await Stage.open(fields(in_store=True))
    for number, planned in enumerate(stage.planned):
        episode = await stage.begin(number)
        assert "\nEdges: [" in planned.task.question
        first = episode.prompt[1].content or ""
        assert "\nEdges: [" not in first
        assert "(i, j" not in first.partition("Answer format")[0]
        assert {spec.name for spec in episode.tools} >= {"get_all_nearest_neighbors"}
    await stage.close()


async def test_without_the_graphs_in_the_store_there_is_nothing_to_walk() -> None:
    with pytest.raises(ConfigError, match="no episode"):
        await Stage.open(fields())
