"""What a run tells the person who waits for it."""

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
        """The plan is ready; `done` episodes were finished by an earlier process."""

    def finished(self, result: Result) -> None:
        """An episode is on disk."""

    def note(self, text: str) -> None:
        """Something that a person should know."""


class Silent:
    """Tells nobody."""

    def planning(self, tasks: int) -> None: ...

    def priced(self, spent: Usage, prices: Mapping[str, KnownPrice]) -> None: ...

    def started(self, episodes: int, done: int) -> None: ...

    def finished(self, result: Result) -> None: ...

    def note(self, text: str) -> None: ...
