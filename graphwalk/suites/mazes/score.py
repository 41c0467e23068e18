"""Scoring of maze answers."""

from collections.abc import Sequence
from typing import Any, Literal

from graphwalk.evaluation.extraction import AnswerForm, Extraction, extract
from graphwalk.evaluation.values import parse_json
from graphwalk.suites.mazes.generate import Maze
from graphwalk.suites.mazes.toolbox import ALIASES, NEXT_CELLS
from graphwalk.types.episode import Score, ToolResult, Trajectory

PathError = Literal["wrong_start", "out_of_grid", "through_wall", "not_adjacent", "wrong_goal"]


def called_cell(maze: Maze, result: ToolResult) -> int | None:
    """Return the cell that a call asked about; None without a cell of the grid, and for other tools."""
    arguments = parse_json(result.call.arguments)
    if ALIASES.get(result.call.name, result.call.name) != NEXT_CELLS or not isinstance(arguments, dict):
        return None
    cell = _cell(maze, str(arguments.get("node_id")))
    return None if cell == _NOWHERE else cell


_LONGEST_KEY = 20
_NOWHERE = -1
"""Number for a cell that does not exist."""


def extract_path(reply: str) -> Extraction:
    """Extract the keys in `{"path": […]}`, else in a bare list."""
    return extract(reply, AnswerForm(_key_list, member="path"))


class MazeScore(Score):
    """The score of one path (docs/method.md, Mazes).

    `correct` means valid: from start to goal over adjacent open cells. A path is correct or wrong as a whole, so
    precision, recall and F1 are 1 or 0. `false_positives` counts cells that are not open cells of the grid. `optimal`:
    it is a shortest path. `strict_correct`: it was not forced by a limit.
    """

    optimal: bool
    strict_correct: bool


def score_path(maze: Maze, trajectory: Trajectory, extraction: Extraction) -> MazeScore:
    path = path_cells(maze, extraction.answer)
    valid = bool(path) and path_error(maze, path) is None
    return MazeScore(
        correct=valid,
        precision=float(valid),
        recall=float(valid),
        f1=float(valid),
        false_positives=sum(not maze.is_open(cell) for cell in path),
        extraction_stage=extraction.stage,
        lossy=extraction.lossy,
        optimal=valid and len(path) - 1 == maze.shortest_path_length,
        strict_correct=valid and not trajectory.exit_status.forced,
    )


def path_error(maze: Maze, path: Sequence[int]) -> PathError | None:
    """Return the first error of a path with at least one cell, or None for a valid path."""
    for number, cell in enumerate(path):
        if cell in maze.wall_set:
            return "through_wall"
        if not maze.is_open(cell):
            return "out_of_grid"
        if number == 0 and cell != maze.start:
            return "wrong_start"
        if number and not maze.adjacent(path[number - 1], cell):
            return "not_adjacent"
    return None if path[-1] == maze.goal else "wrong_goal"


def _key_list(value: Any) -> Extraction | None:
    """Return a list of keys as text; integers count as keys. Return None for other values."""
    if not isinstance(value, list) or not all(type(key) in (str, int) for key in value):
        return None
    return Extraction([str(key).strip()[:_LONGEST_KEY] for key in value])


def path_cells(maze: Maze, answer: Sequence[str] | None) -> list[int]:
    """Return the cell numbers of an answer, with -1 for keys that name no cell."""
    return [_cell(maze, key) for key in answer or ()]


def _cell(maze: Maze, key: str) -> int:
    number = int(key) if key.isascii() and key.isdecimal() else _NOWHERE
    return number if str(number) == key and number < maze.size**2 else _NOWHERE
