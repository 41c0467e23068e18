"""Draw mazes and walks as text, SVG and scenes."""

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
"""Signs tell everything; colours only help."""


def draw_with_keys(maze: Maze) -> str:
    """The maze in a border, one line per row: keys in open cells, `#` for walls, S and G before start and goal."""
    width = len(str(maze.size**2 - 1)) + 1
    border = "+" + "-" * (maze.size * (width + 1) + 1) + "+"
    return "\n".join([border, *(_row(maze, row, width) for row in range(maze.size)), border])


def _row(maze: Maze, row: int, width: int) -> str:
    cells = range(row * maze.size, (row + 1) * maze.size)
    return "| " + " ".join(_named(maze, cell).rjust(width) for cell in cells) + " |"


def _named(maze: Maze, cell: int) -> str:
    if cell in maze.wall_set:
        return "#" * len(str(maze.size**2 - 1))
    return {maze.start: "S", maze.goal: "G"}.get(cell, "") + str(cell)


def draw(
    maze: Maze,
    visited: Collection[int] = (),
    path: Sequence[int] = (),
    hit: Collection[int] = (),
    known: Collection[int] | None = None,
) -> "Text":
    """The maze for a terminal, two columns a cell: visited cells dotted, the path in full dots, walls hit shaded.

    `known`: what is drawn besides start and goal, the rest being in the dark; None: everything.
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
"""Pixels on a side of a cell."""
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
    ("hit", "wall run into"),
    ("path", "path answered"),
    ("path leap", "step that is none"),
)
"""Classes of what is drawn, and what they mean; a drawing explains those that are in it."""
_ENTRY, _LINE = 132, 20
"""Room for an entry of the legend."""


def maze_svg(
    maze: Maze, visited: Sequence[int] = (), path: Sequence[int] = (), hit: Sequence[int] = (), title: str = "Maze"
) -> str:
    """A complete SVG document. Visited cells carry their mark_order; `hit` are walls asked for or walked into.

    Steps of the path between cells that share no edge are dashed and red. Cells outside the grid are left out.
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
    """A sign and its meaning, row by row below the maze."""
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


_SAYS = {
    "visit": "visits cell {}",
    "jump": "jumps to cell {}",
    "revisit": "visits cell {} once more",
    "wall": "asks for cell {}, a wall",
    "other": "calls a tool that is not the maze's own",
    "path": "asks for the path that joins the visited cells",
}
_SCENE_LEGEND = {
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
        legend=_SCENE_LEGEND,
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


class MazePictures:
    """How `graphwalk view` and `graphwalk play` show walks through mazes."""

    formats = (".svg", ".txt")

    def drawings(self, records: Sequence[ResultRecord]) -> "Iterator[RenderableType]":
        """Title, verdict and drawing of every walk."""
        from rich.console import Group
        from rich.text import Text

        for episode in maze_episodes(records):
            drawn = draw(episode.maze, episode.walk.visited, episode.path, episode.hit)
            yield Group(Text(episode.title), Text(episode.verdict), drawn)

    def page(self, records: Sequence[ResultRecord], form: str, title: str) -> str:
        """All walks; a picture holds the first one."""
        episodes = list(maze_episodes(records))
        if form == ".svg":
            first = episodes[0]
            named = f"{first.title}: {first.verdict}"
            return maze_svg(first.maze, first.walk.visited, first.path, first.hit, title=named)
        drawn = (draw(e.maze, e.walk.visited, e.path, e.hit).plain for e in episodes)
        return "\n".join(f"{e.title}\n{e.verdict}\n{text}\n" for e, text in zip(episodes, drawn, strict=True))


ROWS = (".jsonl", ".parquet")
"""Those with a row for each maze (`graphwalk.suites.mazes.commands`)."""
FORMATS = (*ROWS, ".txt", ".svg")


def maze_format(path: Path, count: int = 1) -> str:
    """The form that a file name asks for. ConfigError for another ending, or for several mazes in one picture."""
    form = path.suffix.lower()
    if form not in FORMATS:
        raise ConfigError(f"{path.name}: mazes are written as {', '.join(FORMATS)}", hint=f"--out {path.stem}.jsonl")
    if form == ".svg" and count > 1:
        raise ConfigError(f"{path.name}: a picture holds one maze, not {count}", hint="--count 1, and --index N")
    return form


def save_mazes(mazes: Sequence[Maze], path: Path) -> None:
    """Draw mazes in the form of the file name, .txt or .svg. ConfigError where that is not possible."""
    if maze_format(path, len(mazes)) == ".svg":
        write_whole(path, [maze_svg(mazes[0], title=caption(mazes[0]))])
    else:
        write_whole(path, (f"{caption(maze)}\n{draw(maze).plain}\n" for maze in mazes))


def caption(maze: Maze) -> str:
    """One line about a maze."""
    made = f"maze {maze.index} of seed {maze.seed} ({maze.generator})"
    return f"{made}: from cell {maze.start} to {maze.goal} in {maze.shortest_path_length} steps or more"
