"""Registry of suites; other packages add theirs with entry points of the group `graphwalk.suites`."""

import inspect
from typing import Any

from graphwalk.config.registry import Registry
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
_ATTRIBUTES = ("name", "settings", "config_type", "task_type", "score_type")


def suite_class(name: str) -> type[Suite[Any, Any]]:
    """Return the class of a suite. Raise ConfigError for an unknown name or an incomplete class."""
    suite = SUITES.load(name)
    if not (inspect.isclass(suite) and issubclass(suite, Suite)):
        raise ConfigError(f"the suite {name!r} is not a class derived from graphwalk.suites.suite.Suite: {suite!r}")
    missing = [attribute for attribute in _ATTRIBUTES if not hasattr(suite, attribute)]
    missing += [f"{method}()" for method in sorted(suite.__abstractmethods__)]
    if not missing:
        missing += [f"{suite.task_type.__name__}.{method}()" for method in sorted(suite.task_type.__abstractmethods__)]
    if missing or suite.name != name:
        mistake = f"missing {', '.join(missing)}" if missing else f"its class has the name {suite.name!r}"
        raise ConfigError(f"the suite {name!r}: {mistake}", hint="docs/extending.md has a complete example")
    return suite


def suite_named(name: str) -> Suite[Any, Any]:
    """Return a suite. Raise ConfigError like `suite_class`."""
    return suite_class(name)()
