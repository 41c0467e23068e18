"""`graphwalk show`: the episodes of a run, or one episode in full."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphwalk.cli.options import RunOrFile
from graphwalk.errors import ConfigError
from graphwalk.terminal import print_message, stdout

if TYPE_CHECKING:
    from graphwalk.runs.folder import RunFolder
    from graphwalk.runs.record import EpisodeKey

_MOST_LISTED = 40
_MOST_NAMED = 8


@dataclass(frozen=True)
class _Wanted:
    """The answers that the options ask for."""

    wrong: bool
    cause: str | None
    unproven: bool

    @property
    def needs_explanations(self) -> bool:
        return self.cause is not None or self.unproven

    def fits(self, record: Mapping[str, Any]) -> bool:
        score = record["score"] or {}
        is_right = score.get("correct")
        if self.wrong and is_right is not False:
            return False
        if self.cause is not None and (is_right is not False or score.get("error_class") != self.cause):
            return False
        if self.unproven:
            return bool(is_right) and score.get("proven") is False
        return True


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
    wanted = _Wanted(wrong, cause, unproven)
    records = {}
    causes = set()
    # Explaining takes seconds; most lists need none of it.
    recorded = explained(folder) if wanted.needs_explanations else folder.records()
    for record in recorded:
        causes.add((record["score"] or {}).get("error_class"))
        if wanted.fits(record):
            listed = {name: record[name] for name in LISTED}
            listed["question"] = record["task"]["question"]
            records[key_of(record)] = listed
    if not records and (wrong or wanted.needs_explanations):
        names_of_causes = ", ".join(sorted(name for name in causes if name))
        hint = f"causes in this run: {names_of_causes}" if names_of_causes else ""
        raise ConfigError(f"{run} has no such episode", hint=hint)

    episode_filter = EpisodeFilter(None if model is None else (model,), None if setting is None else (setting,))
    keys = sorted(key for key in records if episode_filter(key))
    if not keys:
        raise episode_filter.nothing(run, records)

    if task is not None:
        ids = _matching_ids(task, keys)
        keys = [key for key in keys if key.task_id in ids]
        if len(ids) == 1:
            _print_episodes(folder, keys, everything)
            return
        print_message(f"'{task}' matches {len(ids)} tasks")

    most = len(keys) if everything else _MOST_LISTED
    for line in episode_list([records[key] for key in keys[:most]]):
        stdout().print(line)
    if len(keys) > most:
        print_message(f"{len(keys) - most} more (--all). Show one with:  graphwalk show {folder.quoted} TASK")


def _matching_ids(task: str, keys: "Sequence[EpisodeKey]") -> list[str]:
    """Return the task id `task`, else the ids that contain it. Raise ConfigError without any."""
    ids = sorted({key.task_id for key in keys})
    if task in ids:
        return [task]
    matching = [id_ for id_ in ids if task in id_]
    if not matching:
        raise ConfigError(f"no task {task}", hint=f"a task of this run: {', '.join(ids[:_MOST_NAMED])}, …")
    return matching


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
