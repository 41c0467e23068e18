"""`graphwalk show`: the episodes of a run, or one episode in full."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

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
    wrong: Annotated[bool, typer.Option("--wrong", help="Only wrong answers.")] = False,
    cause: Annotated[str | None, typer.Option(help="Only wrong answers with this cause, for example misread.")] = None,
    unproven: Annotated[bool, typer.Option("--unproven", help="Only right answers that are not proven.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Show all episodes; of one, all rows and the system prompt.")
    ] = False,
) -> None:
    """Show an episode step by step, or list the episodes of a run.

    An episode has a question, calls with rows, answer and target, score, tokens and time. To page the output:
    FORCE_COLOR=1 graphwalk show … | less -R
    """
    from graphwalk.analysis.explained import explained
    from graphwalk.cli.episode_text import LISTED, episode_list
    from graphwalk.runs.folder import RunFolder
    from graphwalk.runs.record import EpisodeFilter, key_of

    folder = RunFolder.open(run, conversations=True)

    def is_wanted(record: Mapping[str, Any]) -> bool:
        score = record["score"] or {}
        if (wrong or cause is not None) and score.get("correct") is not False:
            return False
        if cause is not None and score.get("error_class") != cause:
            return False
        return not unproven or (bool(score.get("correct")) and score.get("proven") is False)

    needs_explanations = cause is not None or unproven
    records = {}
    causes = set()
    for record in explained(folder) if needs_explanations else folder.records():
        causes.add((record["score"] or {}).get("error_class"))
        if is_wanted(record):
            listed = {name: record[name] for name in LISTED}
            records[key_of(record)] = {**listed, "question": record["task"]["question"]}
    if not records and (wrong or needs_explanations):
        known = ", ".join(sorted(filter(None, causes)))
        raise ConfigError(f"{run} has no such episode", hint=f"causes in this run: {known}" if known else "")
    wanted = EpisodeFilter(None if model is None else (model,), None if setting is None else (setting,))
    keys = sorted(filter(wanted, records))
    if not keys:
        raise wanted.nothing(run, records)
    if task is not None:
        ids = sorted({key.task_id for key in keys})
        names = [task] if task in ids else [name for name in ids if task in name]
        if not names:
            raise ConfigError(f"no task {task}", hint=f"a task of this run: {', '.join(ids[:_MOST_NAMED])}, …")
        keys = [key for key in keys if key.task_id in names]
        if len(names) == 1:
            _print_episodes(folder, keys, everything)
            return
        say(f"'{task}' matches {len(names)} tasks")
    most = len(keys) if everything else _MOST_LISTED
    for line in episode_list([records[key] for key in keys[:most]]):
        stdout().print(line)
    if len(keys) > most:
        say(f"{len(keys) - most} more (--all). Show one with:  graphwalk show {folder.quoted} TASK")


def _print_episodes(folder: "RunFolder", keys: "Sequence[EpisodeKey]", everything: bool) -> None:
    from graphwalk.analysis.explained import explained
    from graphwalk.analysis.suite_analysis import scene_maker
    from graphwalk.cli.episode_text import shown_episode
    from graphwalk.runs.record import Result, key_of

    records = {key_of(record): record for record in explained(folder)}
    scene_of = scene_maker(folder)
    for number, key in enumerate(keys):
        if number:
            stdout().print("\n")
        for part in shown_episode(Result.from_dict(records[key]), scene_of(records[key]), everything=everything):
            stdout().print(part)
