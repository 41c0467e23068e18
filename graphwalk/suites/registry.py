"""Registry of suites; other packages add theirs with entry points of the group `graphwalk.suites`."""

import inspect
from collections.abc import Iterator
from typing import Any

from graphwalk.config.registry import Registry
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.suites.suite import Player, Suite
from graphwalk.suites.task import Task
from graphwalk.types.episode import Score

SUITES = Registry(
    "suite",
    "graphwalk.suites",
    {
        "questions": "graphwalk.suites.questions.suite:QuestionsSuite",
        "mazes": "graphwalk.suites.mazes.suite:MazesSuite",
        "magma": "graphwalk.suites.magma.suite:MagmaSuite",
        "graphwalks": "graphwalk.suites.graphwalks.suite:GraphwalksSuite",
        "ask": "graphwalk.suites.ask.suite:AskSuite",
        "own_questions": "graphwalk.suites.own_questions.suite:OwnQuestionsSuite",
    },
)
_ATTRIBUTES = ("name", "settings", "config_type", "task_type", "score_type")


def suite_class(name: str) -> type[Suite[Any, Any]]:
    """Return the class of a suite. Raise ConfigError for an unknown name or an incomplete class."""
    suite = SUITES.load(name)
    if not (inspect.isclass(suite) and issubclass(suite, Suite)):
        raise ConfigError(f"the suite {name!r} is not a class derived from graphwalk.suites.suite.Suite: {suite!r}")
    if mistake := next(_mistakes(name, suite), None):
        raise ConfigError(f"the suite {name!r}: {mistake}", hint="docs/extending.md has a complete example")
    return suite


def _mistakes(name: str, suite: type[Suite[Any, Any]]) -> Iterator[str]:
    missing = [attribute for attribute in _ATTRIBUTES if not hasattr(suite, attribute)]
    missing += [f"{method}()" for method in sorted(suite.__abstractmethods__)]
    if missing:
        yield f"missing {', '.join(missing)}"
    if suite.name != name:
        yield f"its class has the name {suite.name!r}"
    for attribute, parent in (("config_type", SuiteConfig), ("task_type", Task), ("score_type", Score)):
        value = getattr(suite, attribute)
        if not (inspect.isclass(value) and issubclass(value, parent)):
            yield f"{attribute} is not derived from {parent.__module__}.{parent.__name__}"
    if methods := sorted(getattr(suite.task_type, "__abstractmethods__", ())):
        yield f"{suite.task_type.__name__} lacks {', '.join(f'{method}()' for method in methods)}"
    if (field := suite.config_type.graphs_field) not in suite.config_type.model_fields:
        yield f"graphs_field is {field!r}, which is not a field of {suite.config_type.__name__}"
    if not suite.settings:
        yield "settings is empty"
    if unknown := [name for name, player in suite.players.items() if not isinstance(player, Player)]:
        yield f"players: {', '.join(unknown)} is not a Player"


def suite_named(name: str) -> Suite[Any, Any]:
    """Return a suite. Raise ConfigError like `suite_class`."""
    return suite_class(name)()
