"""Scoring of maze answers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from graphwalk.errors import counted
from graphwalk.evaluation.extraction import AnswerForm, Extraction, extract, strip_thinking
from graphwalk.evaluation.values import parse_json
from graphwalk.suites.mazes.generate import Maze
from graphwalk.suites.mazes.toolbox import ALIASES, CONNECTED_PATH, NEXT_CELLS
from graphwalk.tools.observed_values import shows_data, waste_of
from graphwalk.types.chat import ToolCall
from graphwalk.types.encodings import read_rows
from graphwalk.types.episode import Score, ToolResult, Trajectory

PathError = Literal[
    "no_answer", "unreadable", "wrong_start", "out_of_grid", "through_wall", "not_adjacent", "wrong_goal"
]

StepKind = Literal["visit", "jump", "revisit", "wall", "refused", "path", "other"]
""""other" is a call of a tool that is not a maze tool."""


@dataclass(frozen=True, slots=True)
class WalkStep:
    """One tool call; `cell` is None without a valid cell, and for "path"."""

    kind: StepKind
    cell: int | None


def steps_of(maze: Maze, results: Iterable[ToolResult]) -> list[WalkStep]:
    """Return the steps recorded in the tool results of an episode, one per call."""
    visited: set[int] = set()
    seen: set[int] = set()
    steps: list[WalkStep] = []
    for result in results:
        name = ALIASES.get(result.call.name, result.call.name)
        key = called_cell(result.call) if name == NEXT_CELLS else None
        cell = None if key is None or (number := _cell(maze, key)) == _NOWHERE else number
        kind: StepKind
        if name == CONNECTED_PATH and result.error is None:
            kind = "path"
        elif name != NEXT_CELLS and result.error is None:
            kind = "other"
        elif result.error is not None or cell is None:
            kind = "wall" if result.error == "wall" else "refused"
        else:
            if cell in visited:
                kind = "revisit"
            else:
                kind = "visit" if cell in seen or (not visited and cell == maze.start) else "jump"
            visited.add(cell)
            seen.update([cell, *maze.open_neighbours(cell)])
        steps.append(WalkStep(kind, cell))
    return steps


def called_cell(call: ToolCall) -> str | None:
    """Return the cell in the arguments of a call as text, or None without one."""
    arguments = parse_json(call.arguments)
    return str(arguments["node_id"]) if isinstance(arguments, dict) and "node_id" in arguments else None


_LONGEST_KEY = 20
_NOWHERE = -1
"""Number for a cell that does not exist."""


def extract_path(reply: str) -> Extraction:
    """Extract the keys in `{"path": […]}`, else in a bare list."""
    return extract(reply, AnswerForm(_key_list, member="path"))


class MazeScore(Score):
    """The score of one path (docs/method.md, Mazes).

    `correct` means valid: from start to goal over adjacent open cells. A path is correct or wrong as a whole, so
    precision, recall and F1 are 1 or 0. `false_positives` counts cells that are not open cells of the grid. `grounded`
    is the share of its steps that tool results show; None if only other tools were used. `error_class` is the first
    error along the path. `path_length` is in steps; `length_ratio` is None for an invalid path. `wall_hits` and
    `teleports` count walls of the answer, and its steps between cells that share no edge; `jumps` first visits that are
    not adjacent to the start or a visited cell.
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
    tool_errors: int
    parallel_calls: int


def score_path(maze: Maze, setting: str, trajectory: Trajectory, extraction: Extraction) -> MazeScore:
    """Score a path and count the tool calls before it."""
    path = path_cells(maze, extraction.answer)
    walk, waste = steps_of(maze, trajectory.results), waste_of(trajectory)
    kinds, visited = Counter(step.kind for step in walk), {s.cell for s in walk if s.kind in ("visit", "jump")}
    if path:
        error = path_error(maze, path)
    else:
        has_text = extraction.answer is None and strip_thinking(trajectory.reply).strip()
        error = "unreadable" if has_text else "no_answer"
    valid = error is None
    steps = len(path) - 1 if path else None
    forced = trajectory.exit_status.forced
    return MazeScore(
        correct=valid,
        precision=float(valid),
        recall=float(valid),
        f1=float(valid),
        false_positives=sum(not maze.is_open(cell) for cell in path),
        extraction_stage=extraction.stage,
        lossy=extraction.lossy,
        grounded=_grounded_share(path, trajectory) if setting != "no_tools" and path else None,
        valid=valid,
        optimal=valid and steps == maze.shortest_path_length,
        strict_correct=valid and not forced,
        error_class=error,
        path_length=steps,
        length_ratio=round(steps / maze.shortest_path_length, 4) if valid and steps is not None else None,
        repeated_cells=len(path) - len(set(path)),
        wall_hits=sum(cell in maze.wall_set for cell in path),
        teleports=sum(not maze.adjacent(one, other) for one, other in pairwise(path)),
        visited=len(visited),
        revisits=kinds["revisit"],
        jumps=kinds["jump"],
        wall_calls=kinds["wall"],
        goal_visited=maze.goal in visited,
        calls=len(trajectory.results),
        repeated_calls=waste.repeated_calls,
        tool_errors=waste.tool_errors,
        parallel_calls=waste.parallel_calls,
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


def _grounded_share(path: Sequence[int], trajectory: Trajectory) -> float | None:
    """Return the share of steps in tool results, or None if only other tools were used."""
    shown: dict[str, set[str]] = {}  # visited cell → cells in its result, which counts here, not the maze
    for result in trajectory.results:
        if ALIASES.get(result.call.name, result.call.name) == NEXT_CELLS and result.error is None:
            rows = read_rows(result.content) or []
            shown[called_cell(result.call) or ""] = {str(row["key"]) for row in rows if "key" in row}
    if not shown and any(map(shows_data, trajectory.results)):
        return None
    if len(path) == 1:
        return float(str(path[0]) in shown or any(str(path[0]) in beside for beside in shown.values()))
    steps = [(str(one), str(other)) for one, other in pairwise(path)]
    return sum(other in shown.get(one, ()) or one in shown.get(other, ()) for one, other in steps) / len(steps)


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


def verdict(score: MazeScore, maze: Maze) -> str:
    """Return a short description of the outcome."""
    if score.valid:
        steps = counted(score.path_length or 0, "step")
        return f"valid, {steps} (shortest {maze.shortest_path_length}), {counted(score.calls, 'call')}"
    return f"{(score.error_class or '').replace('_', ' ')}, {counted(score.calls, 'call')}"
