"""Drawings of mazes and episodes: text, SVG and step-by-step scenes."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphwalk.errors import ConfigError
from graphwalk.files import write_whole
from graphwalk.reports.plots import Scene, SceneGrid, SceneStep, StateTable
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.sanitise import escape_markup
from graphwalk.suites.mazes.config import DrawnWalls
from graphwalk.suites.mazes.generate import Maze
from graphwalk.suites.mazes.score import MazeEpisode, WalkStep, maze_episodes
from graphwalk.types.episode import Trajectory
from graphwalk.types.wire import from_dict

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


_SIGNS = {
    "wall": ("██", "bright_black"),
    "hit": ("▒▒", "red"),
    "open": ("  ", ""),
    "visited": ("· ", "cyan"),
    "path": ("● ", "bold green"),
    "start": ("S ", "bold yellow"),
    "goal": ("G ", "bold magenta"),
    "unknown": ("░░", "bright_black"),
}
"""The characters suffice without colours."""


def draw_with_keys(maze: Maze, walls: DrawnWalls = "signs") -> str:
    """Return the maze in a border: keys in open cells, S and G before start and goal.

    A wall is drawn as `#` signs; with "numbered" as `#` and its number.
    """
    digits = len(str(maze.size**2 - 1))
    texts = [str(cell) for cell in range(maze.size**2)]
    texts[maze.start], texts[maze.goal] = f"S{maze.start}", f"G{maze.goal}"
    for wall in maze.walls:
        texts[wall] = f"#{wall}" if walls == "numbered" else "#" * digits
    rows = (texts[first : first + maze.size] for first in range(0, maze.size**2, maze.size))
    border = "+" + "-" * (maze.size * (digits + 2) + 1) + "+"
    lines = ("| " + " ".join(text.rjust(digits + 1) for text in row) + " |" for row in rows)
    return "\n".join([border, *lines, border])


def draw(
    maze: Maze,
    visited: Collection[int] = (),
    path: Sequence[int] = (),
    hit: Collection[int] = (),
    known: Collection[int] | None = None,
) -> "Text":
    """Return the maze for a terminal, two columns per cell.

    `hit` contains walls that were called or answered. Only `known` cells, start and goal are drawn; None means all.
    """
    from rich.text import Text

    marked = dict.fromkeys(visited, "visited") | dict.fromkeys(path, "path") | dict.fromkeys(hit, "hit")
    marked |= {maze.start: "start", maze.goal: "goal"}
    border = "+" + "-" * (2 * maze.size) + "+"
    text = Text(f"{border}\n", no_wrap=True)
    for row in range(maze.size):
        text.append("|")
        for cell in range(row * maze.size, (row + 1) * maze.size):
            plain = "wall" if cell in maze.wall_set else "open"
            shown = plain if known is None or cell in known else "unknown"
            text.append(*_SIGNS[marked.get(cell, shown)])
        text.append("|\n")
    return text.append(border)


_CELL = 24
"""Side of a cell in pixels."""
_STYLE = (
    "rect{stroke:#cfd8dc;stroke-width:.5}.wall{fill:#37474f}.open{fill:#fff}.visited{fill:#b3e5fc}.start{fill:#ffd54f}"
    ".goal{fill:#ce93d8}.hit{fill:#e57373}.grid{fill:none;stroke:#90a4ae;stroke-width:1}"
    ".path{fill:none;stroke:#2e7d32;stroke-width:4;stroke-linecap:round;stroke-linejoin:round;opacity:.8}"
    ".leap{stroke:#c62828;stroke-dasharray:4 6}"
    ".paper{fill:#fff}rect.sign{stroke:#90a4ae;stroke-width:1}.about{font:12px sans-serif;text-anchor:start}"
    "text{font:9px sans-serif;text-anchor:middle;fill:#263238}.name{font:bold 13px sans-serif}"
)
_LEGEND = (
    ("start", "start S"),
    ("goal", "goal G"),
    ("wall", "wall"),
    ("open", "open"),
    ("visited", "visited, in order"),
    ("hit", "wall called or answered"),
    ("path", "answered path"),
    ("path leap", "invalid step"),
)
"""CSS class → meaning; a legend explains the classes in its drawing."""
_ENTRY, _LINE = 160, 20
"""Width and height of a legend entry in pixels."""


def maze_svg(
    maze: Maze, visited: Sequence[int] = (), path: Sequence[int] = (), hit: Sequence[int] = (), title: str = "Maze"
) -> str:
    """Return a complete SVG document. Visited cells have their order; `hit` are walls called or answered.

    Steps between cells that are not adjacent are dashed and red. Cells outside the grid are left out.
    """
    side = maze.size * _CELL + 2
    inside = [cell for cell in path if 0 <= cell < maze.size**2]
    body = "\n".join([*_cells(maze, set(visited), set(hit)), *_path(maze, inside), *_labels(maze, visited)])
    shown = [(kind, text) for kind, text in _LEGEND if f'class="{kind}"' in body]
    columns = max(1, side // _ENTRY)
    width, height = max(side, _ENTRY), side + 8 + _LINE * ceil(len(shown) / columns)
    legend = "\n".join(_legend(shown, columns, side + 6))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {width} {height}" width="{width}" height="{height}">\n'
        f"<title>{escape_markup(title)}</title>\n<style>{_STYLE}</style>\n"
        f'<rect class="paper" x="-1" y="-1" width="{width}" height="{height}"/>\n{body}\n'
        f'<rect class="grid" x="0" y="0" width="{side - 2}" height="{side - 2}"/>\n{legend}\n</svg>\n'
    )


def _legend(shown: Sequence[tuple[str, str]], columns: int, top: int) -> Iterator[str]:
    """Yield symbols with their meaning, in rows below the maze."""
    for place, (kind, text) in enumerate(shown):
        row, column = divmod(place, columns)
        x, y = column * _ENTRY + 2, top + row * _LINE
        if kind.startswith("path"):
            yield f'<path class="{kind} sign" d="M{x} {y + 7}L{x + 14} {y + 7}"/>'
        else:
            yield f'<rect class="{kind} sign" x="{x}" y="{y}" width="14" height="14"/>'
        yield f'<text class="about" x="{x + 20}" y="{y + 11}">{text}</text>'


def _cells(maze: Maze, visited: set[int], hit: set[int]) -> Iterator[str]:
    named = {maze.start: "start", maze.goal: "goal"}
    for cell in range(maze.size**2):
        plain = "wall" if cell in maze.wall_set else "visited" if cell in visited else "open"
        row, column = divmod(cell, maze.size)
        kind = "hit" if cell in hit and plain == "wall" else named.get(cell, plain)
        place = f'x="{column * _CELL}" y="{row * _CELL}" width="{_CELL}" height="{_CELL}"'
        yield f'<rect class="{kind}" {place}><title>{cell}</title></rect>'


def _path(maze: Maze, path: Sequence[int]) -> Iterator[str]:
    for one, other in pairwise(path):
        (x1, y1), (x2, y2) = _centre(maze, one), _centre(maze, other)
        kind = "path" if maze.adjacent(one, other) else "path leap"
        yield f'<path class="{kind}" d="M{x1} {y1}L{x2} {y2}"/>'


def _labels(maze: Maze, visited: Sequence[int]) -> Iterator[str]:
    for order, cell in enumerate(visited):
        x, y = _centre(maze, cell)
        yield f'<text x="{x + 4}" y="{y + 10}">{order}</text>'
    for cell, name in ((maze.start, "S"), (maze.goal, "G")):
        x, y = _centre(maze, cell)
        yield f'<text class="name" x="{x - 3}" y="{y + 1}">{name}</text>'


def _centre(maze: Maze, cell: int) -> tuple[int, int]:
    row, column = divmod(cell, maze.size)
    return column * _CELL + _CELL // 2, row * _CELL + _CELL // 2


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


def maze_scene(record: ResultRecord) -> Scene:
    """Return the step-by-step picture of an episode."""
    (episode,) = maze_episodes([record])
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


class MazePictures:
    """Drawings of maze episodes for `graphwalk view` and `graphwalk play`."""

    formats = (".svg", ".txt")

    def drawings(self, records: Sequence[ResultRecord]) -> "Iterator[RenderableType]":
        """Yield title, verdict and drawing of every episode."""
        from rich.console import Group
        from rich.text import Text

        for episode in maze_episodes(records):
            drawn = draw(episode.maze, episode.walk.visited, episode.path, episode.hit)
            yield Group(Text(episode.title), Text(episode.verdict), drawn)

    def page(self, records: Sequence[ResultRecord], form: str, title: str) -> str:
        """Return all episodes as text, or the first one as SVG."""
        episodes = list(maze_episodes(records))
        if form == ".svg":
            first = episodes[0]
            named = f"{first.title}: {first.verdict}"
            return maze_svg(first.maze, first.walk.visited, first.path, first.hit, title=named)
        drawn = (draw(e.maze, e.walk.visited, e.path, e.hit).plain for e in episodes)
        return "\n".join(f"{e.title}\n{e.verdict}\n{text}\n" for e, text in zip(episodes, drawn, strict=True))


ROWS = (".jsonl", ".parquet")
"""Formats with a row per maze, written by `graphwalk.suites.mazes.commands`."""
FORMATS = (*ROWS, ".txt", ".svg")


def maze_format(path: Path, count: int = 1) -> str:
    """Return the format of a file name. Raise ConfigError if it is unknown, or SVG for several mazes."""
    form = path.suffix.lower()
    if form not in FORMATS:
        raise ConfigError(f"{path.name}: expected one of {', '.join(FORMATS)}", hint=f"--out {path.stem}.jsonl")
    if form == ".svg" and count > 1:
        raise ConfigError(f"{path.name}: an SVG file contains one maze, not {count}", hint="--count 1 --index N")
    return form


def save_mazes(mazes: Sequence[Maze], path: Path) -> None:
    """Write drawings to a .txt or .svg file. Raise ConfigError as `maze_format`."""
    if maze_format(path, len(mazes)) == ".svg":
        write_whole(path, [maze_svg(mazes[0], title=caption(mazes[0]))])
    else:
        write_whole(path, (f"{caption(maze)}\n{draw(maze).plain}\n" for maze in mazes))


def caption(maze: Maze) -> str:
    """Return one line about a maze."""
    name = f"maze {maze.index} of seed {maze.seed} ({maze.generator})"
    return f"{name}: cell {maze.start} to {maze.goal}, shortest path {maze.shortest_path_length} steps"
