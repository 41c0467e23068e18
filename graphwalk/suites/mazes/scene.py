"""Drawings of mazes and episodes: text, and step-by-step scenes."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from graphwalk.reports.scene import Scene, SceneGrid, SceneStep, StateTable
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.suites.mazes.config import Layout
from graphwalk.suites.mazes.generate import Maze
from graphwalk.suites.mazes.score import MazeEpisode, WalkStep, maze_episode
from graphwalk.types.episode import Trajectory
from graphwalk.types.wire import from_dict

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from graphwalk.suites.mazes.task import MazeTask

_SIGNS = {
    "wall": ("██", "bright_black"),
    "hit": ("▒▒", "red"),
    "open": ("  ", ""),
    "visited": ("· ", "cyan"),
    "path": ("● ", "bold green"),
    "start": ("S ", "bold yellow"),
    "goal": ("G ", "bold magenta"),
}
"""The characters suffice without colours."""


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


def draw(maze: Maze, visited: Collection[int] = (), path: Sequence[int] = (), hit: Collection[int] = ()) -> "Text":
    """Return the maze for a terminal, two columns per cell. `hit` contains walls that were called or answered."""
    from rich.text import Text

    marked = dict.fromkeys(visited, "visited") | dict.fromkeys(path, "path") | dict.fromkeys(hit, "hit")
    marked |= {maze.start: "start", maze.goal: "goal"}
    border = "+" + "-" * (2 * maze.size) + "+"
    text = Text(f"{border}\n", no_wrap=True)
    for row in range(maze.size):
        text.append("|")
        for cell in range(row * maze.size, (row + 1) * maze.size):
            text.append(*_SIGNS[marked.get(cell, "wall" if cell in maze.wall_set else "open")])
        text.append("|\n")
    return text.append(border)


_STEP_TEXTS = {
    "visit": "visits cell {}",
    "jump": "jumps to cell {}",
    "revisit": "visits cell {} again",
    "wall": "calls cell {}, a wall",
    "other": "calls another tool",
    "path": "gets the path over the visited cells",
}
_SCENE_LEGEND = {
    "wall": "wall",
    "visited": "visited, in order",
    "jump": "visited, not adjacent to a visited cell",
    "hit": "wall called or answered",
    "answer": "answer",
    "leap": "invalid step: cells are not adjacent",
}


def maze_scene(task: "MazeTask", record: ResultRecord) -> Scene:
    """Return the step-by-step picture of an episode."""
    episode = maze_episode(task, record)
    maze = episode.maze
    trajectory = from_dict(Trajectory, record["trajectory"])
    turns = [number for number, turn in enumerate(trajectory.turns, 1) for _ in turn.results]
    walked = zip(episode.walk.steps, turns, strict=True)
    steps = [
        SceneStep(_step_text(step), turn, call, cell=step.cell, sort=step.kind)
        for call, (step, turn) in enumerate(walked, 1)
    ]
    steps.append(SceneStep(f"answer: {episode.verdict}", len(trajectory.turns), sort="answer"))
    return Scene(
        steps=tuple(steps),
        grid=SceneGrid(maze.size, maze.walls, maze.start, maze.goal, episode.path),
        comparison=_comparison(episode, record),
        legend=_SCENE_LEGEND,
    )


def _step_text(step: WalkStep) -> str:
    if step.kind == "refused":
        return "call refused" if step.cell is None else f"call for cell {step.cell} refused"
    return _STEP_TEXTS[step.kind].format(step.cell)


def _comparison(episode: MazeEpisode, record: ResultRecord) -> StateTable:
    """Return the cells of the answer; a cell is right if the step to it is valid."""
    maze, before = episode.maze, None
    rows: list[tuple[Any, ...]] = []
    for cell, key in zip(episode.path, record["answer"] or (), strict=False):
        fits = cell == maze.start if before is None else maze.adjacent(before, cell)
        rows.append(("right" if fits and maze.is_open(cell) else "wrong", len(rows), key))
        before = cell
    if episode.path and episode.path[-1] != maze.goal:
        rows.append(("missed", len(rows), str(maze.goal)))
    steps = maze.shortest_path_length
    note = f"Every valid path from {maze.start} to {maze.goal} is correct; the shortest has {steps} steps."
    return StateTable(("step", "cell"), tuple(rows), note)


def maze_drawing(task: "MazeTask", record: ResultRecord) -> "RenderableType":
    """Return title, verdict and drawing of an episode."""
    from rich.console import Group
    from rich.text import Text

    episode = maze_episode(task, record)
    drawing = draw(episode.maze, episode.walk.visited, episode.path, episode.hit)
    return Group(Text(episode.title), Text(episode.verdict), drawing)
