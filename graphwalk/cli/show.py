"""`graphwalk show`: a run at a glance, and one episode word for word."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.cli.options import run_folders, tasks_of_run
from graphwalk.console import draw, say, stdout
from graphwalk.errors import ConfigError

if TYPE_CHECKING:
    from graphwalk.runs.result import EpisodeKey
    from graphwalk.runs.run_folder import RunFolder

_MOST_LISTED = 40
_MOST_NAMED = 8


def show(
    run: Annotated[Path, typer.Argument(help="A run folder or a published run.", autocompletion=run_folders)],
    task: Annotated[
        str | None,
        typer.Argument(
            help="A task, or a part of its id; several that have it are listed. None: all.", autocompletion=tasks_of_run
        ),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Only this model.")] = None,
    setting: Annotated[str | None, typer.Option(help="Only this setting.")] = None,
    all_rows: Annotated[bool, typer.Option("--all", help="All rows of each result, and all episodes.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="With the instructions that the model was given.")] = False,
) -> None:
    """Show one episode: question, calls with their rows, answer against target, score, tokens and time.

    Without a task: accuracy as bars, and the list of episodes. FORCE_COLOR=1 graphwalk show … | less -R   pages it.
    """
    from graphwalk.cli.episode_text import bars, episode_list
    from graphwalk.runs.listing import heads
    from graphwalk.runs.reporting import report_of
    from graphwalk.runs.result import EpisodeFilter, key_of
    from graphwalk.runs.run_folder import RunFolder

    folder = RunFolder.open(run)
    keys = {key_of(head): head for head in heads(folder)}
    wanted = EpisodeFilter(None if model is None else (model,), None if setting is None else (setting,))
    chosen = [key for key in keys if wanted(key)]
    if not chosen:
        raise wanted.nothing(run, keys)
    names = None if task is None else _named(task, sorted({key.task_id for key in chosen}))
    if names is not None and len(names) == 1:
        _episodes(folder, {key for key in chosen if key.task_id in names}, None if all_rows else 10, prompt)
        return
    listed = [keys[key] for key in sorted(chosen) if names is None or key.task_id in names]
    if names is None:
        for table in bars(report_of(folder), stdout().width):
            stdout().print(table)
            stdout().print()
    else:
        say(f"{task} is a part of {len(names)} tasks")
    most = len(listed) if all_rows else _MOST_LISTED
    for line in episode_list(listed[:most]):
        stdout().print(line)
    if len(listed) > most:
        say(f"{len(listed) - most} more, shown by --all; one of them: graphwalk show {folder.quoted} TASK")


def _named(asked: str, tasks: Sequence[str]) -> Sequence[str]:
    """Return the task with this name, else those that begin so, else those that contain it. ConfigError if none."""
    for found in (
        [name for name in tasks if name == asked],
        [name for name in tasks if name.startswith(asked)],
        [name for name in tasks if asked in name],
    ):
        if found:
            return found
    raise ConfigError(f"there is no task {asked}", hint=f"{', '.join(tasks[:_MOST_NAMED])}, …")


def _episodes(folder: "RunFolder", keys: "set[EpisodeKey]", most_rows: int | None, prompt: bool) -> None:
    from graphwalk.cli.episode_text import shown_episode
    from graphwalk.runs.result import Result, key_of
    from graphwalk.suites.registry import suite_named

    records = {key: record for record in folder.records() if (key := key_of(record)) in keys}
    pictures = suite_named(folder.read_manifest()["config"]["suite"]["name"]).presentation.pictures
    for number, key in enumerate(sorted(records)):
        if number:
            stdout().print("\n")
        for part in shown_episode(Result.from_dict(records[key]), most_rows=most_rows, prompt=prompt):
            stdout().print(part)
        for drawing in pictures.drawings([records[key]]) if pictures is not None else ():
            stdout().print()
            draw(drawing)
