"""Base classes of a suite: a kind of experiment with its graphs, tasks, prompts and scores.

`ScriptedAgents`, `Presentation` and `Verification` are optional parts of a `Suite`.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.evaluation.extraction import Extraction
from graphwalk.models.base import Model
from graphwalk.models.scripted import Policy, ScriptedModel
from graphwalk.reports.measures import plain_report
from graphwalk.reports.observations import Observations
from graphwalk.reports.plots import Plot, Scene
from graphwalk.reports.suite_report import Report, ResultRecord, SuiteReport
from graphwalk.settings import Settings
from graphwalk.stores.base import GraphStore
from graphwalk.tools.tool import Tool
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, Task, Trajectory, Turn
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema

if TYPE_CHECKING:
    from rich.console import RenderableType

C = TypeVar("C", bound=SuiteConfig)
T = TypeVar("T", bound=Task)


@dataclass(frozen=True)
class GraphInstance:
    """A graph with its tasks' source object; `graph` is None for suites that need no store."""

    digest: str
    graph: PropertyGraph | None
    source: Any = None
    """The suite's own object, for example a maze or an algorithm trace."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Recorded by the run: nodes, relationships, size, seed, preset."""
    existing_database: GraphSource | None = None
    """The database that contains `graph`, if agents can use it directly."""
    in_memory: bool = False
    """Load the graph into the embedded engine, even if the run uses another store."""

    @classmethod
    def of(cls, graph: PropertyGraph, source: Any = None, facts: Mapping[str, Any] = {}) -> "GraphInstance":
        """Return the instance of a graph, with its size added to the facts."""
        size = {"nodes": graph.node_count, "relationships": graph.relationship_count}
        return cls(graph.digest, graph, source, {**facts, **size})


def no_next_turn(turns: Sequence[Turn]) -> str | None:
    """End the dialogue with the first reply that calls no tool."""
    return None


@dataclass(frozen=True)
class EpisodeSetup:
    """The start of an episode: prompt, tools and follow-up.

    `next_user` returns the next user message after a reply without tool calls; None ends the dialogue.
    """

    prompt: tuple[Message, ...]
    toolbox: Toolbox | None = None
    next_user: Callable[[Sequence[Turn]], str | None] = no_next_turn


class ScriptedAgents(Generic[T]):
    """Programs that take the place of a model. This base class has none."""

    names: ClassVar[tuple[str, ...]] = ()
    """Names of the scripted models; `expert` is run as `scripted/expert`."""
    default_names: ClassVar[tuple[str, ...]] = ()
    """Agents that run if the user names no model."""

    def can_play(self, name: str, setting: str, task: T | None = None) -> bool:
        """Return False if the plan must skip this task for the agent; `task=None` means any task."""
        return True

    def why_not(self, name: str, setting: str, task: T) -> str:
        """Return the reason for which `can_play` is False."""
        return f"this scripted agent cannot play {setting}"

    def policy(self, name: str, task: T, setting: str, schema: Schema | None, seed: int) -> Policy:
        """Return the agent of this name for one episode; `seed` differs between tasks and repeats."""
        raise ConfigError(f"unknown scripted agent {name!r}", hint=f"known agents: {', '.join(self.names) or 'none'}")

    def model(self, name: str, task: T, setting: str, schema: Schema | None, seed: int) -> Model:
        """Return the model that plays the agent's policy in one episode."""
        return ScriptedModel(f"scripted/{name}", self.policy(name, task, setting, schema, seed))

    def thoughts(self, task: T, setting: str, trajectory: Trajectory, seed: int) -> Sequence[str]:
        """Return a thought before each turn, for training data.

        A thought may use the prompt and earlier calls and results, never the target.
        """
        return [""] * len(trajectory.turns)


class Presentation(Generic[T]):
    """Report, plots and drawings of a suite. This base class has the plain report and the common plots."""

    abbreviations: ClassVar[Mapping[str, str]] = {}
    """Abbreviated setting → its full name."""
    commands: ClassVar[str | None] = None
    """Module with `GENERATE` and `EXPORT`: command name → function for `graphwalk generate|export` (Typer)."""

    def report(self, suite: "Suite[Any, Any]") -> SuiteReport:
        """Return the measures of the suite and the layout of its report."""
        return plain_report(suite.name, suite.score_type)

    def figures(self, report: Report, observed: Observations) -> Iterable[Plot]:
        """Return the plots of a run."""
        from graphwalk.reports.common_plots import common_plots

        return common_plots(report, observed)

    def scene(self, record: ResultRecord) -> Scene | None:
        """Return a step-by-step picture of an episode; None shows only its turns."""
        return None

    def drawings(self, record: ResultRecord) -> "Iterable[RenderableType]":
        """Return drawings of an episode for a terminal, shown below its answer."""
        return ()


class Verification(Generic[C, T]):
    """An independent check of targets. This base class has none."""

    async def confirm(self, task: T, instance: GraphInstance, config: C) -> str | None:
        """Compute the target again without the code of `tasks`, for `graphwalk verify`.

        Return the name of the method, or None if there is none. Raise OracleError if the target differs.
        """
        return None


class Suite(ABC, Generic[C, T]):
    """A kind of experiment, with configuration class C and task class T.

    Tasks, prompts and scores are deterministic: they depend only on the arguments.
    """

    name: ClassVar[str]
    settings: ClassVar[tuple[str, ...]]
    """Prompting modes: "tools", "no_tools" and "write_cypher", or the strategies of MAGMA. A colon begins a variant."""
    config_type: ClassVar[type[SuiteConfig]]
    graphs_field: ClassVar[str]
    """Configuration field that lists the graphs to generate; its entries have a `count`."""
    thing: ClassVar[str]
    """Noun for one graph in `graphwalk play`, for example "maze"."""
    task_type: ClassVar[type[Task]]
    score_type: ClassVar[type[Score]]
    tools: ClassVar[tuple[str, ...]] = ()
    """Default tools, which `agent.tools` overrides; empty if the suite does not use tools."""
    turn_limit: ClassVar[int] = 30
    """Default turn limit of an episode with tools, which `agent.turn_limit` overrides."""
    judged: ClassVar[bool] = True
    """True if answers are right or wrong; False if tasks have no target."""
    explains: ClassVar[bool] = False
    """True if `explain` finds causes, so that `rescore` makes the graphs again."""
    agents: ClassVar[ScriptedAgents[Any]] = ScriptedAgents()
    presentation: ClassVar[Presentation[Any]] = Presentation()
    verification: ClassVar[Verification[Any, Any]] = Verification()

    @abstractmethod
    def graphs(self, config: C, seed: int) -> Iterator[GraphInstance]:
        """Yield the graphs, mazes or traces of an experiment in order."""

    def graph_count(self, config: C) -> int:
        """Return the number of graphs that `graphs` yields."""
        return sum(getattr(entry, "count", 1) for entry in getattr(config, self.graphs_field))

    async def read_graphs(self, config: C, seed: int, settings: Settings) -> AsyncIterator[GraphInstance]:
        """Yield all graphs, including those in databases. Raise StoreError if a database cannot be read."""
        for instance in self.graphs(config, seed):
            yield instance

    @abstractmethod
    async def tasks(
        self,
        instance: GraphInstance,
        store: GraphStore | None,
        config: C,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[T]:
        """Return the tasks about one graph with verified targets. Raise OracleError if two oracles differ.

        `agent` has the prompts, for suites that render the question from a template.
        """

    @abstractmethod
    async def setup(
        self,
        task: T,
        setting: str,
        instance: GraphInstance,
        store: GraphStore | None,
        agent: AgentConfig,
        tools: Sequence[Tool] | None = None,
    ) -> EpisodeSetup:
        """Return prompt and tools of a new episode; `tools=None` means `self.tools`."""

    @abstractmethod
    def extract(self, task: T, reply: str) -> Extraction:
        """Extract the answer from a reply with a parser."""

    @abstractmethod
    def answer_format(self, task: T, agent: AgentConfig = AgentConfig()) -> str:
        """Describe the answer format for the extractor model."""

    @abstractmethod
    def score(self, task: T, setting: str, trajectory: Trajectory, extraction: Extraction) -> Score:
        """Score an answer against the target. Episodes with infrastructure failures are not scored."""

    def explain(
        self, task: T, setting: str, trajectory: Trajectory, answer: Any, score: Score, instance: GraphInstance
    ) -> Score:
        """Return the score of a wrong answer with its cause, which only the graph can tell; by default unchanged."""
        return score

    def applies(self, task: T, setting: str, config: C) -> bool:
        """Return False if a task cannot be asked in a setting."""
        return True

    def left_out(self, instance: GraphInstance) -> Mapping[str, str]:
        """Return what was skipped for a graph whose tasks were made: name → reason. Default: its fact `left_out`."""
        left_out: Mapping[str, str] = instance.facts.get("left_out", {})
        return left_out

    def notes(self, tasks: Sequence[T]) -> Iterator[str]:
        """Yield notes on the tasks of a plan, for the user of a run or dry run."""
        return iter(())

    def texts(self, config: C) -> Mapping[str, str]:
        """Return the additional texts that models read: file name in the run folder → text."""
        return {}
