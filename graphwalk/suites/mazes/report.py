"""Mazes: evidence, errors of paths, scenes and report (docs/method.md, Mazes)."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal

from graphwalk.analysis.report.suite_report import (
    SIZE,
    Grouping,
    Reference,
    SuiteReport,
    expert_result,
    report_file,
)
from graphwalk.analysis.scene import Fate, Scene, SceneGrid, SceneStep, StateTable, scene_of, scene_texts, trajectory_of
from graphwalk.analysis.suite_analysis import Explanation, SuiteAnalysis
from graphwalk.models.trajectory import ToolResult, Trajectory
from graphwalk.runs.record import ResultRecord
from graphwalk.suites.extraction import strip_thinking
from graphwalk.suites.mazes.generate import Maze
from graphwalk.suites.mazes.suite import EXPERT, MazeTask, PathError, called_cell, path_cells, path_error
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.observed import shows_data

ErrorClass = Literal[PathError, "no_answer", "unreadable"]


def _of_graph(name: str) -> Callable[[ResultRecord], Any]:
    return lambda result: result.get("graph", {}).get(name)


def _calls_if_solved(result: ResultRecord) -> float | None:
    return float(result["tool_calls"]) if (result["score"] or {}).get("correct") else None


def table_1() -> Reference:
    """Return the paper's Table 1 with ten mazes per model."""
    paper = report_file("graphwalk-paper")
    return Reference(f"{paper['source']}, Table 1", tuple(paper["notes_on_mazes"]), tuple(paper["table_1_mazes"]))


class MazeExplanation(Explanation):
    """`grounded`: share of the steps of a path that tool results show. `error_class`: the first error along it."""

    error_class: ErrorClass | None = None


class MazesAnalysis(SuiteAnalysis[MazeTask]):
    """The explanations of mazes."""

    explanation_type = MazeExplanation
    expert = EXPERT

    def report(self) -> SuiteReport:
        return self.declared(
            {"calls_per_solved": _calls_if_solved},
            groupings=(
                Grouping(SIZE, "maze size", _of_graph("size")),
                Grouping("wall_ratio", "share of walls", _of_graph("wall_ratio")),
                Grouping("min_path", "minimum steps", _of_graph("min_path")),
            ),
            references={"table_1_mazes": table_1},
            baselines=partial(expert_result, score={"correct": True, "strict_correct": True}),
        )

    def explain(
        self, task: MazeTask, setting: str, trajectory: Trajectory, answer: Any, score: dict[str, Any]
    ) -> MazeExplanation:
        path = path_cells(task.maze, answer)
        error: ErrorClass | None = "no_answer"
        if path:
            error = path_error(task.maze, path)
        elif answer is None and strip_thinking(trajectory.reply).strip():
            error = "unreadable"
        grounded = _grounded_share(task.maze, path, trajectory) if setting != "no_tools" and path else None
        is_known = setting != "no_tools" and not (path and grounded is None)
        proven = bool(score["correct"] and grounded == 1) if is_known else None
        unproven = "results do not show each step of the path" if score["correct"] and proven is False else ""
        return MazeExplanation(grounded=grounded, proven=proven, unproven=unproven, error_class=error)

    def potential(self, task: MazeTask, trajectory: Trajectory) -> float:
        """Return 1 − distance to the goal ÷ that of the start, for the nearest cell that was walked to from the start.

        A visited cell counts if it is the start or next to one that counts.
        """
        maze = task.maze
        reached = {task.start}
        for result in trajectory.results:
            cell = called_cell(maze, result) if result.error is None else None
            if cell is not None and not reached.isdisjoint(maze.open_neighbours(cell)):
                reached.add(cell)
        return 1 - min(maze.distances_to_goal[cell] for cell in reached) / maze.distances_to_goal[task.start]

    def scene(self, task: MazeTask, record: ResultRecord) -> Scene:
        """Return the grid with the visited cells, the walls that were called, and the answered path."""
        maze = task.maze
        trajectory, score = trajectory_of(record), record["score"]
        if score is None:
            outcome = f"failed: {record['exit_status']}"
        else:
            outcome = "valid path" if score["correct"] else score["error_class"].replace("_", " ")
        calls = [(turn, result) for turn, one in enumerate(trajectory.turns, 1) for result in one.results]
        steps = [_step(maze, turn, number, result) for number, (turn, result) in enumerate(calls, 1)]
        steps.append(SceneStep(f"answer: {outcome}", len(trajectory.turns), sort="answer"))
        fate: Fate = "right" if score is not None and score["correct"] else "wrong"
        rows = ((fate, " ".join(record["answer"])),) if record["answer"] else ()
        note = f"Every valid path is correct; a shortest one has {maze.shortest_path_length} steps."
        return scene_of(
            record,
            trajectory,
            StateTable(("path",), rows, note),
            steps=tuple(steps),
            grid=SceneGrid(maze.size, maze.walls, maze.start, maze.goal, tuple(path_cells(maze, record["answer"]))),
            legend=scene_texts("mazes")["legend"],
        )


def _grounded_share(maze: Maze, path: Sequence[int], trajectory: Trajectory) -> float | None:
    """Return the share of steps in tool results, or None if only other tools were used."""
    shown: dict[str, set[str]] = {}  # visited cell → cells in its result, which counts here, not the maze
    for result in trajectory.results_read:
        if result.error is None and (cell := called_cell(maze, result)) is not None:
            rows = read_rows(result.content) or []
            shown[str(cell)] = {str(row["key"]) for row in rows if "key" in row}
    if not shown and any(map(shows_data, trajectory.results_read)):
        return None
    if len(path) == 1:
        return float(str(path[0]) in shown or any(str(path[0]) in beside for beside in shown.values()))
    steps = [(str(one), str(other)) for one, other in pairwise(path)]
    return sum(other in shown.get(one, ()) or one in shown.get(other, ()) for one, other in steps) / len(steps)


def _step(maze: Maze, turn: int, number: int, result: ToolResult) -> SceneStep:
    cell = called_cell(maze, result)
    if cell is not None and result.error is None:
        return SceneStep(f"visits cell {cell}", turn, number, cell=cell, sort="visit")
    if cell is not None and result.error == "wall":
        return SceneStep(f"calls cell {cell}, a wall", turn, number, cell=cell, sort="wall")
    return SceneStep("call refused" if result.error else f"calls {result.call.name}", turn, number)
