"""The scene of an episode in a maze, and the maze as text."""

from collections.abc import Sequence
from typing import Any

from graphwalk.reports.scene import Scene, SceneGrid, SceneStep, StateTable, scene_of, trajectory_of
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.suites.mazes.config import Layout
from graphwalk.suites.mazes.generate import Maze
from graphwalk.suites.mazes.score import MazeScore, WalkStep, path_cells, steps_of, verdict
from graphwalk.suites.walked import scene_texts


def draw_with_keys(maze: Maze, layout: Layout = "standard") -> str:
    """Return the maze in a border: keys in open cells, S and G before the keys of start and goal, `#` signs for walls.

    With "paper" S and G are in place of the keys, a wall is one `#`, and borders separate cells and rows (GraphWalk,
    Appendix D.1 and Figure 1).
    """
    paper = layout == "paper"
    digits = len(str(maze.size**2 - 1))
    texts = [str(cell) for cell in range(maze.size**2)]
    texts[maze.start], texts[maze.goal] = ("S", "G") if paper else (f"S{maze.start}", f"G{maze.goal}")
    for wall in maze.walls:
        texts[wall] = "#" if paper else "#" * digits
    rows = [texts[first : first + maze.size] for first in range(0, maze.size**2, maze.size)]
    if paper:
        border = "+" + ("-" * (digits + 2) + "+") * maze.size
        lines = ("| " + " | ".join(text.rjust(digits) for text in row) + " |" for row in rows)
        return "\n".join([border, *(f"{line}\n{border}" for line in lines)])
    border = "+" + "-" * (maze.size * (digits + 2) + 1) + "+"
    lines = ("| " + " ".join(text.rjust(digits + 1) for text in row) + " |" for row in rows)
    return "\n".join([border, *lines, border])


def maze_scene(maze: Maze, record: ResultRecord) -> Scene:
    trajectory = trajectory_of(record)
    path = tuple(path_cells(maze, record["answer"]))
    score = None if record["score"] is None else MazeScore.model_validate(record["score"])
    outcome = f"failed: {record['exit_status']}" if score is None else verdict(score, maze)
    turns = [number for number, turn in enumerate(trajectory.turns, 1) for _ in turn.results]
    walked = zip(steps_of(maze, trajectory.results), turns, strict=True)
    steps = [
        SceneStep(_step_text(step), turn, call, cell=step.cell, sort=step.kind)
        for call, (step, turn) in enumerate(walked, 1)
    ]
    steps.append(SceneStep(f"answer: {outcome}", len(trajectory.turns), sort="answer"))
    return scene_of(
        record,
        trajectory,
        _comparison(maze, path, record["answer"] or (), record["task"]["gold"]),
        steps=tuple(steps),
        grid=SceneGrid(maze.size, maze.walls, maze.start, maze.goal, path),
        legend=scene_texts("mazes")["legend"],
    )


def _step_text(step: WalkStep) -> str:
    if step.kind == "refused":
        return "call refused" if step.cell is None else f"call for cell {step.cell} refused"
    text: str = scene_texts("mazes")["steps"][step.kind]
    return text.format(step.cell)


def _comparison(maze: Maze, path: Sequence[int], answer: Sequence[str], shortest: Sequence[str]) -> StateTable:
    """Return the cells of the answer; a cell is right if the step to it is valid."""
    before = None
    rows: list[tuple[Any, ...]] = []
    for cell, key in zip(path, answer, strict=False):
        fits = cell == maze.start if before is None else maze.adjacent(before, cell)
        rows.append(("right" if fits and maze.is_open(cell) else "wrong", len(rows), key))
        before = cell
    if path and path[-1] != maze.goal:
        rows.append(("missed", len(rows), str(maze.goal)))
    steps, example = maze.shortest_path_length, " ".join(shortest)
    note = (
        f"Every valid path from {maze.start} to {maze.goal} is correct; the shortest has {steps} steps, for example"
        f" {example}."
    )
    return StateTable(("step", "cell"), tuple(rows), note)
