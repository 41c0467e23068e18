"""Depth-first exploration: from the newest cell that has an unvisited one next to it, until the goal is visited."""

import json
from collections.abc import Callable, Generator, Sequence
from typing import Any

from graphwalk.models.policy import Ask, Policy
from graphwalk.models.scripted import AnswerNow
from graphwalk.suites.mazes.toolbox import CONNECTED_PATH, NEXT_CELLS
from graphwalk.toolbox.encodings import Encoding, decode_rows
from graphwalk.types.values import Row

Order = Callable[[Row], Any]
"""Sort key of the cells next to a cell: which one to try first."""
Visit = Generator[list[Ask], list[str], list[Row]]

_ENCODINGS: tuple[Encoding, ...] = ("json", "compact", "csv")


def nearest_first(row: Row) -> tuple[float, int]:
    """By straight-line distance to the goal."""
    return row["euclidean_distance"], int(row["key"])


def by_key(row: Row) -> int:
    """By number, whatever the distance."""
    return int(row["key"])


def depth_first(start: str, goal: str, order: Order) -> Policy:
    """Explores until it has visited the goal, and then answers the path that the tools join.

    Without a way to the goal, or out of turns, it answers the way from the start to where it is.
    """
    trail = [start]
    untried: dict[str, list[str]] = {}
    try:
        while trail and goal not in untried:
            here = trail[-1]
            if here not in untried:
                rows = yield from visit(here)
                untried[here] = [str(row["key"]) for row in sorted(rows, key=order)]
            fresh = [key for key in untried[here] if key not in untried]
            untried[here] = fresh[1:]
            if here != goal:
                trail[-1:] = [here, fresh[0]] if fresh else []
        if goal in untried:
            path = yield from connected_path()
            return answer(path or trail)
    except AnswerNow:
        pass
    return answer([key for key in trail if key in untried])


def visit(key: str) -> Visit:
    """The cells that can be entered from a cell; none where the call was refused."""
    return (yield from try_cell(key)) or []


def try_cell(key: str) -> Generator[list[Ask], list[str], list[Row] | None]:
    """The cells that can be entered from a cell; None where the call was refused."""
    (text,) = yield [Ask(NEXT_CELLS, {"node_id": key})]
    return read_cells(text)


def connected_path() -> Generator[list[Ask], list[str], list[str] | None]:
    """The path from the first to the last visited cell, None where the tool knows none."""
    (text,) = yield [Ask(CONNECTED_PATH, {})]
    try:
        path: list[str] = json.loads(text)
    except ValueError:
        return None
    return path


def answer(path: Sequence[str]) -> str:
    return json.dumps({"path": list(path)})


def read_cells(text: str) -> list[Row] | None:
    """The rows of a result in whatever encoding it is; None for a message."""
    for encoding in _ENCODINGS:
        try:
            return [{**row, "key": str(row["key"])} for row in decode_rows(text, encoding)]
        except (ValueError, KeyError):
            continue
    return None
