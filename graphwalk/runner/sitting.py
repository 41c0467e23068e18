"""A person who takes part in a run: whose episodes they are, and what that means for the others."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from graphwalk.models.registry import is_person
from graphwalk.runlog.result import EpisodeKey
from graphwalk.suites.suite import ReadLine


@dataclass(frozen=True)
class Sitting:
    """A person at the terminal, who plays the tasks of a run in one setting, one after the other."""

    model: str
    """human/NAME"""
    setting: str
    read: ReadLine
    goes_on: Callable[[], Awaitable[bool]]
    """Asked before each task but the first."""

    def plays(self, key: EpisodeKey) -> bool:
        return (key.model, key.setting, key.repeat) == (self.model, self.setting, 0)


def is_played_by_itself(key: EpisodeKey) -> bool:
    """True for an episode of a program; those of people wait for them, and no run is unfinished without them."""
    return not is_person(key.model)
