"""A suite is a kind of experiment: its graphs, the tasks about them, and the scripted agents that play them.

To add one, derive a task class and a suite class (docs/extending.md). Other packages add theirs with entry points of
the group `graphwalk.suites`.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar, Generic, TypeVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.resources import Registry
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import Model
from graphwalk.models.scripted import Policy, ScriptedModel
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.task import Score, T, Task, Tasks
from graphwalk.variables import Variables

C = TypeVar("C", bound=SuiteConfig)


@dataclass(frozen=True)
class Player(Generic[T]):
    """A program in place of a model: `policy(task, setting, schema, random)` plays one episode."""

    policy: Callable[[T, str, Schema | None, Random], Policy]
    settings: tuple[str, ...] = ("tools",)
    """Settings that it plays."""
    default: bool = False
    """It plays if the user names no model."""
    why_not: Callable[[T], str] = lambda task: ""
    """Reason for which it cannot play a task, "" if it can."""
    purpose: tuple[str, ...] = ("policy",)
    """Purpose of its random draws (graphwalk/seeds.py)."""

    def model(self, name: str, task: T, setting: str, schema: Schema | None, random: Random) -> Model:
        """Return the model that plays one episode."""
        return ScriptedModel(name, self.policy(task, setting, schema, random))

    def changed(self, change: Callable[[Policy, Random], Policy]) -> "Player[T]":
        """Return the player with a policy changed by `flawed` or `varied` of graphwalk/suites/flawed.py."""

        def policy(task: T, setting: str, schema: Schema | None, random: Random) -> Policy:
            return change(self.policy(task, setting, schema, random), random)

        return replace(self, policy=policy)


class Suite(ABC, Generic[C, T]):
    """A kind of experiment, with configuration class C and task class T. A suite has no state."""

    name: ClassVar[str]
    settings: ClassVar[tuple[str, ...]]
    """Prompting modes: "tools", "no_tools" and "write_cypher", or the strategies of MAGMA. A colon begins a variant."""
    abbreviations: ClassVar[Mapping[str, str]] = {}
    """Abbreviated setting → its full name."""
    config_type: ClassVar[type[SuiteConfig]]
    task_type: ClassVar[type[Task]]
    score_type: ClassVar[type[Score]]
    analysis: ClassVar[str | None] = None
    """Module with the class `Analysis`, which explains episodes; None: that of graphwalk/analysis/suites, if any."""
    tools: ClassVar[tuple[str, ...]] = ()
    """Default tools, which `agent.tools` overrides; empty if the suite does not use tools."""
    turn_limit: ClassVar[int] = 30
    """Default turn limit of an episode with tools, which `agent.turn_limit` overrides."""
    players: ClassVar[Mapping[str, Player[Any]]] = {}
    """Scripted agents by name; `expert` is run as `scripted/expert`."""

    @abstractmethod
    def graphs(self, config: C, seed: int) -> Iterator[GraphInstance]:
        """Yield the graphs, mazes or traces of an experiment in order. Raise ConfigError for one in a database."""

    async def read_graphs(self, config: C, seed: int, variables: Variables) -> AsyncIterator[GraphInstance]:
        """Yield all graphs, including those in databases. Raise StoreError if a database cannot be read."""
        for instance in self.graphs(config, seed):
            yield instance

    @abstractmethod
    async def tasks(self, about: LoadedGraph, config: C, seed: int, agent: AgentConfig) -> Tasks[T]:
        """Return the tasks about one graph with verified targets. Raise OracleError if two oracles differ."""

    def asks(self, task: T, setting: str, config: C) -> bool:
        """Return False for a setting in which a task makes no sense."""
        return True


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
