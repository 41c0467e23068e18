"""The explorer's walk in words (templates/thoughts/mazes.yaml)."""

import random
from collections.abc import Mapping
from typing import Any

from graphwalk.scoring.values import parse_json
from graphwalk.suites.mazes.toolbox import NEXT_CELLS
from graphwalk.suites.thoughts import Thoughts
from graphwalk.toolbox.encodings import read_rows
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult, Trajectory, Turn


def walk_in_words(trajectory: Trajectory, draw: random.Random) -> list[str]:
    """A thought before every turn; it knows the calls so far and the cells that their results list."""
    thoughts, seen = Thoughts("mazes", draw), _Seen()
    said = []
    for number, turn in enumerate(trajectory.turns):
        before = trajectory.turns[number - 1].results if number else ()
        for result in before:
            seen.learn(result)
        said.append(_thought(thoughts, seen, turn, before[-1] if before else None))
    return said


class _Seen:
    """What the walk has shown so far."""

    def __init__(self) -> None:
        self.beside: dict[str, dict[str, float]] = {}
        """Visited cell → cells next to it that can be entered, each with its distance to the goal."""
        self.here = ""

    def learn(self, result: ToolResult) -> None:
        cell = _cell(result.call)
        if cell is not None and result.error is None:
            rows = read_rows(result.content) or []
            self.beside[cell] = {str(row["key"]): float(row["euclidean_distance"]) for row in rows}
            self.here = cell

    def fresh(self) -> Mapping[str, float]:
        """Next to the cell visited last, those that are not visited."""
        return {key: far for key, far in self.beside.get(self.here, {}).items() if key not in self.beside}


def _thought(thoughts: Thoughts, seen: _Seen, turn: Turn, last: ToolResult | None) -> str:
    if not turn.message.tool_calls:
        return thoughts.say("answer")
    cell = _cell(turn.message.tool_calls[0])
    if cell is None:
        return thoughts.say("join", visited=len(seen.beside)) if seen.beside else ""
    if last is not None and last.error is not None:
        return thoughts.say("refused", error=last.error.replace("_", " "), next=cell)
    return thoughts.say(_move(seen, cell), here=seen.here, next=cell, fresh=list(seen.fresh()))


def _move(seen: _Seen, cell: str) -> str:
    fresh = seen.fresh()
    if not seen.beside:
        return "start"
    if cell not in fresh:
        return "back" if not fresh else "onward"
    if len(fresh) == 1:
        return "only"
    return "nearest" if fresh[cell] == min(fresh.values()) else "onward"


def _cell(call: ToolCall) -> str | None:
    """The cell that a call names; None for other calls."""
    arguments: Any = parse_json(call.arguments) if call.name == NEXT_CELLS else None
    return str(arguments["node_id"]) if isinstance(arguments, dict) and "node_id" in arguments else None
