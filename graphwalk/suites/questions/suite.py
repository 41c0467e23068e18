"""Suite of questions on property graphs."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError, OracleError
from graphwalk.evaluation.extraction import Extraction
from graphwalk.evaluation.rows import distinct, same_rows
from graphwalk.graphs.anonymise import AnonymisedCopy, make_anonymised_copy
from graphwalk.graphs.generate import generate_graph
from graphwalk.graphs.text import graph_text
from graphwalk.settings import Settings
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.sources import read_file, read_source
from graphwalk.suites.graph_suite import GraphSuite
from graphwalk.suites.questions.agents.scripted import QuestionAgents
from graphwalk.suites.questions.config import ANY_ROWS, GeneratedGraph, OwnGraph, QuestionsConfig
from graphwalk.suites.questions.prompts import no_tools_system, whole_text_tokens
from graphwalk.suites.questions.report import QuestionPresentation
from graphwalk.suites.questions.scoring.altered_questions import GraphViews
from graphwalk.suites.questions.scoring.failures import failure_of
from graphwalk.suites.questions.scoring.score import QuestionScore, extract_rows, score_question
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tasks.make_tasks import OWN_ROWS, copy_tasks, in_other_words, make_tasks
from graphwalk.suites.suite import EpisodeSetup, GraphInstance, Presentation, ScriptedAgents, Verification
from graphwalk.tools.by_reference import ReferenceToolbox
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import Tool
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, Task, Trajectory
from graphwalk.types.graph import PropertyGraph

BY_REFERENCE = "rows_of_results"
"""Operation of the tool `answer`."""
MOST_TEXT = 2_000_000
"""Maximum characters of a graph as text, about the context of the largest models."""
_MOST_VIEWS = 3
"""Graphs whose changed copies are kept for the analysis of failures."""


@dataclass(frozen=True)
class OwnGraphOrigin:
    """Origin of a graph: an entry of `suite.graphs`, and for an anonymised copy also the copy's mapping."""

    entry: OwnGraph
    copy: AnonymisedCopy | None = None


class QuestionVerification(Verification[QuestionsConfig, QuestionTask]):
    async def confirm(self, task: QuestionTask, instance: GraphInstance, config: QuestionsConfig) -> str | None:
        """Compute the target again over networkx."""
        kind = next(kind for kind in config.kinds if kind.name == task.template)
        part = None if kind.python is None else kind.python(**task.parameters)
        rows = None if part is None else part.rows_by_brute_force(_graph(instance))
        # Of several tied rows the paper's query returns one.
        size = len(task.gold) + task.tied_rows
        if rows is not None and not (len(distinct(rows)) == size and same_rows([*rows, *task.gold], rows)):
            raise OracleError(f"brute force over networkx finds other rows for {task.template} {task.parameters}")
        return None if rows is None else "networkx"


class QuestionsSuite(GraphSuite[QuestionsConfig, QuestionTask]):
    """Questions about generated graphs (docs/method.md, Questions and Graphs) and your own."""

    name: ClassVar[str] = "questions"
    task_type: ClassVar[type[Task]] = QuestionTask
    score_type: ClassVar[type[Score]] = QuestionScore
    config_type: ClassVar[type[SuiteConfig]] = QuestionsConfig
    graphs_field: ClassVar[str] = "graphs"
    thing: ClassVar[str] = "graph"
    explains: ClassVar[bool] = True
    agents: ClassVar[ScriptedAgents[Any]] = QuestionAgents()
    presentation: ClassVar[Presentation[Any]] = QuestionPresentation()
    verification: ClassVar[Verification[Any, Any]] = QuestionVerification()

    def __init__(self) -> None:
        super().__init__()
        self._whole: dict[tuple[str, AgentConfig], Message] = {}
        """System prompt with the whole graph by graph and agent, shared by all episodes."""
        self._made: dict[tuple[str, int], list[QuestionTask]] = {}
        """Tasks about own graphs by digest and seed, which anonymised copies repeat."""
        self._left_out: dict[str, dict[str, str]] = {}
        """Questions that graphs cannot host, and settings in which own graphs cannot be used, by digest."""
        self._views: dict[str, GraphViews] = {}
        """Views of the graphs of the latest wrong answers, by digest."""

    def graphs(self, config: QuestionsConfig, seed: int) -> Iterator[GraphInstance]:
        """Yield the graphs that need no database. Raise ConfigError for one that does."""
        for place, entry in enumerate(config.graphs):
            if isinstance(entry, OwnGraph) and entry.file is None:
                raise ConfigError(f"{entry.name} is in a database", hint="use Suite.read_graphs")
            if isinstance(entry, GeneratedGraph):
                yield from _generated(place, entry, seed, config)
            else:
                yield from _own(place, entry, seed, read_file(entry))

    async def read_graphs(self, config: QuestionsConfig, seed: int, settings: Settings) -> AsyncIterator[GraphInstance]:
        for place, entry in enumerate(config.graphs):
            if isinstance(entry, GeneratedGraph):
                instances = _generated(place, entry, seed, config)
            else:
                instances = _own(place, entry, seed, await read_source(entry, settings))
            for instance in instances:
                yield instance

    async def tasks(
        self,
        instance: GraphInstance,
        store: GraphStore | None,
        config: QuestionsConfig,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[QuestionTask]:
        assert store is not None
        drawing: dict[str, Any] = {
            "seed": seed,
            "kinds": config.kinds,
            "agent": agent,
            "per_question": config.per_question,
            "answer_rows": config.answer_rows,
            "drawing": config.drawing,
            "target": config.target,
        }
        if isinstance(instance.source, OwnGraphOrigin):
            tasks = await self._own_tasks(instance, store, drawing)
        else:
            reasons: dict[str, str] = {}
            left_out = reasons if config.leaves_out else None
            tasks = await make_tasks(_graph(instance), store, left_out=left_out, **drawing)
            self._left_out[instance.digest] = {**reasons, **dict(_queries_left_out(store))}
        if config.wording == "standard":
            return tasks
        kinds = {kind.name: kind for kind in config.kinds}
        return [in_other_words(task, kinds[task.template], config.wording, seed) for task in tasks]

    async def _own_tasks(
        self, instance: GraphInstance, store: GraphStore, drawing: dict[str, Any]
    ) -> list[QuestionTask]:
        """Return the tasks about an own graph, or about its copy: those about the original, made once."""
        graph, copy, seed, agent = _graph(instance), instance.source.copy, drawing["seed"], drawing["agent"]
        reasons = self._left_out[graph.digest] = dict(settings_left_out(graph, store, agent))
        rows = [OWN_ROWS if bounds == ANY_ROWS else bounds for bounds in drawing["answer_rows"]]
        drawing = {**drawing, "own": True, "answer_rows": rows}
        if copy is None:
            tasks = await make_tasks(graph, store, left_out=reasons, **drawing)
            self._made[graph.digest, seed] = tasks
            return tasks
        key = copy.original.digest, seed
        if key not in self._made:
            embedded = await EmbeddedDatabase().load(copy.original)
            self._made[key] = await make_tasks(copy.original, embedded, left_out={}, **drawing)
        return await copy_tasks(
            copy, self._made[key], store, drawing["kinds"], seed=seed, left_out=reasons, agent=agent
        )

    def left_out(self, instance: GraphInstance) -> Mapping[str, str]:
        return self._left_out.get(instance.digest, {})

    def applies(self, task: QuestionTask, setting: str, config: QuestionsConfig) -> bool:
        """Return False for an own graph that is too large as text, or a graph in a store that refuses queries."""
        return setting not in self._left_out.get(task.graph_digest, {})

    async def setup(
        self,
        task: QuestionTask,
        setting: str,
        instance: GraphInstance,
        store: GraphStore | None,
        agent: AgentConfig,
        tools: Sequence[Tool] | None = None,
    ) -> EpisodeSetup:
        own = None if isinstance(instance.source, OwnGraphOrigin) and agent.tools is None else tools
        setup = await super().setup(task, setting, instance, store, agent, own)
        answering = next((tool for tool in tools or () if tool.operation == BY_REFERENCE), None)
        if answering is None or setting != "tools":
            return setup
        assert isinstance(setup.toolbox, GraphToolbox)
        return replace(setup, toolbox=ReferenceToolbox(setup.toolbox, answering, agent))

    def no_tools_prompt(self, task: QuestionTask, instance: GraphInstance, agent: AgentConfig) -> tuple[Message, ...]:
        if (instance.digest, agent) not in self._whole:
            self._whole[instance.digest, agent] = no_tools_system(_graph(instance), agent)
        return self._whole[instance.digest, agent], Message("user", task.question)

    def extract(self, task: QuestionTask, reply: str) -> Extraction:
        return extract_rows(task, reply)

    def answer_format(self, task: QuestionTask, agent: AgentConfig = AgentConfig()) -> str:
        return agent.render("graph_format.j2", fields=task.answer_fields)

    def score(self, task: QuestionTask, setting: str, trajectory: Trajectory, extraction: Extraction) -> QuestionScore:
        return score_question(task, setting, trajectory, extraction)

    def explain(
        self,
        task: QuestionTask,
        setting: str,
        trajectory: Trajectory,
        answer: Any,
        score: Score,
        instance: GraphInstance,
    ) -> Score:
        assert isinstance(score, QuestionScore)
        failure = failure_of(task, setting, trajectory, answer, score, self._views_of(instance))
        return score.model_copy(update=vars(failure))

    def _views_of(self, instance: GraphInstance) -> GraphViews:
        """Return the views of a graph; those of the last few graphs are kept."""
        views = self._views.pop(instance.digest, None) or GraphViews(_graph(instance))
        self._views[instance.digest] = views
        for digest in list(self._views)[:-_MOST_VIEWS]:
            self._views.pop(digest, None)  # another thread may have removed it
        return views

    def texts(self, config: QuestionsConfig) -> Mapping[str, str]:
        """Return the YAML of every question, and of the tool of write_cypher."""
        return {**{f"questions/{kind.name}.yaml": kind.file.text for kind in config.kinds}, **super().texts(config)}


def _generated(place: int, spec: GeneratedGraph, seed: int, config: QuestionsConfig) -> Iterator[GraphInstance]:
    for index in range(spec.count):
        graph = generate_graph(spec, seed, index)
        tokens = {"text_tokens": whole_text_tokens(graph)} if config.text_tokens else {}
        named = {} if spec.name is None else {"name": spec.name}
        facts = {"entry": place, "index": index, "preset": spec.preset, **named, **tokens}
        yield GraphInstance.of(graph, facts=facts)


def _own(place: int, entry: OwnGraph, seed: int, graph: PropertyGraph) -> Iterator[GraphInstance]:
    """Yield the graph and, if configured, its anonymised copy; `place` is the position in `suite.graphs`."""
    existing_database = entry if entry.neo4j is not None else None
    original = GraphInstance.of(graph, OwnGraphOrigin(entry), {"entry": place, **entry.facts})
    yield replace(original, existing_database=existing_database)
    if entry.twin:
        copy = make_anonymised_copy(graph, seed)
        facts = {"entry": place, **entry.facts, "name": f"{entry.name} (twin)", "twin_of": graph.digest}
        instance = GraphInstance.of(copy.graph, OwnGraphOrigin(entry, copy), facts)
        yield replace(instance, in_memory=existing_database is not None)


def _graph(instance: GraphInstance) -> PropertyGraph:
    assert instance.graph is not None
    return instance.graph


def settings_left_out(graph: PropertyGraph, store: GraphStore, agent: AgentConfig) -> Iterator[tuple[str, str]]:
    """Yield the settings that a graph does not support, with reasons."""
    yield from _queries_left_out(store)
    size = len(graph_text(graph, agent.graph_encoding)) if graph.node_count <= MOST_TEXT else graph.node_count
    if size > MOST_TEXT:
        yield "no_tools", f"the graph has {size:,} characters as text, more than {MOST_TEXT:,}"


def _queries_left_out(store: GraphStore) -> Iterator[tuple[str, str]]:
    if not store.takes_queries:
        yield "write_cypher", "queries of a model run on a copy of the graph in the embedded engine (store: embedded)"
