"""Task and score of one maze."""

from dataclasses import fields
from functools import cached_property
from typing import Literal, get_args

from graphwalk.suites.mazes.config import Layout
from graphwalk.suites.mazes.generate import Maze
from graphwalk.types.episode import Score, Task

PathError = Literal[
    "no_answer", "unreadable", "wrong_start", "out_of_grid", "through_wall", "not_adjacent", "wrong_goal"
]
PATH_ERRORS: tuple[PathError, ...] = get_args(PathError)


class MazeTask(Task):
    """A maze to solve. `gold` is a shortest path as a list of keys; every valid path is correct.

    With `strict` only cells next to visited ones may be called; `layout` is that of the drawing without tools.
    """

    size: int
    walls: tuple[int, ...]
    start: int
    goal: int
    shortest_path_length: int
    generator: str
    index: int
    strict: bool = False
    layout: Layout = "standard"

    @cached_property
    def maze(self) -> Maze:
        return Maze(**{field.name: getattr(self, field.name) for field in fields(Maze)})


class MazeScore(Score):
    """The score of one path. `correct` means valid: from start to goal over adjacent open cells.

    A path is correct or wrong as a whole, so precision, recall and F1 are 1 or 0. `false_positives` counts cells
    that are not open cells of the grid. `grounded` is the share of its steps that tool results show; None if only
    other tools were used. `strict_correct` is false for answers that the turn limit forced.

    `error_class` is the first error along the path; None for a valid path.

    * "no_answer": nothing or an empty list.
    * "unreadable": a text without a path.
    * "wrong_start", "wrong_goal": the path starts or ends at another cell.
    * "out_of_grid": a cell does not exist.
    * "through_wall": a cell is a wall.
    * "not_adjacent": a step joins cells that share no edge.

    Of the answer: `path_length` in steps; `length_ratio` to the shortest path (1 is optimal; None if invalid);
    `repeated_cells`; `wall_hits`, its walls; `teleports`, its steps between cells that share no edge.

    Of the calls: `visited`, distinct cells; `revisits`; `jumps`, first visits that are not adjacent to the start or a
    visited cell; `wall_calls`; `goal_visited`.
    """

    valid: bool
    optimal: bool
    strict_correct: bool
    error_class: PathError | None
    path_length: int | None
    length_ratio: float | None
    repeated_cells: int
    wall_hits: int
    teleports: int
    visited: int
    revisits: int
    jumps: int
    wall_calls: int
    goal_visited: bool
    calls: int
    repeated_calls: int
    cycles: int
    tool_errors: int
    parallel_calls: int
