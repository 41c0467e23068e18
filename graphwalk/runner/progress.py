"""What a run tells the person who waits for it."""

import logging
from collections.abc import Mapping
from typing import Protocol

from graphwalk.models.prices import KnownPrice
from graphwalk.runlog.result import Result
from graphwalk.types.chat import Usage


class Progress(Protocol):
    """Called from the run's event loop; must not block."""

    def planning(self, tasks: int) -> None:
        """So many tasks are made so far."""

    def priced(self, spent: Usage, prices: Mapping[str, KnownPrice]) -> None:
        """What an earlier process spent on this run, and the prices by model that are known. Before `started`."""

    def started(self, episodes: int, done: int) -> None:
        """The plan is whole; `done` episodes were finished by an earlier process. Some of a new run may be by now."""

    def finished(self, result: Result) -> None:
        """An episode is on disk."""

    def note(self, text: str) -> None:
        """Something that a person should know."""


class Logged:
    """Tells `progress`, and writes it down."""

    def __init__(self, progress: Progress, logger: logging.Logger) -> None:
        self._progress, self._logger = progress, logger
        self.planning = progress.planning
        self.priced = progress.priced

    def started(self, episodes: int, done: int) -> None:
        self._logger.info("%d episodes planned, %d of them done before", episodes, done)
        self._progress.started(episodes, done)

    def finished(self, result: Result) -> None:
        level = logging.WARNING if result.exit_status.infrastructure else logging.DEBUG
        told = result.trajectory.error or f"correct: {bool(result.score and result.score['correct'])}"
        self._logger.log(level, "%s: %s, %s", " ".join(map(str, result.key)), result.exit_status, told)
        self._progress.finished(result)

    def note(self, text: str) -> None:
        self._logger.warning("%s", text)
        self._progress.note(text)


class Silent:
    """Tells nobody."""

    def planning(self, tasks: int) -> None: ...

    def priced(self, spent: Usage, prices: Mapping[str, KnownPrice]) -> None: ...

    def started(self, episodes: int, done: int) -> None: ...

    def finished(self, result: Result) -> None: ...

    def note(self, text: str) -> None: ...
