"""The task of finding a way through one maze, and its score."""

from functools import cached_property
from typing import Literal, get_args

from graphwalk.suites.mazes.generate import Maze
from graphwalk.types.episode import Score, Task

PathError = Literal[
    "no_answer", "unreadable", "wrong_start", "out_of_grid", "through_wall", "not_adjacent", "wrong_goal"
]
PATH_ERRORS: tuple[PathError, ...] = get_args(PathError)


class MazeTask(Task):
    """`gold` is a shortest path as a list of keys; every valid path is right.

    With `strict` only cells next to visited ones can be asked for.
    """

    size: int
    walls: tuple[int, ...]
    start: int
    goal: int
    shortest_path_length: int
    generator: str
    index: int
    strict: bool = False

    @cached_property
    def maze(self) -> Maze:
        return Maze(
            self.size,
            self.walls,
            self.start,
            self.goal,
            self.shortest_path_length,
            self.seed,
            self.index,
            self.generator,
        )


class MazeScore(Score):
    """Score of one path; `correct` says that it is valid: from start to goal by steps between adjacent open cells.

    A path is right or wrong as a whole: precision, recall and F1 are 1 or 0. `false_positives` counts its cells that
    are no open cells of the grid. `grounded`: share of its steps that tool results show, open cells next to each
    other; None where only tools of other kinds were used.

    `error_class` (None for a valid path) is the first thing wrong on the way along the path: "no_answer" nothing or an
    empty list was given; "unreadable" there is a text but no path in it; "wrong_start"; "out_of_grid" a cell that does
    not exist; "through_wall"; "not_adjacent" a step between cells that share no edge; "wrong_goal" it ends elsewhere.

    Of the answer: `path_length` in steps, `length_ratio` to the shortest (1 is optimal; None where it is not valid),
    `repeated_cells` visits beyond the first, `wall_hits` cells that are walls, `teleports` steps between cells that
    share no edge. Of the walk: `visited` different cells, `revisits` calls for cells visited before, `jumps` first
    visits away from the start and from everything visited, `wall_calls` calls for walls, `goal_visited`.
    `strict_correct`: an answer that the turn limit forced counts as none.
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
