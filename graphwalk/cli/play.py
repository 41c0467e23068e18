"""`graphwalk play maze`: a person in the place of the model: the same loop, prompt, tools and score."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from graphwalk.config.specs import MazeSpec
    from graphwalk.suites.mazes.episodes import MazeEpisode

app = typer.Typer(help="Play an experiment yourself.", no_args_is_help=True)


@app.callback()
def play() -> None:
    """Play an experiment yourself."""


@app.command("maze")
def maze(
    size: Annotated[int, typer.Option(help="Cells on a side.")] = 10,
    walls: Annotated[float, typer.Option(help="Share of the cells that are walls.")] = 0.5,
    min_path: Annotated[int, typer.Option(help="Steps from start to goal, at least.")] = 15,
    generator: Annotated[str, typer.Option(help="random, depth_first, kruskal, prim, wilson or rooms.")] = "random",
    seed: Annotated[int, typer.Option(help="Same seed, same maze.")] = 0,
    index: Annotated[int, typer.Option(min=0, help="Number in the series of a seed.")] = 0,
    turn_limit: Annotated[int, typer.Option(min=1, help="Calls before the answer is asked for.")] = 60,
    strict: Annotated[bool, typer.Option("--strict", help="No jumps: only cells next to visited ones.")] = False,
    out: Annotated[Path | None, typer.Option(help="FILE.html: your walk as an animation.")] = None,
) -> None:
    """Find the way through a maze with the tools that a model has."""
    from graphwalk.cli.asynchronous import run_async
    from graphwalk.cli.console import data, stdout
    from graphwalk.config.loading import validate
    from graphwalk.config.specs import MazeSpec
    from graphwalk.generators.maze_files import write_whole
    from graphwalk.suites.mazes.animation import walk_html
    from graphwalk.suites.mazes.drawing import draw

    given = {"size": size, "walls": walls, "min_path": min_path, "generator": generator, "offset": index}
    spec = validate(MazeSpec, given, "play maze")
    episode = run_async(_played(spec, seed, turn_limit, strict, LineReader()))
    stdout().print(draw(episode.maze, episode.walk.visited, episode.path, episode.hit))
    data(episode.verdict)
    if out is not None:
        write_whole(out, [walk_html([episode], "A walk through a maze")])


async def _played(
    spec: "MazeSpec", seed: int, turn_limit: int, strict: bool, read: Callable[[], Awaitable[str | None]]
) -> "MazeEpisode":
    """One episode with a person as the model."""
    from graphwalk.agent.loop import Walk, run_episode
    from graphwalk.cli.maze_player import MazePlayer
    from graphwalk.config.experiment import AgentConfig
    from graphwalk.generators.maze import generate_maze
    from graphwalk.generators.maze_graph import maze_graph
    from graphwalk.stores.embedded import EmbeddedDatabase
    from graphwalk.suites.mazes.episodes import MazeEpisode, verdict
    from graphwalk.suites.mazes.scoring import path_cells
    from graphwalk.suites.mazes.suite import MazesSuite, make_task
    from graphwalk.suites.mazes.walk import walk_of
    from graphwalk.suites.suite import World
    from graphwalk.types.chat import CallOptions

    maze = generate_maze(spec, seed, spec.offset)
    graph = maze_graph(maze)
    task, suite, agent = make_task(maze, graph.digest, strict=strict), MazesSuite(), AgentConfig(turn_limit=turn_limit)
    store = await EmbeddedDatabase().load(graph)
    episode = await suite.episode(task, "tools", World(graph.digest, graph, maze), store, agent)
    trajectory = await run_episode(Walk(episode, MazePlayer(task, read), agent, CallOptions()))
    extraction = suite.extract(task, trajectory.reply)
    score = suite.score(task, "tools", trajectory, extraction)
    path = tuple(path_cells(maze, extraction.answer))
    return MazeEpisode("human", maze, walk_of(maze, trajectory.results), path, verdict(score, task))


class LineReader:
    """Lines of a file descriptor. A thread reads them, so that a signal ends the game at once."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._thread: threading.Thread | None = None

    async def __call__(self) -> str | None:
        """The next line without its end, None where there are no more."""
        if self._thread is None:
            pump = threading.Thread(target=self._pump, args=(asyncio.get_running_loop(),), daemon=True)
            self._thread = pump
            pump.start()
        return await self._lines.get()

    def _pump(self, loop: asyncio.AbstractEventLoop) -> None:
        rest = b""
        # Not a file object: its lock, held by this thread, would keep the interpreter from ending.
        while block := os.read(self._descriptor, 4096):
            *whole, rest = (rest + block).split(b"\n")
            self._pass_on(loop, [line.decode("utf-8", "replace") for line in whole])
        self._pass_on(loop, [*([rest.decode("utf-8", "replace")] if rest else []), None])

    def _pass_on(self, loop: asyncio.AbstractEventLoop, lines: list[str | None]) -> None:
        # The game may be over while somebody still types.
        with suppress(RuntimeError):
            for line in lines:
                loop.call_soon_threadsafe(self._lines.put_nowait, line)
