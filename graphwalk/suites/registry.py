"""Registry of suites; other packages add theirs with entry points of the group `graphwalk.suites`."""

from typing import Any

from graphwalk.config.resources import Registry
from graphwalk.errors import ConfigError
from graphwalk.suites.suite import Suite

SUITES = Registry(
    "suite",
    "graphwalk.suites",
    {
        "questions": "graphwalk.suites.questions.suite:QuestionsSuite",
        "mazes": "graphwalk.suites.mazes.suite:MazesSuite",
        "magma": "graphwalk.suites.magma.suite:MagmaSuite",
        "graphwalks": "graphwalk.suites.graphwalks.suite:GraphwalksSuite",
        "own_questions": "graphwalk.suites.own_questions.suite:OwnQuestionsSuite",
    },
)
_REQUIRED = ("name", "settings", "config_type", "task_type", "score_type")


def suite_named(name: str) -> Suite[Any, Any]:
    """Return a suite. Raise ConfigError for an unknown name or an incomplete class."""
    suite: type[Suite[Any, Any]] = SUITES.load(name)
    if missing := [attribute for attribute in _REQUIRED if not hasattr(suite, attribute)]:
        raise ConfigError(
            f"the suite {name!r} lacks {', '.join(missing)}", hint="docs/extending.md has a complete example"
        )
    return suite()
