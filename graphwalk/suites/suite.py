"""A suite is a kind of experiment: its graphs, the tasks about them, and the scripted agents that play them.

A task knows how it is asked, read and scored. To add a suite, derive a task class and a suite class
(docs/extending.md). Other packages add theirs with entry points of the group `graphwalk.suites`.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from graphwalk.agent.prompt import AnswerForm, Prompt
from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.config.resources import Registry
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError, manual
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Scalar
from graphwalk.models.chat import Model
from graphwalk.models.scripted import Policy, ScriptedModel
from graphwalk.models.trajectory import Trajectory
from graphwalk.sanitise import html_table, one_line
from graphwalk.suites.extraction import Extraction
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.variables import Variables

if TYPE_CHECKING:
    from graphwalk.analysis.suite_analysis import SuiteAnalysis

ANY_VALUE = ("string", "number", "boolean", "null")
"""JSON types of a value of unknown type."""


EXPLAINED = ("grounded", "proven", "unproven", "missing")
"""Fields of explanations, which join with a score where a run is read."""


class Score(BaseModel):
    """The score of an answer. Suites extend it; the fields here exist in every suite.

    `correct` to `false_positives` compare the answer with the target; None without one.
    `extraction_stage` names how the answer was read ("strict", "fenced", …, "model"), None if it could not be.
    `lossy`: the reply holds something like an answer that was not read.
    """

    model_config = ConfigDict(frozen=True)

    correct: bool | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    false_positives: int | None = None
    extraction_stage: str | None
    lossy: bool = False

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        """Raise ConfigError for a subclass with a field that has the name of one of ours."""
        super().__pydantic_init_subclass__(**arguments)
        refuse_fields(cls, (*Score.model_fields, *EXPLAINED))


def refuse_fields(cls: type[BaseModel], names: Collection[str]) -> None:
    """Raise ConfigError if a class defines fields with names of others that its own join with."""
    ours = [name for name in inspect.get_annotations(cls) if name in names]
    if ours:
        problem = f"{cls.__module__}.{cls.__name__} has fields with names of ours: {', '.join(ours)}"
        raise ConfigError(problem, hint="rename them")


_NAMES_IN_FILES = {"target": "gold", "target_size": "gold_size", "published_target": "published_gold"}
"""Field of a task → its name in files."""


class Task(BaseModel, ABC):
    """A question with its proven target, and how it is asked, read and scored. Suites extend it.

    The fields are what a line of `results.jsonl` has; the methods depend on nothing but them and the arguments.

    `template` is the question's name, the algorithm, or "maze"; `graph_digest` the digest of the graph it is about.
    `target` is the right answer in the form of the suite, `target_size` its number of rows; files call them `gold` and
    `gold_size`. The `reference_…` figures are those of the scripted expert's walk: turns, calls, and the tokens that a
    model would read and write on it (docs/method.md, Questions); None if a suite has no expert.
    """

    model_config = ConfigDict(
        frozen=True,
        alias_generator=lambda field: _NAMES_IN_FILES.get(field, field),
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    task_id: str
    suite: str
    template: str
    question: str
    parameters: dict[str, Scalar]
    target: Any
    target_size: int
    seed: int
    graph_digest: str
    reference_turns: int | None = None
    reference_calls: int | None = None
    reference_input_tokens: int | None = None
    reference_output_tokens: int | None = None

    def __repr__(self) -> str:
        """Return one line: name, question, and the size of the target."""
        return f"<Task {self.task_id}: {one_line(self.question, 100)} · target of size {self.target_size}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return question and target as a table, for a notebook."""
        rows = {"question": self.question, "target": self.target, "parameters": self.parameters}
        return html_table(self.task_id, rows)

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
    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring) -> Score:
        """Score an answer against the target. Episodes with infrastructure failures are not scored."""

    def answer_form(self) -> AnswerForm | None:
        """Return the form of a typed answer; None, the default, if an answer is free text."""
        return None


T = TypeVar("T", bound=Task)


class Tasks(NamedTuple, Generic[T]):
    """The tasks about one graph. `left_out`: name of a question or a setting → reason; `notes` are for the user."""

    asked: Sequence[T]
    left_out: Mapping[str, str] = {}
    notes: Sequence[str] = ()


C = TypeVar("C", bound=SuiteConfig)


@dataclass(frozen=True)
class ScriptedAgent(Generic[T]):
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

    def changed(self, change: Callable[[Policy, Random], Policy]) -> "ScriptedAgent[T]":
        """Return the agent with a policy changed by `flawed` or `varied` of graphwalk/suites/flawed.py."""

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
    tools: ClassVar[tuple[str, ...]] = ()
    """Default tools, which `agent.tools` overrides; empty if the suite does not use tools."""
    turn_limit: ClassVar[int] = 30
    """Default turn limit of an episode with tools, which `agent.turn_limit` overrides."""
    scripted_agents: ClassVar[Mapping[str, ScriptedAgent[Any]]] = {}
    """Scripted agents by name; `expert` is run as `scripted/expert`."""

    @classmethod
    def analysis_type(cls) -> "type[SuiteAnalysis[Any]] | None":
        """Return the class that explains episodes and lays out their report; None, the default: one for any suite.

        Import it in the body of this method: it needs much that a run is played without.
        """
        return None

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

    async def first_tasks(
        self, about: LoadedGraph, config: C, seed: int, agent: AgentConfig, most: int | None
    ) -> Tasks[T]:
        """Return at most `most` of `tasks` (None: all). A suite that needs time for a task can leave the others out."""
        tasks = await self.tasks(about, config, seed, agent)
        return tasks._replace(asked=tasks.asked[:most])

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


@cache
def suite_named(name: str) -> Suite[Any, Any]:
    """Return a suite, which is looked up once. Raise ConfigError for an unknown name or an incomplete class."""
    suite: type[Suite[Any, Any]] = SUITES.load(name)
    missing = [attribute for attribute in _REQUIRED if not hasattr(suite, attribute)]
    if missing:
        hint = f"{manual('extending')} has a complete example"
        raise ConfigError(f"the suite {name!r} lacks {', '.join(missing)}", hint=hint)
    return suite()
