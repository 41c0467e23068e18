"""The seam to a kind of experiment. A suite owns all that is its own: configuration, generators, tasks, prompts, tools,
scores, scripted players, report, pictures, commands. It knows no model.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import SuiteConfig
from graphwalk.environment import Environment
from graphwalk.models.base import Model
from graphwalk.models.policy import Policy
from graphwalk.reports.measures import plain_report
from graphwalk.reports.observations import Observations
from graphwalk.reports.plots import Figure, Scene
from graphwalk.reports.suite_report import Report, ResultRecord, SuiteReport
from graphwalk.scoring.extraction import Extraction
from graphwalk.stores.base import GraphStore
from graphwalk.toolbox.tool import Tool
from graphwalk.toolbox.toolbox import Toolbox
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
    """What tasks are about: a graph to be loaded (None for suites that need no store) and what it was made from."""

    digest: str
    graph: PropertyGraph | None
    source: Any = None
    """The suite's own object: a Maze, an algorithm trace, …"""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the run records about it: nodes, relationships, size, seed, preset, …"""
    existing_database: GraphSource | None = None
    """The database of which `graph` is the content, where it can be walked as it stands."""
    in_memory: bool = False
    """To be walked on the embedded engine whatever the store of the run: a database that stands gets nothing of it."""


def no_next_turn(turns: Sequence[Turn]) -> str | None:
    """Most dialogues end with the first reply that calls no tool."""
    return None


@dataclass(frozen=True)
class EpisodeSetup:
    """How an episode begins: the conversation so far, the tools of this episode, and how it goes on.

    `next_user` is asked after every reply without tool calls; None ends the dialogue.
    """

    prompt: tuple[Message, ...]
    toolbox: Toolbox | None = None
    next_user: Callable[[Sequence[Turn]], str | None] = no_next_turn


ReadLine = Callable[[], Awaitable[str | None]]
"""The next line that a person typed; None where there are no more."""


class Pictures(Protocol):
    """How a suite shows episodes of a run."""

    @property
    def formats(self) -> Sequence[str]:
        """Endings of the files that can be written: ".html", ".svg", …"""
        ...

    def drawings(self, records: Sequence[ResultRecord]) -> "Iterable[RenderableType]":
        """What a terminal shows of the episodes beside prompt, turns, calls and answer."""
        ...

    def page(self, records: Sequence[ResultRecord], form: str, title: str) -> str:
        """The text of a file; `form` is one of `formats`."""
        ...


class Suite(ABC, Generic[C, T]):
    """All of it is deterministic: tasks, prompts and scores depend on their arguments alone.

    C is the class of the suite's configuration, T that of its tasks.
    """

    name: ClassVar[str]
    settings: ClassVar[tuple[str, ...]]
    """Ways of asking: "tools", "no_tools" and "write_cypher", or the strategies of MAGMA."""
    abbreviations: ClassVar[Mapping[str, str]] = {}
    """Settings whose names are abbreviations, in words."""
    config_type: ClassVar[type[SuiteConfig]]
    graphs_field: ClassVar[str]
    """The field of the configuration that lists what is generated; its entries have a `count`."""
    thing: ClassVar[str]
    """One of them, as `graphwalk play` knows it: "graph", "maze", …"""
    task_type: ClassVar[type[Task]]
    score_type: ClassVar[type[Score]]
    tools: ClassVar[tuple[str, ...]] = ()
    """Tools offered unless the experiment names others (`agent.tools`); none: the suite has no use for tools."""
    players: ClassVar[tuple[str, ...]] = ()
    """Names of the scripted models: `scripted/expert`, …"""
    default_players: ClassVar[tuple[str, ...]] = ()
    """Those that run when the user names no model."""
    judged: ClassVar[bool] = True
    """Answers are right or wrong; False where nobody knows."""
    turn_limit: ClassVar[int] = 30
    """Turns of an episode with tools, unless the experiment says otherwise (`agent.turn_limit`)."""
    commands: ClassVar[str | None] = None
    """Module with `GENERATE` and `EXPORT`: command name → function for `graphwalk generate|export` (Typer)."""

    @abstractmethod
    def graphs(self, config: C, seed: int) -> Iterator[GraphInstance]:
        """The graphs, mazes or traces of an experiment, in order."""

    def graph_count(self, config: C) -> int:
        """How many `graphs` makes: by default the sum of the counts of its entries."""
        return sum(getattr(entry, "count", 1) for entry in getattr(config, self.graphs_field))

    async def read_graphs(self, config: C, seed: int, environment: Environment) -> AsyncIterator[GraphInstance]:
        """The same, with those that are read from a database; a suite that has such ones reads them here.

        StoreError where a database cannot be read.
        """
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
        """The tasks about one graph, each with its proven target. OracleError where two oracles differ.

        `agent` has the prompts, where a suite renders the question from one.
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
        """A fresh episode: prompt and tools. `tools`: those that the experiment names; None: `self.tools`."""

    @abstractmethod
    def extract(self, task: T, reply: str) -> Extraction:
        """Read an answer, without a model (stage 1)."""

    @abstractmethod
    def answer_format(self, task: T, agent: AgentConfig = AgentConfig()) -> str:
        """The answer format in words, for the extractor model (stage 2)."""

    @abstractmethod
    def score(self, task: T, setting: str, trajectory: Trajectory, extraction: Extraction) -> Score:
        """Compare an answer with the target. Called only where the episode did not fail for reasons of its own."""

    def left_out(self, instance: GraphInstance) -> Mapping[str, str]:
        """What is not asked about a graph whose tasks were made: the name of a template or setting → why."""
        return {}

    async def cross_check(self, task: T, store: GraphStore, answer: Any, score: Score) -> None:
        """Let the store judge the answer too. OracleError where it differs from the score; default: it is not asked."""
        return

    async def confirm(self, task: T, instance: GraphInstance, config: C) -> str | None:
        """Work out the target of a task in a way that shares no code with `tasks`, for `graphwalk verify`.

        Returns how, in a few words; None where there is no other way. OracleError where the target comes out different.
        """
        return None

    def report(self) -> SuiteReport:
        """What is measured, and how it is laid out: the plain report, unless a suite has more to tell."""
        return plain_report(self.name, self.score_type)

    def applies(self, task: T, setting: str, config: C) -> bool:
        """False where a way of asking has no use for a task."""
        return True

    def can_play(self, player: str, setting: str, task: T | None = None) -> bool:
        """False where a scripted model could not even try (this task; None: any), and is left out of the plan."""
        return True

    def player(self, name: str, task: T, setting: str, schema: Schema | None, seed: int) -> Policy:
        """A scripted player, one of `players`, for one episode; `seed` differs between tasks and repeats."""
        raise NotImplementedError(f"the suite {self.name} names scripted players, and has no `player`")

    def thoughts(self, task: T, setting: str, trajectory: Trajectory, seed: int) -> Sequence[str]:
        """What a scripted player may have thought before each of its turns, for training data: made from the prompt,
        its calls and the results before them, and never from the target. Default: nothing.
        """
        return [""] * len(trajectory.turns)

    def without_answer(self, task: T, trajectory: Trajectory, seed: int) -> tuple[str, str] | None:
        """A question like that of the task which has no answer, and the reply that says why; None: there is none."""
        return None

    def person(self, task: T, read: ReadLine) -> Model | None:
        """A person at a terminal in place of a model, where the suite has a way of its own; None: the common one."""
        return None

    def pictures(self) -> Pictures | None:
        """How episodes are drawn; None: not at all."""
        return None

    def figures(self, report: Report, observed: Observations) -> Iterable[Figure]:
        """What is plotted of a run: accuracy by every break-down, and effort, unless a suite has more to show."""
        from graphwalk.reports.common_plots import common_figures

        return common_figures(report, observed)

    def scene(self, record: ResultRecord) -> Scene | None:
        """What an episode looks like when it is played step by step; None: its turns alone are shown."""
        return None

    def texts(self, config: C) -> Mapping[str, str]:
        """What models read besides prompts and tools: the name under which a run keeps a text
        ("questions/node_count.yaml"), and the text.
        """
        return {}
