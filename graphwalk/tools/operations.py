"""Operations of tools: Python functions for what no query can do, named in tool files."""

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Operation = Callable[[Mapping[str, Any]], str]
"""Checked arguments → text for the model."""


def repeat(arguments: Mapping[str, Any]) -> str:
    """Return the text unchanged: a thought is noted (docs/method.md, Tools)."""
    return "\n".join(map(str, arguments.values()))


def connected_path(arguments: Mapping[str, Any]) -> str:
    """Return the shortest path over visited cells from the first to the last as JSON, "" if none (docs/mazes.md).

    `neighbours` maps the key of every visited cell, in the order of first visits, to the keys of the cells next to it.
    Of several shortest paths the one with the lowest keys is taken, first cells first.
    """
    neighbours: Mapping[str, Sequence[str]] = arguments.get("neighbours", {})
    if not neighbours:
        return ""
    first, *_, last = (*neighbours, *neighbours)
    left = {last: 0}
    queue = deque([last])
    while queue:
        cell = queue.popleft()
        new = [n for n in neighbours[cell] if n in neighbours and n not in left]
        left.update(dict.fromkeys(new, left[cell] + 1))
        queue += new
    if first not in left:
        return ""
    path = [first]
    while path[-1] != last:
        path.append(min((n for n in neighbours[path[-1]] if left.get(n) == left[path[-1]] - 1), key=int))
    return json.dumps(path)


def describe(arguments: Mapping[str, Any]) -> str:
    """Return the schema of a label or type, which the toolbox has looked up."""
    return str(arguments["described"])


def rows_of_results(arguments: Mapping[str, Any]) -> str:
    """Return the rows of an answer by reference as JSON; the toolbox of the episode has looked them up."""
    return json.dumps(list(arguments.get("rows", ())), ensure_ascii=False, default=str)


OPERATIONS: Mapping[str, Operation] = {
    "repeat": repeat,
    "connected_path": connected_path,
    "describe": describe,
    "rows_of_results": rows_of_results,
}
