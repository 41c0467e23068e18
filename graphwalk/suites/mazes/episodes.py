"""Maze episodes of a run as pictures show them: the maze, the walk, and the final path."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphwalk.console import counted
from graphwalk.suites.mazes.generator.maze import Maze
from graphwalk.suites.mazes.scoring import path_cells
from graphwalk.suites.mazes.task import MazeScore, MazeTask
from graphwalk.suites.mazes.walk import MazeWalk, walk_of
from graphwalk.types.episode import Trajectory
from graphwalk.types.inert import visible
from graphwalk.types.wire import from_dict


@dataclass(frozen=True)
class MazeEpisode:
    """One episode. `path` are the cells of the answer, -1 for those that do not exist; `verdict` in a few words."""

    title: str
    maze: Maze
    walk: MazeWalk
    path: tuple[int, ...]
    verdict: str

    @property
    def hit(self) -> list[int]:
        """Walls that were asked for, or stepped into by the answer."""
        asked = [step.cell for step in self.walk.steps if step.kind == "wall" and step.cell is not None]
        return [*asked, *(cell for cell in self.path if cell in self.maze.wall_set)]


def maze_episodes(records: Iterable[Mapping[str, Any]]) -> Iterator[MazeEpisode]:
    """The episodes in the records of a log; failures have walked too."""
    for record in records:
        task = MazeTask.model_validate(record["task"])
        walk = walk_of(task.maze, from_dict(Trajectory, record["trajectory"]).results)
        repeat = f" · repeat {record['repeat']}" if record["repeat"] else ""
        title = visible(f"{record['model']} · {record['setting']} · {record['task_id']}{repeat}")
        path = tuple(path_cells(task.maze, record["answer"]))
        score = None if record["score"] is None else MazeScore.model_validate(record["score"])
        said = f"failed: {record['exit_status']}" if score is None else verdict(score, task)
        yield MazeEpisode(title, task.maze, walk, path, said)


def verdict(score: MazeScore, task: MazeTask) -> str:
    """How an episode ended, in a few words."""
    if score.valid:
        steps = counted(score.path_length or 0, "step")
        return f"valid, {steps} (shortest {task.shortest_path_length}), {counted(score.calls, 'call')}"
    return f"{(score.error_class or '').replace('_', ' ')}, {counted(score.calls, 'call')}"
