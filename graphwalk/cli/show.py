"""`graphwalk show`: the episodes of a run, or one episode in full."""

from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.cli.options import RunOrFile
from graphwalk.errors import ConfigError
from graphwalk.terminal import say, stdout

if TYPE_CHECKING:
    from graphwalk.runs.folder import RunFolder
    from graphwalk.runs.record import EpisodeKey

_MOST_LISTED = 40
_MOST_NAMED = 8


def show(
    run: RunOrFile,
    task: Annotated[
        str | None,
        typer.Argument(help="Task id, or part of it. Default: all tasks."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Only this model.")] = None,
    setting: Annotated[str | None, typer.Option(help="Only this setting.")] = None,
    all_rows: Annotated[bool, typer.Option("--all", help="Show all rows and all episodes.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="Show the system prompt.")] = False,
) -> None:
    """Show an episode step by step, or list the episodes of a run.

    An episode has a question, calls with rows, answer and target, score, tokens and time. To page the output:
    FORCE_COLOR=1 graphwalk show … | less -R
    """
    from graphwalk.cli.episode_text import LISTED, episode_list
    from graphwalk.runs.folder import RunFolder
    from graphwalk.runs.record import EpisodeFilter, key_of

    folder = RunFolder.open(run, conversations=True)
    keys = {key_of(record): {name: record[name] for name in LISTED} for record in folder.records()}
    wanted = EpisodeFilter(None if model is None else (model,), None if setting is None else (setting,))
    chosen = [key for key in keys if wanted(key)]
    if not chosen:
        raise wanted.nothing(run, keys)
    names = None
    if task is not None:
        ids = sorted({key.task_id for key in chosen})
        names = [task] if task in ids else [name for name in ids if task in name]
        if not names:
            raise ConfigError(f"no task {task}", hint=f"a task of this run: {', '.join(ids[:_MOST_NAMED])}, …")
    if names is not None and len(names) == 1:
        _episodes(folder, {key for key in chosen if key.task_id in names}, None if all_rows else 10, prompt)
        return
    listed = [keys[key] for key in sorted(chosen) if names is None or key.task_id in names]
    if names is not None:
        say(f"'{task}' matches {len(names)} tasks")
    most = len(listed) if all_rows else _MOST_LISTED
    for line in episode_list(listed[:most]):
        stdout().print(line)
    if len(listed) > most:
        say(f"{len(listed) - most} more (--all). Show one with:  graphwalk show {folder.quoted} TASK")


def _episodes(folder: "RunFolder", keys: "set[EpisodeKey]", most_rows: int | None, prompt: bool) -> None:
    from graphwalk.analysis.explained import explained
    from graphwalk.analysis.suite_analysis import scene_maker
    from graphwalk.cli.episode_text import shown_episode
    from graphwalk.runs.record import Result, key_of

    records = {key: record for record in explained(folder) if (key := key_of(record)) in keys}
    scene_of = scene_maker(folder)
    for number, key in enumerate(sorted(records)):
        if number:
            stdout().print("\n")
        record = records[key]
        for part in shown_episode(Result.from_dict(record), scene_of(record), most_rows=most_rows, prompt=prompt):
            stdout().print(part)
