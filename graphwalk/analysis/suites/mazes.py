"""Mazes: evidence, errors of paths, scenes and report (docs/method.md, Mazes)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

from graphwalk.analysis.baselines import expert_result, paper_figures
from graphwalk.analysis.suite_analysis import Explanation, SuiteAnalysis
from graphwalk.analysis.suites.maze_scene import maze_scene
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.evaluation.extraction import strip_thinking
from graphwalk.reports.scene import Scene
from graphwalk.reports.suite_report import Grouping, Reference, ResultRecord, SuiteReport
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import GraphStore
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.mazes.generate import Maze
from graphwalk.suites.mazes.players import expert
from graphwalk.suites.mazes.score import PathError, called_cell, extract_path, path_cells, path_error
from graphwalk.suites.mazes.task import MazeTask, tools_prompt
from graphwalk.suites.mazes.toolbox import MazeToolbox
from graphwalk.suites.reference import ReferenceWalk, drive
from graphwalk.tools.observed_values import shows_data
from graphwalk.types.encodings import read_rows
from graphwalk.types.episode import Trajectory

ErrorClass = Literal[PathError, "no_answer", "unreadable"]


def _of_graph(name: str) -> Callable[[ResultRecord], Any]:
    return lambda result: result.get("graph", {}).get(name)


def _calls_if_solved(result: ResultRecord) -> float | None:
    return float(result["tool_calls"]) if (result["score"] or {}).get("correct") else None


def table_1() -> Reference:
    """Return the paper's Table 1 with ten mazes per model."""
    paper = paper_figures()
    notes = (
        "The paper's mazes differ: 10 × 10 cells, half of them walls, at least 15 steps from start to goal.",
        "Its calls of gpt-4o-mini, 22.125 = 177/8, can only be an average over the 8 mazes solved.",
    )
    return Reference(f"{paper['source']}, Table 1", notes, tuple(_row(**row) for row in paper["table_1_mazes"]))


def _row(correct_of_10: int, mean_seconds: float, mean_tool_calls: float | None, **row: Any) -> dict[str, Any]:
    """Return a row of Table 1. Its averages of calls are over ten mazes, unless the sum would be no whole number."""
    right = {"correct": correct_of_10, "scored": 10, "accuracy": 10.0 * correct_of_10}
    over_all = mean_tool_calls is not None and (10 * mean_tool_calls).is_integer()
    calls = {
        "calls_per_question": mean_tool_calls if over_all else None,
        "calls_per_solved": mean_tool_calls if not over_all or correct_of_10 == 10 else None,
    }
    return {**row, **right, **calls, "seconds_per_question": mean_seconds}


def baselines(result: ResultRecord) -> Iterator[ResultRecord]:
    """Yield the baseline that needs no run: the expert."""
    yield from expert_result(result, {"correct": True, "strict_correct": True})


class MazeExplanation(Explanation):
    """`grounded`: share of the steps of a path that tool results show. `error_class`: the first error along it."""

    error_class: ErrorClass | None = None


class Analysis(SuiteAnalysis[MazeTask]):
    """The explanations of mazes."""

    explanation_type = MazeExplanation

    def report(self) -> SuiteReport:
        return self.declared(
            {"calls_per_solved": _calls_if_solved},
            groupings=(
                Grouping("size", "size", _of_graph("size")),
                Grouping("wall_ratio", "share of walls", _of_graph("wall_ratio")),
                Grouping("min_path", "minimum steps", _of_graph("min_path")),
            ),
            references={"table_1_mazes": table_1},
            baselines=baselines,
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
        return MazeExplanation(grounded=grounded, error_class=error)

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
        return maze_scene(task.maze, record)

    async def reference(self, task: MazeTask, about: LoadedGraph, agent: AgentConfig) -> ReferenceWalk | None:
        return None if about.store is None else await expert_walk(task, about.store)


def _grounded_share(maze: Maze, path: Sequence[int], trajectory: Trajectory) -> float | None:
    """Return the share of steps in tool results, or None if only other tools were used."""
    shown: dict[str, set[str]] = {}  # visited cell → cells in its result, which counts here, not the maze
    for result in trajectory.results:
        if result.error is None and (cell := called_cell(maze, result)) is not None:
            rows = read_rows(result.content) or []
            shown[str(cell)] = {str(row["key"]) for row in rows if "key" in row}
    if not shown and any(map(shows_data, trajectory.results)):
        return None
    if len(path) == 1:
        return float(str(path[0]) in shown or any(str(path[0]) in beside for beside in shown.values()))
    steps = [(str(one), str(other)) for one, other in pairwise(path)]
    return sum(other in shown.get(one, ()) or one in shown.get(other, ()) for one, other in steps) / len(steps)


async def expert_walk(task: MazeTask, store: GraphStore) -> ReferenceWalk:
    """Return the expert's walk with the tools. Raise OracleError if its path is wrong."""
    start, goal = str(task.start), str(task.goal)
    toolbox = MazeToolbox(store, task.size)
    prompt = tools_prompt(task, await store.schema(), AgentConfig())
    played = await drive(expert(start, goal, stdlib_random(0, "expert")), toolbox, prompt)
    path = [int(key) for key in extract_path(played.answer).answer or ()]
    if not path or path_error(task.maze, path):
        raise OracleError(
            f"the expert's path through {task.task_id} is wrong\n  target: {task.target}\n  expert: {played.answer}"
        )
    return played
