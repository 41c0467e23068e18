"""Mazes: evidence, errors of paths, scenes and report (docs/method.md, Mazes)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

from graphwalk.analysis.evidence import shows_data
from graphwalk.analysis.report import columns
from graphwalk.analysis.report.columns import with_task_word
from graphwalk.analysis.report.measures import EFFORT, OUTCOME, cause_measures, record_field, score_field
from graphwalk.analysis.report.suite_report import (
    ACCURACY,
    PROVEN,
    SIZE,
    Grouping,
    Measure,
    Reference,
    SuiteReport,
    expert_result,
    report_file,
)
from graphwalk.analysis.report.text_table import Column, integer, one_decimal, short
from graphwalk.analysis.scene import Fate, Scene, SceneGrid, SceneStep, StateTable, scene_of, trajectory_of
from graphwalk.analysis.suite_analysis import Explanation, SuiteAnalysis
from graphwalk.models.trajectory import ToolResult, Trajectory
from graphwalk.runs.record import ResultRecord
from graphwalk.suites.extraction import strip_thinking
from graphwalk.suites.mazes.generate import Maze
from graphwalk.suites.mazes.suite import EXPERT, MazeTask, PathError, called_cell, path_cells, path_error
from graphwalk.tools.encodings import read_rows

ErrorClass = Literal[PathError, "no_answer", "unreadable"]

_TASK_WORD = "maze"
_CORRECT = replace(
    columns.CORRECT, legend="number of valid paths: steps between adjacent open cells, from start to goal"
)
_ACCURACY = replace(columns.ACCURACY, format=one_decimal, legend="share of valid paths")
_STRICT_ACCURACY = Column(
    "Strict\naccuracy %",
    "strict_accuracy",
    one_decimal,
    legend="share of answers that are correct and not forced by a limit",
)
_OPTIMAL = Column("Optimal %", "optimal", one_decimal, one_decimal, legend="share of shortest paths")
_SHORTEST_PATH = Column("Shortest\npath", "shortest_path", short, legend="median length of a shortest path")
_CALLS_PER_SOLVED = Column(
    "Calls per\nsolved maze",
    "calls_per_solved",
    one_decimal,
    one_decimal,
    legend="mean number of calls in episodes with a valid path",
)
_NO_ANSWER = Column("No answer", "no_answer", integer, legend="nothing or an empty path was answered")
_UNREADABLE = Column("Unreadable", "unreadable", integer, legend="the reply contains no readable path")
_WRONG_START = Column("Wrong start", "wrong_start", integer, legend="the path begins at another cell")
_OUT_OF_GRID = Column("Out of grid", "out_of_grid", integer, legend="a cell of the path does not exist")
_THROUGH_WALL = Column("Through wall", "through_wall", integer, legend="a cell of the path is a wall")
_NOT_ADJACENT = Column(
    "Not adjacent", "not_adjacent", integer, legend="a step leads to a cell that is not next to the last"
)
_WRONG_GOAL = Column("Wrong goal", "wrong_goal", integer, legend="the path ends at another cell")
_RESULTS = (
    _CORRECT,
    columns.SCORED,
    _ACCURACY,
    columns.PROVEN_ACCURACY,
    columns.CONTEXT_OVERFLOWS,
    columns.CALLS_PER_QUESTION,
    columns.FURTHEST,
    _CALLS_PER_SOLVED,
    columns.SECONDS_PER_QUESTION,
    columns.TASKS,
    columns.TOKENS,
    columns.COST,
    columns.INFRASTRUCTURE_FAILURES,
    _OPTIMAL,
    _SHORTEST_PATH,
    columns.GRAPHS,
    columns.TOKENS_PER_QUESTION,
)
_PAPER_RESULTS = (
    _CORRECT,
    columns.SCORED,
    _ACCURACY,
    _STRICT_ACCURACY,
    columns.CALLS_PER_QUESTION,
    _CALLS_PER_SOLVED,
    columns.PROVEN_ACCURACY,
    columns.CONTEXT_OVERFLOWS,
    columns.SECONDS_PER_QUESTION,
    columns.TASKS,
    columns.TOKENS,
    columns.COST,
    columns.INFRASTRUCTURE_FAILURES,
    _OPTIMAL,
    _SHORTEST_PATH,
    columns.GRAPHS,
)
_GROUPS = (
    _CORRECT,
    columns.SCORED,
    _ACCURACY,
    columns.PROVEN_ACCURACY,
    columns.CALLS_PER_QUESTION,
    columns.FURTHEST,
    _CALLS_PER_SOLVED,
    columns.TASKS,
    columns.SECONDS_PER_QUESTION,
    _OPTIMAL,
    _SHORTEST_PATH,
    columns.INFRASTRUCTURE_FAILURES,
    columns.GRAPHS,
)
_CAUSES = (
    _NO_ANSWER,
    _UNREADABLE,
    _WRONG_START,
    _OUT_OF_GRID,
    _THROUGH_WALL,
    _NOT_ADJACENT,
    _WRONG_GOAL,
)
_LEGEND = {
    "wall": "wall",
    "visited": "visited, in order",
    "hit": "wall called or answered",
    "answer": "answer",
    "leap": "invalid step: cells are not adjacent",
}
"""Mark in the picture of a maze → its meaning."""


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
        return SuiteReport(
            suite=self.suite.name,
            task_word=_TASK_WORD,
            measures=(
                *OUTCOME,
                Measure("shortest_path", "median", record_field("task", "shortest_path_length")),
                Measure("calls_per_solved", "amount", _calls_if_solved),
                Measure("strict_accuracy", "percent", score_field("strict_correct")),
                *cause_measures(self.own_fields),
                Measure("strict_correct", "count", score_field("strict_correct")),
                Measure("optimal", "percent", score_field("optimal")),
                Measure("grounded", "share", score_field("grounded")),
                *EFFORT,
            ),
            columns=with_task_word(_TASK_WORD, _RESULTS),
            group_columns=with_task_word(_TASK_WORD, _GROUPS),
            paper_columns=with_task_word(_TASK_WORD, _PAPER_RESULTS),
            causes=_CAUSES,
            compared=(ACCURACY, PROVEN),
            notes=(
                "Baselines: expert (reference) is the scripted explorer. A random path is practically never valid.",
            ),
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
        trajectory = trajectory_of(record)
        score = record["score"]
        fate: Fate = "wrong"
        if score is None:
            outcome = f"failed: {record['exit_status']}"
        elif score["correct"]:
            outcome = "valid path"
            fate = "right"
        else:
            outcome = score["error_class"].replace("_", " ")

        steps: list[SceneStep] = []
        for turn_number, turn in enumerate(trajectory.turns, 1):
            for result in turn.results:
                steps.append(_step(maze, turn_number, len(steps) + 1, result))
        steps.append(SceneStep(f"answer: {outcome}", len(trajectory.turns), sort="answer"))
        rows = ((fate, " ".join(record["answer"])),) if record["answer"] else ()
        note = f"Every valid path is correct; a shortest one has {maze.shortest_path_length} steps."
        return scene_of(
            record,
            trajectory,
            StateTable(("path",), rows, note),
            steps=tuple(steps),
            grid=SceneGrid(maze.size, maze.walls, maze.start, maze.goal, tuple(path_cells(maze, record["answer"]))),
            legend=_LEGEND,
        )


def _grounded_share(maze: Maze, path: Sequence[int], trajectory: Trajectory) -> float | None:
    """Return the share of steps in tool results, or None if only other tools were used."""
    # Visited cell → open cells beside it: {"12": {"11", "13"}}. What its result shows counts, not the maze.
    shown: dict[str, set[str]] = {}
    for result in trajectory.results_read:
        cell = called_cell(maze, result) if result.error is None else None
        if cell is not None:
            rows = read_rows(result.content) or []
            shown[str(cell)] = {str(row["key"]) for row in rows if "key" in row}
    if not shown and any(shows_data(result) for result in trajectory.results_read):
        return None

    cells = [str(cell) for cell in path]
    if len(cells) == 1:
        is_shown = cells[0] in shown or any(cells[0] in beside for beside in shown.values())
        return float(is_shown)
    shown_steps = 0
    for one, other in pairwise(cells):
        if other in shown.get(one, ()) or one in shown.get(other, ()):
            shown_steps += 1
    return shown_steps / (len(cells) - 1)


def _step(maze: Maze, turn: int, number: int, result: ToolResult) -> SceneStep:
    cell = called_cell(maze, result)
    if cell is not None and result.error is None:
        return SceneStep(f"visits cell {cell}", turn, number, cell=cell, sort="visit")
    if cell is not None and result.error == "wall":
        return SceneStep(f"calls cell {cell}, a wall", turn, number, cell=cell, sort="wall")
    return SceneStep("call refused" if result.error else f"calls {result.call.name}", turn, number)
