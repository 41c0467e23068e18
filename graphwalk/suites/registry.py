"""Suites by name; other packages add theirs through entry points of the group `graphwalk.suites`."""

import inspect
from typing import Any

from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.plugins import Registry
from graphwalk.suites.suite import Suite

SUITES = Registry(
    "suite",
    "graphwalk.suites",
    {
        "questions": "graphwalk.suites.questions.suite:QuestionsSuite",
        "mazes": "graphwalk.suites.mazes.suite:MazesSuite",
        "magma": "graphwalk.suites.magma.suite:MagmaSuite",
    },
)
_ATTRIBUTES = ("name", "settings", "config_type", "worlds_field", "thing", "task_type", "score_type")


def suite_class(name: str) -> type[Suite[Any, Any]]:
    """The class of a suite. ConfigError for an unknown name, and where the class lacks something, which is named."""
    found = SUITES.load(name)
    if not (inspect.isclass(found) and issubclass(found, Suite)):
        raise ConfigError(f"the suite {name!r} is not a class derived from graphwalk.suites.suite.Suite: {found!r}")
    missing = [attribute for attribute in _ATTRIBUTES if not hasattr(found, attribute)]
    missing += [f"{method}()" for method in sorted(found.__abstractmethods__)]
    if missing:
        raise ConfigError(f"the suite {name!r} lacks {', '.join(missing)}", hint="docs/extending.md has a whole one")
    if found.name != name:
        raise ConfigError(f"the suite {name!r} calls itself {found.name!r}")
    if not issubclass(found.config_type, SuiteConfig):
        raise ConfigError(f"the suite {name!r}: config_type is not derived from graphwalk.config.strict.SuiteConfig")
    return found


def suite_named(name: str) -> Suite[Any, Any]:
    """A fresh suite; it may keep things for the length of a run. ConfigError as `suite_class`."""
    return suite_class(name)()
