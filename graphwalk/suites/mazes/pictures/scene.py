"""A walk through a maze as a scene: one step per tool call, and the answer at its end."""

from typing import Any

from graphwalk.report.declared import ResultRecord
from graphwalk.report.scenes import Scene, SceneGrid, SceneStep, StateTable
from graphwalk.suites.mazes.episodes import MazeEpisode, maze_episodes
from graphwalk.suites.mazes.walk import WalkStep
from graphwalk.types.episode import Trajectory
from graphwalk.types.wire import from_dict

_SAYS = {
    "visit": "visits cell {}",
    "jump": "jumps to cell {}",
    "revisit": "visits cell {} once more",
    "wall": "asks for cell {}, a wall",
    "other": "calls a tool that is not the maze's own",
    "path": "asks for the path that joins the visited cells",
}
_LEGEND = {
    "wall": "wall",
    "visited": "visited, in this order",
    "jump": "jumped to",
    "hit": "wall that was asked for or walked into",
    "answer": "answer",
    "leap": "step between cells that share no edge",
}


def maze_scene(record: ResultRecord) -> Scene:
    (episode,) = maze_episodes([record])
    maze = episode.maze
    trajectory = from_dict(Trajectory, record["trajectory"])
    turns = [number for number, turn in enumerate(trajectory.turns, 1) for _ in turn.results]
    walked = zip(episode.walk.steps, turns, strict=True)
    steps = [
        SceneStep(_said(step), turn, call, cell=step.cell, sort=step.kind)
        for call, (step, turn) in enumerate(walked, 1)
    ]
    steps.append(SceneStep(f"answer: {episode.verdict}", len(trajectory.turns), sort="answer"))
    return Scene(
        steps=tuple(steps),
        grid=SceneGrid(maze.size, maze.walls, maze.start, maze.goal, episode.path),
        comparison=_comparison(episode, record),
        legend=_LEGEND,
    )


def _said(step: WalkStep) -> str:
    if step.kind == "refused":
        return "makes a call that is refused" if step.cell is None else f"asks for cell {step.cell} and is refused"
    return _SAYS[step.kind].format(step.cell)


def _comparison(episode: MazeEpisode, record: ResultRecord) -> StateTable:
    """Step by step: the cells of the answer, right where one can step there from the cell before."""
    maze, before = episode.maze, None
    rows: list[tuple[Any, ...]] = []
    for cell, key in zip(episode.path, record["answer"] or (), strict=False):
        fits = cell == maze.start if before is None else maze.adjacent(before, cell)
        rows.append(("right" if fits and maze.is_open(cell) else "wrong", len(rows), key))
        before = cell
    if episode.path and episode.path[-1] != maze.goal:
        rows.append(("missed", len(rows), str(maze.goal)))
    note = (
        f"Every path from {maze.start} to {maze.goal} is right; a shortest one has {maze.shortest_path_length} steps."
    )
    return StateTable(("step", "cell"), tuple(rows), note)
