"""Registry of suites; other packages add theirs with entry points of the group `graphwalk.suites`."""

import inspect
from collections.abc import Iterator
from typing import Any

from graphwalk.config.registry import Registry
from graphwalk.errors import ConfigError
from graphwalk.suites.suite import ScriptedAgents, Suite

SUITES = Registry(
    "suite",
    "graphwalk.suites",
    {
        "questions": "graphwalk.suites.questions.suite:QuestionsSuite",
        "mazes": "graphwalk.suites.mazes.suite:MazesSuite",
        "magma": "graphwalk.suites.magma.suite:MagmaSuite",
        "ask": "graphwalk.suites.ask.suite:AskSuite",
    },
)
_ATTRIBUTES = ("name", "settings", "config_type", "graphs_field", "thing", "task_type", "score_type")


def suite_class(name: str) -> type[Suite[Any, Any]]:
    """Return the class of a suite. Raise ConfigError for an unknown name or an incomplete class."""
    suite = SUITES.load(name)
    if not (inspect.isclass(suite) and issubclass(suite, Suite)):
        raise ConfigError(f"the suite {name!r} is not a class derived from graphwalk.suites.suite.Suite: {suite!r}")
    if missing := list(_missing(suite)):
        what = f"the suite {name!r}: missing {', '.join(missing)}"
        raise ConfigError(what, hint="docs/extending.md has a complete example")
    if suite.name != name:
        raise ConfigError(f"the suite {name!r}: its class has the name {suite.name!r}", hint=f"name = {name!r}")
    return suite


def _missing(suite: type[Suite[Any, Any]]) -> Iterator[str]:
    yield from (attribute for attribute in _ATTRIBUTES if not hasattr(suite, attribute))
    yield from (f"{method}()" for method in sorted(suite.__abstractmethods__))
    if suite.agents.names and type(suite.agents).policy is ScriptedAgents.policy:
        yield "agents.policy()"


def suite_named(name: str) -> Suite[Any, Any]:
    """Return a new suite, which may cache data during a run. Raise ConfigError like `suite_class`."""
    return suite_class(name)()
