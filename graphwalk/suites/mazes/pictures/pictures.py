"""Episodes in mazes as pictures: in the terminal, as one drawing, as text."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphwalk.report.declared import ResultRecord
from graphwalk.suites.mazes.episodes import maze_episodes
from graphwalk.suites.mazes.pictures.drawing import draw
from graphwalk.suites.mazes.pictures.svg import maze_svg

if TYPE_CHECKING:
    from rich.console import RenderableType


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
