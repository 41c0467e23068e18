"""A maze as an SVG picture: walls, start and goal, the order of the exploration, the final path."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from graphwalk.suites.mazes.generator.maze import Maze

_CELL = 24
"""Pixels on a side of a cell."""
_STYLE = (
    "rect{stroke:#cfd8dc;stroke-width:.5}.wall{fill:#37474f}.open{fill:#fff}.visited{fill:#b3e5fc}.start{fill:#ffd54f}"
    ".goal{fill:#ce93d8}.hit{fill:#e57373}.grid{fill:none;stroke:#90a4ae;stroke-width:1}"
    ".path{fill:none;stroke:#2e7d32;stroke-width:4;stroke-linecap:round;stroke-linejoin:round;opacity:.8}"
    ".leap{stroke:#c62828;stroke-dasharray:4 6}"
    "text{font:9px sans-serif;text-anchor:middle;fill:#263238}.name{font:bold 13px sans-serif}"
)


def maze_svg(
    maze: Maze, visited: Sequence[int] = (), path: Sequence[int] = (), hit: Sequence[int] = (), title: str = "Maze"
) -> str:
    """A complete SVG document. Visited cells carry their mark_order; `hit` are walls asked for or walked into.

    Steps of the path between cells that share no edge are dashed and red. Cells outside the grid are left out.
    """
    side = maze.size * _CELL + 2
    inside = [cell for cell in path if 0 <= cell < maze.size**2]
    body = "\n".join([*_cells(maze, set(visited), set(hit)), *_path(maze, inside), *_labels(maze, visited)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {side} {side}" width="{side}" height="{side}">\n'
        f"<title>{_escaped(title)}</title>\n<style>{_STYLE}</style>\n{body}\n"
        f'<rect class="grid" x="0" y="0" width="{side - 2}" height="{side - 2}"/>\n</svg>\n'
    )


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
