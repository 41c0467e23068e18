"""The scene of an episode in a maze, and the maze as text."""

from graphwalk.analysis.walked import scene_texts
from graphwalk.reports.scene import Fate, Scene, SceneGrid, SceneStep, StateTable, scene_of, trajectory_of
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.suites.mazes.generate import Maze
from graphwalk.suites.mazes.score import called_cell, path_cells
from graphwalk.types.episode import ToolResult


def maze_scene(maze: Maze, record: ResultRecord) -> Scene:
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


def _step(maze: Maze, turn: int, number: int, result: ToolResult) -> SceneStep:
    cell = called_cell(maze, result)
    if cell is not None and result.error is None:
        return SceneStep(f"visits cell {cell}", turn, number, cell=cell, sort="visit")
    if cell is not None and result.error == "wall":
        return SceneStep(f"calls cell {cell}, a wall", turn, number, cell=cell, sort="wall")
    return SceneStep("call refused" if result.error else f"calls {result.call.name}", turn, number)
