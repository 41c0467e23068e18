"""Suites by name; other packages add theirs through entry points of the group `graphwalk.suites`."""

import inspect
from collections.abc import Iterator
from typing import Any

from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.plugins import Registry
from graphwalk.suites.suite import Presentation, ScriptedAgents, Suite, Verification
from graphwalk.types.episode import Score, Task

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
    """The class of a suite. ConfigError for an unknown name, and where the class lacks something, which is named."""
    return whole_suite(name, SUITES.load(name))


def whole_suite(name: str, found: Any) -> type[Suite[Any, Any]]:
    """What stands behind the name of a suite. ConfigError where it is none, or lacks something, which is named."""
    if not (inspect.isclass(found) and issubclass(found, Suite)):
        raise ConfigError(f"the suite {name!r} is not a class derived from graphwalk.suites.suite.Suite: {found!r}")
    for attribute, base in (("agents", ScriptedAgents), ("presentation", Presentation), ("verification", Verification)):
        if not isinstance(getattr(found, attribute), base):
            raise ConfigError(
                f"the suite {name!r}: {attribute} is not an object of a class derived from {base.__name__}"
            )
    missing = [attribute for attribute in _ATTRIBUTES if not hasattr(found, attribute)]
    missing += [f"{method}()" for method in sorted(found.__abstractmethods__)]
    agents = found.agents
    missing += ["agents.policy()"] if agents.names and type(agents).policy is ScriptedAgents.policy else []
    if missing:
        raise ConfigError(f"the suite {name!r} lacks {', '.join(missing)}", hint="docs/extending.md has a whole one")
    if wrong := next(_mistakes(name, found), None):
        raise ConfigError(f"the suite {name!r}: {wrong}", hint="docs/extending.md has a whole one")
    return found


def _mistakes(name: str, suite: type[Suite[Any, Any]]) -> Iterator[str]:
    """What is there, and is not as it must be."""
    if suite.name != name:
        yield f"its class calls itself {suite.name!r}"
    for attribute, base in (("config_type", SuiteConfig), ("task_type", Task), ("score_type", Score)):
        given = getattr(suite, attribute)
        if not (inspect.isclass(given) and issubclass(given, base)):
            yield f"{attribute} is not derived from {base.__module__}.{base.__name__}"
            return
    if suite.graphs_field not in suite.config_type.model_fields:
        yield f"graphs_field is {suite.graphs_field!r}, which is not a field of {suite.config_type.__name__}"
    if not suite.settings:
        yield "settings is empty"
    if strangers := [name for name in suite.agents.default_names if name not in suite.agents.names]:
        yield f"agents.default_names has {', '.join(strangers)}, which agents.names has not"


def suite_named(name: str) -> Suite[Any, Any]:
    """A fresh suite; it may keep things for the length of a run. ConfigError as `suite_class`."""
    return suite_class(name)()
