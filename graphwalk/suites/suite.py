"""The seam to a kind of experiment. A suite knows no model.

`Suite` is the core: graphs, tasks, prompts, scores. Three objects of it are optional: `ScriptedAgents`,
`Presentation` and `Verification`.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.evaluation.extraction import Extraction
from graphwalk.models.base import Model
from graphwalk.models.scripted import Policy
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
    """A graph that tasks are about (None for suites that need no store), and what it was made from."""

    digest: str
    graph: PropertyGraph | None
    source: Any = None
    """The suite's own object: a maze, an algorithm trace."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the run records about it: nodes, relationships, size, seed, preset."""
    existing_database: GraphSource | None = None
    """The database that holds `graph`, if agents can use it directly."""
    in_memory: bool = False
    """Load it into the embedded engine, whatever the store of the run."""

    @classmethod
    def of(cls, graph: PropertyGraph, source: Any = None, facts: Mapping[str, Any] = {}) -> "GraphInstance":
        """Return the instance of a graph; its size is added to the facts."""
        size = {"nodes": graph.node_count, "relationships": graph.relationship_count}
        return cls(graph.digest, graph, source, {**facts, **size})


def no_next_turn(turns: Sequence[Turn]) -> str | None:
    """End the dialogue with the first reply that calls no tool."""
    return None


@dataclass(frozen=True)
class EpisodeSetup:
    """How an episode begins: the conversation so far, the tools, and the follow-up.

    `next_user` is asked after every reply without tool calls; None ends the dialogue.
    """

    prompt: tuple[Message, ...]
    toolbox: Toolbox | None = None
    next_user: Callable[[Sequence[Turn]], str | None] = no_next_turn


ReadLine = Callable[[], Awaitable[str | None]]
"""Return the next line that a human player typed; None at the end."""


class ScriptedAgents(Generic[T]):
    """Programs that take the place of a model. This base class has none."""

    names: ClassVar[tuple[str, ...]] = ()
    """Names of the scripted models: `expert` for `scripted/expert`."""
    default_names: ClassVar[tuple[str, ...]] = ()
    """Those that run if the user names no model."""

    def can_play(self, name: str, setting: str, task: T | None = None) -> bool:
        """Return False if an agent cannot try this task (None: any task), so that the plan leaves it out."""
        return True

    def policy(self, name: str, task: T, setting: str, schema: Schema | None, seed: int) -> Policy:
        """Return the agent of this name for one episode; `seed` differs between tasks and repeats."""
        raise ConfigError(f"there is no scripted agent {name!r}", hint=f"there are: {', '.join(self.names) or 'none'}")

    def thoughts(self, task: T, setting: str, trajectory: Trajectory, seed: int) -> Sequence[str]:
        """Return a thought before each turn, for training data.

        A thought uses the prompt, the calls and the results before it, and never the target.
        """
        return [""] * len(trajectory.turns)

    def without_answer(self, task: T, trajectory: Trajectory, seed: int) -> tuple[str, str] | None:
        """Return a similar question that has no answer, and the reply that explains why; None if there is none."""
        return None


class Pictures(Protocol):
    """Drawings of the episodes of a run."""

    @property
    def formats(self) -> Sequence[str]:
        """Endings of the files that can be written: ".svg", ".txt"."""
        ...

    def drawings(self, records: Sequence[ResultRecord]) -> "Iterable[RenderableType]":
        """Return what a terminal shows of the episodes, beside prompt, turns, calls and answer."""
        ...

    def page(self, records: Sequence[ResultRecord], form: str, title: str) -> str:
        """Return the text of a file; `form` is one of `formats`."""
        ...


class Presentation(Generic[T]):
    """How results are shown. This base class has the plain report and the common figures."""

    abbreviations: ClassVar[Mapping[str, str]] = {}
    """Settings whose names are abbreviations, in words."""
    commands: ClassVar[str | None] = None
    """Module with `GENERATE` and `EXPORT`: command name → function for `graphwalk generate|export` (Typer)."""
    pictures: ClassVar[Pictures | None] = None
    """How episodes are drawn; None: not at all."""

    def report(self, suite: "Suite[Any, Any]") -> SuiteReport:
        """Return what is measured, and its layout."""
        return plain_report(suite.name, suite.score_type)

    def figures(self, report: Report, observed: Observations) -> Iterable[Plot]:
        """Return the plots of a run."""
        from graphwalk.reports.common_plots import common_plots

        return common_plots(report, observed)

    def scene(self, record: ResultRecord) -> Scene | None:
        """Return what an episode looks like step by step; None shows its turns alone."""
        return None

    def human(self, task: T, read: ReadLine) -> Model | None:
        """Return the suite's own human player at a terminal; None for the common one."""
        return None


class Verification(Generic[C, T]):
    """Second opinions on targets and scores. This base class has none."""

    async def cross_check(self, task: T, store: GraphStore, answer: Any, score: Score) -> None:
        """Let the store judge an answer too. Raise OracleError if it differs from the score."""

    async def confirm(self, task: T, instance: GraphInstance, config: C) -> str | None:
        """Compute the target of a task again, without the code of `tasks`, for `graphwalk verify`.

        Return how, in a few words; None if there is no other way. Raise OracleError if the target differs.
        """
        return None


class Suite(ABC, Generic[C, T]):
    """A kind of experiment. All of it is deterministic: tasks, prompts and scores depend on their arguments alone.

    C is the class of the suite's configuration, T that of its tasks.
    """

    name: ClassVar[str]
    settings: ClassVar[tuple[str, ...]]
    """Ways of asking: "tools", "no_tools" and "write_cypher", or the strategies of MAGMA."""
    config_type: ClassVar[type[SuiteConfig]]
    graphs_field: ClassVar[str]
    """The field of the configuration that lists what is generated; its entries have a `count`."""
    thing: ClassVar[str]
    """What `graphwalk play` calls one of them: "graph", "maze"."""
    task_type: ClassVar[type[Task]]
    score_type: ClassVar[type[Score]]
    tools: ClassVar[tuple[str, ...]] = ()
    """Tools offered unless the experiment names others (`agent.tools`); none: the suite has no use for tools."""
    turn_limit: ClassVar[int] = 30
    """Turns of an episode with tools, unless the experiment has `agent.turn_limit`."""
    judged: ClassVar[bool] = True
    """Answers are right or wrong; False if there is no target."""
    agents: ClassVar[ScriptedAgents[Any]] = ScriptedAgents()
    presentation: ClassVar[Presentation[Any]] = Presentation()
    verification: ClassVar[Verification[Any, Any]] = Verification()

    @abstractmethod
    def graphs(self, config: C, seed: int) -> Iterator[GraphInstance]:
        """Yield the graphs, mazes or traces of an experiment, in order."""

    def graph_count(self, config: C) -> int:
        """Return how many `graphs` yields: by default the sum of the counts of its entries."""
        return sum(getattr(entry, "count", 1) for entry in getattr(config, self.graphs_field))

    async def read_graphs(self, config: C, seed: int, settings: Settings) -> AsyncIterator[GraphInstance]:
        """Yield the same graphs, and those of databases. Raise StoreError if a database cannot be read."""
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
        """Return the tasks about one graph, each with its proven target. Raise OracleError if two oracles differ.

        `agent` has the prompts, for suites that render the question from one.
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
        """Return prompt and tools of a new episode. `tools`: those of the experiment; None: `self.tools`."""

    @abstractmethod
    def extract(self, task: T, reply: str) -> Extraction:
        """Read an answer with a parser."""

    @abstractmethod
    def answer_format(self, task: T, agent: AgentConfig = AgentConfig()) -> str:
        """Return the answer format in words, for the extractor model."""

    @abstractmethod
    def score(self, task: T, setting: str, trajectory: Trajectory, extraction: Extraction) -> Score:
        """Compare an answer with the target. Episodes with infrastructure failures are not scored."""

    def applies(self, task: T, setting: str, config: C) -> bool:
        """Return False if a task cannot be asked in a setting."""
        return True

    def left_out(self, instance: GraphInstance) -> Mapping[str, str]:
        """Return what is not asked about a graph whose tasks were made: name of a template or setting → reason."""
        return {}

    def texts(self, config: C) -> Mapping[str, str]:
        """Return what models read in addition to prompts and tools, by the name under which a run keeps it."""
        return {}
