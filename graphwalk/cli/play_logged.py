"""A person's games that are logged: task after task, in a run of their own or beside the models of another."""

import re
import sys
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphwalk.asynchronous import Interrupted, run_async
from graphwalk.console import data, prose, say
from graphwalk.environment import read_environment
from graphwalk.errors import ConfigError
from graphwalk.runner.progress import Silent

if TYPE_CHECKING:
    from graphwalk.runlog.result import Result
    from graphwalk.runlog.run_folder import RunFolder
    from graphwalk.runner.resolve import Experiment
    from graphwalk.runner.sitting import Sitting
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
    from graphwalk.runlog.run_folder import NewRun
    from graphwalk.runner.run import start_run

    sitting = _sitting(name, experiment.config.settings[0])
    config = experiment.config.model_copy(update={"models": (sitting.model,)})
    new = NewRun.make(config.name)
    _play(
        new.folder,
        start_run(replace(experiment, config=config, models=(sitting.model,)), new, _Told(), sitting=sitting),
    )


def play_in_run(path: Path, name: str | None, setting: str | None) -> None:
    """The tasks of a run that others have played."""
    from graphwalk.runlog.run_folder import RunFolder
    from graphwalk.runner.run import resume_run

    folder = RunFolder.open(path)
    settings = folder.read_manifest()["config"]["settings"]
    if name is None:
        raise ConfigError("who plays in this run?", hint=f"graphwalk play {folder.quoted} --name NAME")
    if setting is not None and setting not in settings:
        raise ConfigError(f"{path} has no setting {setting!r}", hint=f"settings: {', '.join(settings)}")
    sitting = _sitting(name, setting or settings[0])
    _play(folder, resume_run(folder, read_environment(), _Told(), sitting=sitting))


def _play(folder: "RunFolder", work: Coroutine[Any, Any, Any]) -> None:
    goes_on = f"graphwalk play {folder.quoted} --name …"
    try:
        run_async(work)
    except Interrupted as interrupted:
        say(f"{interrupted}: stopped; what was answered is kept. To go on:  {goes_on}")
        raise
    say(f"run folder: {folder.path}   (graphwalk report {folder.quoted}; to go on: {goes_on})")


def _sitting(name: str, setting: str) -> "Sitting":
    from graphwalk.runner.sitting import Sitting

    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} cannot be a player's name", hint="letters, digits, dots and dashes: --name ida")
    read = typed_lines()

    async def goes_on() -> bool:
        data("\nEnter for the next task, quit to end.")
        line = await read()
        return line is not None and line.strip().lower() not in ("quit", "q", "exit")

    return Sitting(f"human/{name}", setting, read, goes_on)


class _Told(Silent):
    """Says after each task how it went."""

    def finished(self, result: "Result") -> None:
        tell(result)

    def note(self, text: str) -> None:
        say(f"note: {text}")
