"""Reading a path out of a reply, and judging it (docs/mazes.md, Scores)."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from graphwalk.scoring.evidence import shows_data
from graphwalk.scoring.extraction import Extraction, Fit, Shape, extract, strip_thinking
from graphwalk.scoring.waste import waste_of
from graphwalk.suites.mazes.generator.maze import Maze
from graphwalk.suites.mazes.task import MazeScore, MazeTask, PathError
from graphwalk.suites.mazes.walk import shown_neighbours, walk_of
from graphwalk.types.episode import ExitStatus, Trajectory

_LONGEST_KEY = 20
_PLACEHOLDER = re.compile(r"<.*>|…|\.\.\.")
_NOWHERE = -1
"""The number of a cell that does not exist."""


def extract_path(reply: str) -> Extraction:
    """Stage 1: the keys in `{"path": […]}` or, where there is none, in a bare list."""
    return extract(reply, Shape(_path_object), Shape(_key_list), Shape(_nothing, empty=True))


def score_path(task: MazeTask, setting: str, trajectory: Trajectory, extraction: Extraction) -> MazeScore:
    """Judge a path, and count what the walk before it did."""
    maze, path = task.maze, path_cells(task.maze, extraction.answer)
    walk, waste = walk_of(maze, trajectory.results), waste_of(trajectory)
    error = path_error(maze, path) if path else _silence(trajectory, extraction)
    valid = error is None
    steps = len(path) - 1 if path else None
    forced = trajectory.exit_status is ExitStatus.TURN_LIMIT
    return MazeScore(
        correct=valid,
        precision=float(valid),
        recall=float(valid),
        f1=float(valid),
        false_positives=sum(not maze.is_open(cell) for cell in path),
        extraction_stage=extraction.stage,
        lossy=extraction.lossy,
        grounded=_grounded(path, trajectory) if setting != "no_tools" and path else None,
        valid=valid,
        optimal=valid and steps == maze.shortest_path_length,
        strict_correct=valid and not forced,
        error_class=error,
        path_length=steps,
        length_ratio=round(steps / maze.shortest_path_length, 4) if valid and steps is not None else None,
        repeated_cells=len(path) - len(set(path)),
        wall_hits=sum(cell in maze.wall_set for cell in path),
        teleports=sum(not maze.adjacent(one, other) for one, other in pairwise(path)),
        visited=len(walk.visited),
        revisits=walk.count("revisit"),
        jumps=walk.count("jump"),
        wall_calls=walk.count("wall"),
        goal_visited=maze.goal in walk.visited,
        calls=len(trajectory.results),
        repeated_calls=waste.repeated_calls,
        cycles=waste.cycles,
        tool_errors=waste.tool_errors,
        parallel_calls=waste.parallel_calls,
    )


def path_error(maze: Maze, path: Sequence[int]) -> PathError | None:
    """The first thing wrong with a path (at least one cell), None for a valid one."""
    if path[0] != maze.start:
        return "wrong_start" if maze.is_open(path[0]) else _no_open_cell(maze, path[0])
    for one, other in pairwise(path):
        if not maze.is_open(other):
            return _no_open_cell(maze, other)
        if not maze.adjacent(one, other):
            return "not_adjacent"
    return None if path[-1] == maze.goal else "wrong_goal"


def _no_open_cell(maze: Maze, cell: int) -> PathError:
    return "through_wall" if cell in maze.wall_set else "out_of_grid"


def _silence(trajectory: Trajectory, extraction: Extraction) -> PathError:
    said = extraction.answer is None and strip_thinking(trajectory.reply).strip()
    return "unreadable" if said else "no_answer"


def _grounded(path: Sequence[int], trajectory: Trajectory) -> float | None:
    """Share of the steps that results show: open cells, next to each other. None where only other tools were used."""
    shown = shown_neighbours(trajectory.results)
    if not shown and any(map(shows_data, trajectory.results)):
        return None
    if len(path) == 1:
        return float(str(path[0]) in shown or any(str(path[0]) in beside for beside in shown.values()))
    steps = [(str(one), str(other)) for one, other in pairwise(path)]
    return sum(_is_shown(shown, *step) for step in steps) / len(steps)


def _is_shown(shown: Mapping[str, Collection[str]], one: str, other: str) -> bool:
    """Either cell was visited, and its result lists the other."""
    return other in shown.get(one, ()) or one in shown.get(other, ())


def _path_object(value: Any) -> Fit | None:
    return _key_list(value["path"]) if isinstance(value, dict) and "path" in value else None


def _key_list(value: Any) -> Fit | None:
    """A list of keys as text; whole numbers are taken for keys. None for anything else, and for an echo of the form."""
    if not isinstance(value, list) or not value:
        return None
    keys = [key for key in map(_key, value) if key is not None]
    return Fit(keys) if len(keys) == len(value) and not all(map(_PLACEHOLDER.fullmatch, keys)) else None


def _nothing(value: Any) -> Fit | None:
    return Fit([]) if value in ([], {"path": []}) else None


def _key(item: Any) -> str | None:
    if isinstance(item, str):
        return item.strip()[:_LONGEST_KEY]
    if isinstance(item, bool) or not isinstance(item, int):
        return None
    return str(item)[:_LONGEST_KEY]


def path_cells(maze: Maze, answer: Sequence[str] | None) -> list[int]:
    """The cell numbers of an answer; what names no cell becomes -1."""
    return [_cell(maze, key) for key in answer or ()]


def _cell(maze: Maze, key: str) -> int:
    number = int(key) if key.isascii() and key.isdecimal() else _NOWHERE
    return number if str(number) == key and number < maze.size**2 else _NOWHERE
