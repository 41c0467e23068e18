"""Suite of your own questions with answers, on your own graph."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.evaluation.extraction import Extraction
from graphwalk.models.scripted import Policy
from graphwalk.settings import Settings
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.sources import READING_WAIT_SECONDS, open_source
from graphwalk.suites.ask.scripted import AskAgents
from graphwalk.suites.ask.suite import AskSuite
from graphwalk.suites.ask.task import cited_keys
from graphwalk.suites.own_questions.dataset import Dataset
from graphwalk.suites.own_questions.report import OwnQuestionPresentation
from graphwalk.suites.own_questions.score import OwnQuestionScore, extract_answer, score_answer
from graphwalk.suites.own_questions.targets import tasks_about
from graphwalk.suites.own_questions.task import OwnQuestionsConfig, OwnQuestionTask
from graphwalk.suites.questions.prompts import no_tools_system, with_schema
from graphwalk.suites.questions.suite import QUERY_TOOLS, settings_left_out
from graphwalk.suites.suite import EpisodeSetup, GraphInstance, Presentation, ScriptedAgents, Suite
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.schema_text import schema_text
from graphwalk.tools.tool import Tool, load_tools
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, Task, Trajectory
from graphwalk.types.schema import Schema


class OwnQuestionAgents(AskAgents):
    def can_play(self, name: str, setting: str, task: Any = None) -> bool:
        return setting == "tools"

    def policy(self, name: str, task: Any, setting: str, schema: Schema | None, seed: int) -> Policy:
        """Return the agent of `ask` that ends with a list: the cited nodes that the question does not name."""
        reply = yield from super().policy(name, task, setting, schema, seed)
        return f"{reply}\n{json.dumps([key for key in cited_keys(reply) if key not in task.question])}"


class OwnQuestionsSuite(Suite[OwnQuestionsConfig, OwnQuestionTask]):
    """Your own questions with answers. The agent is that of `graphwalk ask`."""

    name: ClassVar[str] = "own_questions"
    settings: ClassVar[tuple[str, ...]] = ("tools", "no_tools", "write_cypher")
    task_type: ClassVar[type[Task]] = OwnQuestionTask
    score_type: ClassVar[type[Score]] = OwnQuestionScore
    config_type: ClassVar[type[SuiteConfig]] = OwnQuestionsConfig
    graphs_field: ClassVar[str] = "graphs"
    thing: ClassVar[str] = "own graph"
    tools: ClassVar[tuple[str, ...]] = AskSuite.tools
    folds: ClassVar[bool] = True
    agents: ClassVar[ScriptedAgents[Any]] = OwnQuestionAgents()
    presentation: ClassVar[Presentation[Any]] = OwnQuestionPresentation()

    def __init__(self) -> None:
        self._left_out: dict[str, dict[str, str]] = {}

    def graphs(self, config: OwnQuestionsConfig, seed: int) -> Iterator[GraphInstance]:
        raise ConfigError("the queries of own questions need a store", hint="use Suite.read_graphs")

    async def read_graphs(
        self, config: OwnQuestionsConfig, seed: int, settings: Settings
    ) -> AsyncIterator[GraphInstance]:
        (entry,) = config.graphs
        dataset = Dataset(config.dataset_file, config.dataset_graph, entry.name)
        wait_seconds = READING_WAIT_SECONDS
        async with open_source(entry, settings, wait_seconds=wait_seconds) as opened, EmbeddedDatabase() as memory:
            graph = opened.graph or await opened.store.read_graph()
            copy = await memory.load(graph)
            # A query would see more of a database than the part that is chosen.
            is_whole = entry.neo4j is not None and entry.labels is None and entry.relationship_types is None
            stores = [opened.store, copy] if is_whole else [copy]
            tasks = await tasks_about(graph, stores, dataset, config.query_seconds, seed)
        existing = None if entry.neo4j is None else entry
        yield replace(GraphInstance.of(graph, tasks, entry.facts), existing_database=existing)

    async def tasks(
        self,
        instance: GraphInstance,
        store: GraphStore | None,
        config: OwnQuestionsConfig,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[OwnQuestionTask]:
        assert instance.graph is not None
        assert store is not None
        self._left_out[instance.digest] = dict(settings_left_out(instance.graph, store, agent))
        return list(instance.source)

    def left_out(self, instance: GraphInstance) -> Mapping[str, str]:
        return self._left_out.get(instance.digest, {})

    def applies(self, task: OwnQuestionTask, setting: str, config: OwnQuestionsConfig) -> bool:
        return setting not in self._left_out.get(task.graph_digest, {})

    async def setup(
        self,
        task: OwnQuestionTask,
        setting: str,
        instance: GraphInstance,
        store: GraphStore | None,
        agent: AgentConfig,
        tools: Sequence[Tool] | None = None,
    ) -> EpisodeSetup:
        question = Message("user", agent.render("own_question.j2", question=task.question, fields=task.fields))
        if setting == "no_tools":
            assert instance.graph is not None
            return EpisodeSetup((no_tools_system(instance.graph, agent), question))
        assert store is not None
        schema = await store.schema(agent.schema_samples)
        if setting == "write_cypher":
            system = with_schema("graph_write_cypher.j2", schema, agent)
            return EpisodeSetup((system, question), GraphToolbox(store, schema, load_tools(QUERY_TOOLS), agent))
        system = Message("system", agent.render("ask.j2", schema=schema_text(schema, agent), clock=agent.clock))
        return EpisodeSetup((system, question), GraphToolbox(store, schema, tools, agent))

    def extract(self, task: OwnQuestionTask, reply: str) -> Extraction:
        return extract_answer(task, reply)

    def answer_format(self, task: OwnQuestionTask, agent: AgentConfig = AgentConfig()) -> str:
        return agent.render("own_format.j2", fields=task.fields)

    def score(
        self, task: OwnQuestionTask, setting: str, trajectory: Trajectory, extraction: Extraction
    ) -> OwnQuestionScore:
        return score_answer(task, setting, trajectory, extraction)

    def texts(self, config: OwnQuestionsConfig) -> Mapping[str, str]:
        """Return the file of questions, and the YAML of the tool of write_cypher."""
        tools = {f"tools/{tool.name}.yaml": tool.file_text for tool in load_tools(QUERY_TOOLS)}
        file = config.dataset_file
        return {**tools, f"datasets/{file.name}": file.read_text(encoding="utf-8", errors="replace")}
