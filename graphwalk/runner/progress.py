"""What a run tells the person who waits for it."""

from typing import Protocol

from graphwalk.runlog.result import Result


class Progress(Protocol):
    """Called from the run's event loop; must not block."""

    def planning(self, tasks: int) -> None:
        """So many tasks are made so far."""

    def started(self, episodes: int, done: int) -> None:
        """The plan is ready; `done` episodes were finished by an earlier process."""

    def finished(self, result: Result) -> None:
        """An episode is on disk."""

    def note(self, text: str) -> None:
        """Something that a person should know."""


class Silent:
    """Tells nobody."""

    def planning(self, tasks: int) -> None: ...

    def started(self, episodes: int, done: int) -> None: ...

    def finished(self, result: Result) -> None: ...

    def note(self, text: str) -> None: ...
