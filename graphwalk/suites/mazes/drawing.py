"""A maze as text, for prompts without tools."""

from graphwalk.suites.mazes.config import Layout
from graphwalk.suites.mazes.generate import Maze


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
