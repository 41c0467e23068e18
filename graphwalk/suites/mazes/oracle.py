"""The second oracle of mazes: paths judged by Cypher, on the cells that a store holds (docs/mazes.md, Scores).

It shares no code with the first one (`scoring.path_error`), which computes with cell numbers. That a cell is open, that
it is the goal, and that two share an edge is what the database says.
"""

from collections.abc import AsyncIterator, Sequence
from itertools import pairwise

from graphwalk.errors import OracleError
from graphwalk.stores.store import GraphStore
from graphwalk.suites.mazes.task import MazeScore, MazeTask, PathError
from graphwalk.toolbox.readings import as_parameter

_CELLS = """
MATCH (c:{{ "Cell" | label }}) WHERE c.{{ "key" | property }} IN $keys
RETURN c.{{ "key" | property }} AS key, c.{{ "euclidean_distance" | property }} >= 0 AS open,
  c.{{ "euclidean_distance" | property }} = 0 AS goal
"""
_JOINED = """
MATCH (a:{{ "Cell" | label }})-[:{{ "ADJACENT" | type }}]-(b:{{ "Cell" | label }})
WHERE a.{{ "key" | property }} IN $keys
RETURN a.{{ "key" | property }} AS one, b.{{ "key" | property }} AS other
"""
_NEXT = """
MATCH (a:{{ "Cell" | label }})-[:{{ "ADJACENT" | type }}]-(b:{{ "Cell" | label }})
WHERE a.{{ "key" | property }} IN $layer AND b.{{ "euclidean_distance" | property }} >= 0
  AND NOT b.{{ "key" | property }} IN $known
RETURN DISTINCT b.{{ "key" | property }} AS key
"""
_STEPS_AT_ONCE = 1_000
_MOST_LAYERS = 200
"""A longer shortest path is checked for being a path, and not for being the shortest."""


async def check_path(task: MazeTask, store: GraphStore, answer: Sequence[str] | None, score: MazeScore) -> None:
    """OracleError, with the path, where Cypher judges it otherwise than the score does."""
    if not answer:
        return
    error = await cypher_error(task, store, answer)
    steps = len(answer) - 1
    verdict = (error, error is None, error is None and steps == task.shortest_path_length)
    if verdict != (score.error_class, score.valid, score.optimal) or steps != score.path_length:
        raise _differ(task, store, answer, f"Cypher: {error or 'valid'}; the score: {score.error_class or 'valid'}")


async def check_target(task: MazeTask, store: GraphStore) -> None:
    """OracleError where Cypher does not take the target for a shortest path; it searches 200 steps far."""
    error = await cypher_error(task, store, task.gold)
    if error is not None:
        raise _differ(task, store, task.gold, f"the target is no path by Cypher: {error}")
    length = await shortest_length(task, store, _MOST_LAYERS)
    expected = task.shortest_path_length if task.shortest_path_length <= _MOST_LAYERS else None
    if length != expected:
        raise _differ(task, store, task.gold, f"the shortest path has {length} steps by Cypher, not {expected}")


async def cypher_error(task: MazeTask, store: GraphStore, path: Sequence[str]) -> PathError | None:
    """The first thing wrong with a path of at least one key, None for a valid one; as `path_error` names it."""
    # No cell has an empty key: it stands for what no database takes.
    keys = [str(as_parameter(key) or "") for key in path]
    async for error in _errors(task, store, keys):
        if error is not None:
            return error
    return None


async def shortest_length(task: MazeTask, store: GraphStore, limit: int) -> int | None:
    """Steps from start to goal over open cells, found layer by layer; None where there are more than `limit`."""
    before: list[str] = []
    layer, goal = [str(task.start)], str(task.goal)
    query = store.render(_NEXT, {})
    for steps in range(1, limit + 1):
        # A cell next to a layer of a breadth-first search is in the layer before it, in it, or in the next one.
        rows = await store.run(query, {"layer": layer, "known": [*before, *layer]})
        before, layer = layer, [row["key"] for row in rows]
        if goal in layer:
            return steps
        if not layer:
            return None
    return None


async def _errors(task: MazeTask, store: GraphStore, keys: Sequence[str]) -> AsyncIterator[PathError | None]:
    """What is wrong at the start, with each step, and at the goal, in this order; None for what is right."""
    if keys[0] != str(task.start):
        yield _closed(await _cells(store, keys[:1]), keys[0]) or "wrong_start"
    for number in range(0, len(keys) - 1, _STEPS_AT_ONCE):
        part = keys[number : number + _STEPS_AT_ONCE + 1]
        cells = await _cells(store, part)
        joined = await _joined(store, part)
        for step in pairwise(part):
            yield _closed(cells, step[1])
            yield None if step in joined else "not_adjacent"
    cells = await _cells(store, keys[-1:])
    yield None if cells[keys[-1]][1] else "wrong_goal"


async def _cells(store: GraphStore, keys: Sequence[str]) -> dict[str, tuple[bool, bool]]:
    """Key → (it is open, it is the goal) of the cells that exist."""
    rows = await store.run(store.render(_CELLS, {}), {"keys": sorted(set(keys))})
    return {row["key"]: (row["open"], row["goal"]) for row in rows}


async def _joined(store: GraphStore, keys: Sequence[str]) -> set[tuple[str, str]]:
    """All steps from these cells to cells that they share an edge with."""
    rows = await store.run(store.render(_JOINED, {}), {"keys": sorted(set(keys))})
    return {(row["one"], row["other"]) for row in rows}


def _closed(cells: dict[str, tuple[bool, bool]], key: str) -> PathError | None:
    if key not in cells:
        return "out_of_grid"
    return None if cells[key][0] else "through_wall"


def _differ(task: MazeTask, store: GraphStore, path: Sequence[str], how: str) -> OracleError:
    maze = f"size {task.size}, walls {list(task.walls)}, from {task.start} to {task.goal}"
    return OracleError(
        f"Cypher ({store.kind} store) and the scorer differ on a path through {task.task_id}\n  {how}\n"
        f"  path: {list(path)[:_STEPS_AT_ONCE]}\n  {maze}",
        hint="the store, the queries in graphwalk/suites/mazes/oracle.py or the scorer is wrong",
    )
