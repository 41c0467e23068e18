"""Suites by name."""

from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.suites.suite import Suite

NAMES = ("questions", "mazes", "magma")


def suite_named(name: str) -> Suite[Any]:
    """A fresh suite; it may keep things for the length of a run. ConfigError for an unknown name."""
    if name == "questions":
        from graphwalk.suites.questions.suite import QuestionsSuite

        return QuestionsSuite()
    if name == "mazes":
        from graphwalk.suites.mazes.suite import MazesSuite

        return MazesSuite()
    if name == "magma":
        from graphwalk.suites.magma.suite import MagmaSuite

        return MagmaSuite()
    raise ConfigError(f"there is no suite {name!r}", hint=f"suites: {', '.join(NAMES)}")
