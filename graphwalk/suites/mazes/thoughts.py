"""Thoughts of the scripted agents for mazes, for training data."""

from collections.abc import Mapping
from random import Random

from graphwalk.suites.mazes.score import called_cell
from graphwalk.suites.mazes.toolbox import NEXT_CELLS
from graphwalk.suites.thoughts import Thoughts
from graphwalk.types.encodings import read_rows
from graphwalk.types.episode import Trajectory


def walk_in_words(trajectory: Trajectory, draw: Random) -> list[str]:
    """Return a thought before every turn, based on earlier calls and results."""
    thoughts, texts = Thoughts("mazes", draw), list[str]()
    seen: dict[str, dict[str, float]] = {}
    """Visited cell → adjacent open cells with their distances to the goal."""
    here, error = "", None
    for turn in trajectory.turns:
        calls = turn.message.tool_calls
        cell = called_cell(calls[0]) if calls and calls[0].name == NEXT_CELLS else None
        fresh = {key: distance for key, distance in seen.get(here, {}).items() if key not in seen}
        if not calls:
            texts.append(thoughts.say("answer"))
        elif cell is None:
            texts.append(thoughts.say("join", visited=len(seen)) if seen else "")
        elif error is not None:
            texts.append(thoughts.say("refused", error=error.replace("_", " "), next=cell))
        else:
            move = _move(cell, fresh) if seen else "start"
            texts.append(thoughts.say(move, here=here, next=cell, fresh=list(fresh)))
        for result in turn.results:
            error = result.error
            visited = called_cell(result.call) if result.call.name == NEXT_CELLS else None
            if visited is not None and error is None:
                rows = read_rows(result.content) or []
                here, seen[visited] = visited, {str(row["key"]): float(row["euclidean_distance"]) for row in rows}
        if not turn.results:
            error = None
    return texts


def _move(cell: str, fresh: Mapping[str, float]) -> str:
    """Return the name of the thought before a visit; `fresh` are the unvisited neighbours of the current cell."""
    if cell not in fresh:
        return "onward" if fresh else "back"
    if len(fresh) == 1:
        return "only"
    return "nearest" if fresh[cell] == min(fresh.values()) else "onward"
