"""A person's games that are logged: task after task, in a run of their own or beside the models of another."""

import re
import sys
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphwalk.asynchronous import Interrupted, run_async
from graphwalk.console import data, prose, say
from graphwalk.errors import ConfigError
from graphwalk.runs.progress import Progress
from graphwalk.settings import read_settings

if TYPE_CHECKING:
    from graphwalk.runs.experiment import Experiment
    from graphwalk.runs.result import Result
    from graphwalk.runs.run_folder import RunFolder
    from graphwalk.runs.worker_pool import HumanSession
    from graphwalk.suites.suite import ReadLine

_NAME = re.compile(r"[\w.-]{1,40}")


def typed_lines() -> "ReadLine":
    """What is typed: with completion, history and pages at a terminal, else as it comes."""
    from graphwalk.models.human import LineReader
    from graphwalk.models.prompt_reader import PromptReader

    return PromptReader() if sys.stdin.isatty() and sys.stdout.isatty() else LineReader()


def tell(result: "Result") -> None:
    """Right or not."""
    if result.score is None:
        say(f"error: the episode failed ({result.exit_status}): {result.trajectory.error}")
        return
    if result.score["correct"]:
        prose(f"right: {result.answer}")
        return
    given = "no answer was read" if result.answer is None else f"not right: {result.answer}"
    prose(f"{given}; the target: {result.task['gold']}")


def play_new_run(experiment: "Experiment", name: str) -> None:
    """The tasks of an experiment, in a new run folder."""
    from graphwalk.runs.execute import start_run
    from graphwalk.runs.run_folder import NewRun

    session = _session(name, experiment.config.settings[0])
    config = experiment.config.model_copy(update={"models": (session.model,)})
    new = NewRun.make(config.name)
    _play(
        new.folder,
        start_run(replace(experiment, config=config, models=(session.model,)), new, _Told(), session=session),
    )


def play_in_run(path: Path, name: str | None, setting: str | None) -> None:
    """The tasks of a run that others have played."""
    from graphwalk.runs.execute import resume_run
    from graphwalk.runs.run_folder import RunFolder

    folder = RunFolder.open(path)
    settings = folder.read_manifest()["config"]["settings"]
    if name is None:
        raise ConfigError("who plays in this run?", hint=f"graphwalk play {folder.quoted} --name NAME")
    if setting is not None and setting not in settings:
        raise ConfigError(f"{path} has no setting {setting!r}", hint=f"settings: {', '.join(settings)}")
    session = _session(name, setting or settings[0])
    _play(folder, resume_run(folder, read_settings(), _Told(), session=session))


def _play(folder: "RunFolder", work: Coroutine[Any, Any, Any]) -> None:
    goes_on = f"graphwalk play {folder.quoted} --name …"
    try:
        run_async(work)
    except Interrupted as interrupted:
        say(f"{interrupted}: stopped; what was answered is kept. To go on:  {goes_on}")
        raise
    say(f"run folder: {folder.path}   (graphwalk report {folder.quoted}; to go on: {goes_on})")


def _session(name: str, setting: str) -> "HumanSession":
    from graphwalk.runs.worker_pool import HumanSession

    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} cannot be a player's name", hint="letters, digits, dots and dashes: --name ida")
    read = typed_lines()

    async def goes_on() -> bool:
        data("\nEnter for the next task, quit to end.")
        line = await read()
        return line is not None and line.strip().lower() not in ("quit", "q", "exit")

    return HumanSession(f"human/{name}", setting, read, goes_on)


class _Told(Progress):
    """Says after each task how it went."""

    def finished(self, result: "Result") -> None:
        tell(result)

    def note(self, text: str) -> None:
        say(f"note: {text}")
