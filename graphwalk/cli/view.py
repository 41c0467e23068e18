"""`graphwalk view`: episodes in mazes as pictures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from graphwalk.suites.mazes.episodes import MazeEpisode

_MOST = 500
"""Episodes in one page."""


def view(
    folder: Annotated[Path, typer.Argument(help="A run folder of an experiment with mazes.")],
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Only this model.")] = None,
    setting: Annotated[str | None, typer.Option(help="Only tools or no_tools.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="FILE.html (animation), FILE.svg or FILE.txt. None: draw in the terminal."),
    ] = None,
) -> None:
    """Show how models walked through mazes.

    The exploration step by step and the path they answered: drawn in the terminal, or as a picture or an animation.
    """
    from graphwalk.cli.console import say
    from graphwalk.generators.maze_files import write_whole

    asked = {"task_id": task, "model": model, "setting": setting}
    episodes = _episodes(folder, {name: value for name, value in asked.items() if value is not None})
    if out is None:
        _draw(episodes)
        return
    write_whole(out, [_page(episodes, out, folder)])
    say(f"written to {out}")
    if out.suffix.lower() == ".svg" and len(episodes) > 1:
        say(f"a picture holds one walk, this is the first of {len(episodes)}: choose with --task, --model, --setting")


def _episodes(folder: Path, asked: dict[str, str]) -> "list[MazeEpisode]":
    from graphwalk.errors import ConfigError
    from graphwalk.runlog.result import key_of
    from graphwalk.runlog.run_folder import RunFolder
    from graphwalk.suites.mazes.episodes import maze_episodes

    run = RunFolder.open(folder)
    suite = run.read_manifest()["config"]["suite"]["name"]
    if suite != "mazes":
        raise ConfigError(f"{folder} is a run of the suite {suite}, and only mazes can be viewed")
    chosen = {key_of(r): r for r in run.records() if all(r[name] == value for name, value in asked.items())}
    episodes = list(maze_episodes(chosen[key] for key in sorted(chosen)[:_MOST]))
    if not episodes:
        what = ", ".join(f"{name} {value}" for name, value in asked.items())
        raise ConfigError(f"{folder} has no episode{f' with {what}' if what else ''}")
    return episodes


def _page(episodes: "list[MazeEpisode]", out: Path, folder: Path) -> str:
    from graphwalk.errors import ConfigError
    from graphwalk.suites.mazes.animation import walk_html
    from graphwalk.suites.mazes.drawing import draw
    from graphwalk.suites.mazes.svg import maze_svg

    form, first = out.suffix.lower(), episodes[0]
    if form == ".html":
        return walk_html(episodes, f"Walks through mazes: {folder.name}")
    if form == ".svg":
        return maze_svg(first.maze, first.walk.visited, first.path, first.hit, title=f"{first.title}: {first.verdict}")
    if form == ".txt":
        drawn = (draw(e.maze, e.walk.visited, e.path, e.hit).plain for e in episodes)
        return "\n".join(f"{e.title}\n{e.verdict}\n{text}\n" for e, text in zip(episodes, drawn, strict=True))
    raise ConfigError(f"{out.name}: walks are written as .html, .svg or .txt", hint=f"--out {out.stem}.html")


def _draw(episodes: "list[MazeEpisode]") -> None:
    from graphwalk.cli.console import data, printable, stdout
    from graphwalk.suites.mazes.drawing import draw

    for episode in episodes:
        data(printable(f"{episode.title}\n{episode.verdict}"))
        stdout().print(draw(episode.maze, episode.walk.visited, episode.path, episode.hit))
