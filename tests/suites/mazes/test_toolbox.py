"""The two tools of a maze, on every store."""

import json
from random import Random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.models.chat import ToolCall
from graphwalk.stores.base import Database
from graphwalk.suites.mazes.generate import MazeSpec, generate_maze
from graphwalk.suites.mazes.toolbox import MazeToolbox, connected_path
from tests.suites.mazes.stage import ask, join, random_stage, stage


async def rows_of(toolbox: MazeToolbox, node_id: str) -> list[dict[str, Any]]:
    result = await ask(toolbox, node_id)
    assert result.error is None
    rows: list[dict[str, Any]] = json.loads(result.content)
    assert result.rows == len(rows)
    return rows


async def test_visits_mark_and_list_what_is_next(any_database: Database) -> None:
    toolbox = (await stage(database=any_database)).toolbox()
    assert await rows_of(toolbox, "3") == [
        {"key": "2", "euclidean_distance": 2.8284, "marked": False, "mark_order": -1},
        {"key": "7", "euclidean_distance": 3.1623, "marked": False, "mark_order": -1},
    ]
    assert await rows_of(toolbox, "7") == [
        {"key": "3", "euclidean_distance": 3.6056, "marked": True, "mark_order": 0},
        {"key": "11", "euclidean_distance": 3.0, "marked": False, "mark_order": -1},
    ]
    await rows_of(toolbox, "3")  # the first visit fixes the order
    assert [row["mark_order"] for row in await rows_of(toolbox, "2")] == [-1, 0]


async def test_equal_calls_have_equal_results_on_all_stores(any_database: Database) -> None:
    here, there = await random_stage(1, any_database), await random_stage(1)
    random, boxes = Random(1), (here.toolbox(), there.toolbox())
    for _ in range(30):
        name = str(random.randrange(105))
        one, other = [await ask(box, name) for box in boxes]
        assert (one.content, one.error, one.rows) == (other.content, other.error, other.rows)
        if random.random() < 0.2:
            one, other = [await join(box) for box in boxes]
            assert (one.content, one.error, one.rows) == (other.content, other.error, other.rows)


WRONG: dict[str, tuple[Any, str]] = {
    "wall": ("5", "wall"),
    "too high": ("16", "unknown_cell"),
    "leading zero": ("03", "malformed_id"),
    "Cypher": ("3' OR 1=1 //", "malformed_id"),
    "a megabyte": ("7" * 10**6, "malformed_id"),
    "number": (3, "not_text"),
}


@pytest.mark.parametrize(("node_id", "error"), WRONG.values(), ids=WRONG)
async def test_every_wrong_id_is_answered_and_counted(node_id: Any, error: str) -> None:
    toolbox = (await stage()).toolbox()
    result = await ask(toolbox, node_id)
    assert (result.error, result.rows) == (error, None)
    assert 30 < len(result.content) < 400
    assert (await join(toolbox)).rows == 0


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("get_next_possible_cells", "{}", "bad_arguments"),
        ("get_next_possible_cells", '{"node_id": "0"', "bad_json"),
        ("get_next_possible_cells", '{"node_id": "0", "steps": 2}', "bad_arguments"),
        ("get_node_by_property", "{}", "unknown_tool"),
    ],
)
async def test_other_mistakes(tool: str, arguments: str, error: str) -> None:
    toolbox = (await stage()).toolbox()
    assert [spec.name for spec in toolbox.specs] == ["get_next_possible_cells", "get_connected_path"]
    assert (await toolbox.call(ToolCall("1", tool, arguments))).error == error
    assert (await join(toolbox)).rows == 0


async def test_the_papers_other_name_is_understood() -> None:
    toolbox = (await stage()).toolbox()
    assert (await ask(toolbox, "0", "get_possible_next_cells")).error is None
    assert (await join(toolbox)).rows == 1


async def test_the_path_joins_the_first_and_the_last_newly_visited() -> None:
    toolbox = (await stage()).toolbox()
    empty = await join(toolbox)
    assert (empty.error, empty.rows) == (None, 0)
    for key in ("1", "2", "3"):
        await ask(toolbox, key)
    assert json.loads((await join(toolbox)).content) == ["1", "2", "3"]
    await ask(toolbox, "1")  # not new
    assert json.loads((await join(toolbox)).content) == ["1", "2", "3"]
    await ask(toolbox, "9")
    apart = await join(toolbox)
    assert (apart.error, apart.rows) == (None, 0)
    assert "do not connect" in apart.content


@given(seed=st.integers(0, 10**6))
def test_connected_path_is_the_lowest_of_the_shortest(seed: int) -> None:
    random = Random(seed)
    maze = generate_maze(MazeSpec(size=6, walls=0.2, min_path=4), seed)
    cells = [cell for cell in range(36) if maze.is_open(cell)]
    visited = random.sample(cells, random.randint(1, len(cells)))
    graph = nx.Graph([(c, n) for c in visited for n in maze.open_neighbours(c) if n in visited])
    graph.add_nodes_from(visited)
    path = connected_path({str(c): [str(n) for n in maze.open_neighbours(c)] for c in visited})
    if nx.has_path(graph, visited[0], visited[-1]):
        assert [int(key) for key in path] == min(nx.all_shortest_paths(graph, visited[0], visited[-1]))
    else:
        assert path == []
