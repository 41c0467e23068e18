"""A maze as an SVG picture: walls, start and goal, the order of the exploration, the final path."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil

from graphwalk.suites.mazes.generator.maze import Maze

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
        f"<title>{_escaped(title)}</title>\n<style>{_STYLE}</style>\n"
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


def _escaped(text: str) -> str:
    """Text that means nothing to XML; what XML cannot hold at all is replaced."""
    plain = "".join(c if c.isprintable() and not 0xD800 <= ord(c) <= 0xDFFF else "�" for c in text)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
