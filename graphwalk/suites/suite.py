"""A suite is a kind of experiment: its graphs, and tasks that know how they are asked, read and scored.

To add one, derive a task class and a suite class (docs/extending.md).
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.scoring import Scoring
from graphwalk.config.strict import SuiteConfig
from graphwalk.evaluation.extraction import Extraction
from graphwalk.models.base import Model
from graphwalk.models.scripted import Policy, ScriptedModel
from graphwalk.reports.measures import declared_report
from graphwalk.reports.scene import Scene, scene_of
from graphwalk.reports.suite_report import ResultRecord, SuiteReport
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, TaskRecord, Trajectory
from graphwalk.types.schema import Schema
from graphwalk.variables import Variables

C = TypeVar("C", bound=SuiteConfig)


@dataclass(frozen=True)
class Prompt:
    """The start of an episode.

    `next_user` returns the message after so many replies without calls; None, the default, ends the dialogue.
    """

    messages: tuple[Message, ...]
    toolbox: Toolbox | None = None
    next_user: Callable[[int], str | None] = lambda replies: None


class Task(TaskRecord, ABC):
    """A question with its proven target, and its behaviour, which depends on nothing but the arguments."""

    @abstractmethod
    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        """Return prompt and tools of a new episode."""

    @abstractmethod
    def read(self, reply: str) -> Extraction:
        """Extract the answer from a reply with a parser."""

    @abstractmethod
    def answer_format(self, agent: AgentConfig) -> str:
        """Describe the answer format for the extractor model."""

    @abstractmethod
    def score(self, setting: str, trajectory: Trajectory, extraction: Extraction, scoring: Scoring) -> Score:
        """Score an answer against the target. Episodes with infrastructure failures are not scored."""

    def with_cause(self, score: Any, setting: str, trajectory: Trajectory, answer: Any, about: LoadedGraph) -> Any:
        """Return the score of a wrong answer with its cause, which only the graph can tell; by default unchanged."""
        return score

    def confirm(self, instance: GraphInstance) -> str | None:
        """Compute the target again without the code that made it, for `graphwalk verify`.

        Return the name of the method, None if there is none. Raise OracleError if the target differs.
        """
        return None

    def scene(self, record: ResultRecord) -> Scene:
        """Return what terminal and page show of an episode of this task; by default its turns and its answer."""
        return scene_of(record)

    def thoughts(self, setting: str, trajectory: Trajectory, random: Random) -> Sequence[str]:
        """Return a thought before each turn of a scripted agent, from prompt and results alone, for training data."""
        return [""] * len(trajectory.turns)


T = TypeVar("T", bound=Task)


class Tasks(NamedTuple, Generic[T]):
    """The tasks about one graph. `left_out`: name of a question or a setting → reason; `notes` are for the user."""

    asked: Sequence[T]
    left_out: Mapping[str, str] = {}
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Player(Generic[T]):
    """A program in place of a model: `policy(task, setting, schema, random)` plays one episode."""

    policy: Callable[[T, str, Schema | None, Random], Policy]
    settings: tuple[str, ...] = ("tools",)
    """Variables that it plays."""
    default: bool = False
    """It plays if the user names no model."""
    why_not: Callable[[T], str] = lambda task: ""
    """Reason for which it cannot play a task, "" if it can."""
    purpose: tuple[str, ...] = ("policy",)
    """Purpose of its random draws (graphwalk/seeds.py); another one gives other walks than in earlier logs."""

    def model(self, name: str, task: T, setting: str, schema: Schema | None, random: Random) -> Model:
        """Return the model that plays one episode."""
        return ScriptedModel(name, self.policy(task, setting, schema, random))


class Suite(ABC, Generic[C, T]):
    """A kind of experiment, with configuration class C and task class T. A suite has no state."""

    name: ClassVar[str]
    settings: ClassVar[tuple[str, ...]]
    """Prompting modes: "tools", "no_tools" and "write_cypher", or the strategies of MAGMA. A colon begins a variant."""
    config_type: ClassVar[type[SuiteConfig]]
    task_type: ClassVar[type[Task]]
    score_type: ClassVar[type[Score]]
    tools: ClassVar[tuple[str, ...]] = ()
    """Default tools, which `agent.tools` overrides; empty if the suite does not use tools."""
    turn_limit: ClassVar[int] = 30
    """Default turn limit of an episode with tools, which `agent.turn_limit` overrides."""
    players: ClassVar[Mapping[str, Player[Any]]] = {}
    """Scripted agents by name; `expert` is run as `scripted/expert`."""
    commands: ClassVar[str | None] = None
    """Module with `GENERATE` and `EXPORT`: command name → function for `graphwalk generate|export` (Typer)."""

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

    def report(self) -> SuiteReport:
        """Return the measures of the suite and the layout of its report."""
        return declared_report(self.name, self.score_type)
