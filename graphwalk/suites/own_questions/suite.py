"""Suite of your own questions with answers: the agent of `graphwalk ask`, with a score."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.evaluation.extraction import Extraction, extract
from graphwalk.evaluation.rows import row_form
from graphwalk.models.scripted import Policy
from graphwalk.reports.measures import layout, plain_report
from graphwalk.reports.suite_report import Grouping, SuiteReport
from graphwalk.settings import Settings
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.sources import READING_WAIT_SECONDS, open_source
from graphwalk.suites.ask.report import AskPresentation
from graphwalk.suites.ask.scripted import AskAgents
from graphwalk.suites.ask.suite import AskSuite
from graphwalk.suites.ask.task import cited_keys
from graphwalk.suites.graph_suite import QUERY_TOOLS
from graphwalk.suites.own_questions.dataset import Dataset
from graphwalk.suites.own_questions.targets import tasks_about
from graphwalk.suites.own_questions.task import OwnQuestionsConfig, OwnQuestionScore, OwnQuestionTask, score_answer
from graphwalk.suites.questions.suite import QuestionsSuite, settings_left_out
from graphwalk.suites.suite import EpisodeSetup, GraphInstance, Presentation, ScriptedAgents, Suite
from graphwalk.tools.tool import Tool, load_tools
from graphwalk.types.episode import Score, Task, Trajectory
from graphwalk.types.schema import Schema


class OwnQuestionAgents(AskAgents):
    def can_play(self, name: str, setting: str, task: Any = None) -> bool:
        return setting == "tools"

    def policy(self, name: str, task: Any, setting: str, schema: Schema | None, seed: int) -> Policy:
        """Return the agent of `ask` that ends with a list: the cited nodes that the question does not name."""
        reply = yield from super().policy(name, task, setting, schema, seed)
        return f"{reply}\n{json.dumps([key for key in cited_keys(reply) if key not in task.question])}"


class OwnQuestionPresentation(AskPresentation):
    def report(self, suite: Suite[Any, Any]) -> SuiteReport:
        return replace(
            plain_report(suite.name, suite.score_type),
            groupings=(Grouping("tag", "tag", lambda result: tuple(result["task"]["tags"])),),
            columns=layout(suite.name)["results"],
            group_columns=layout(suite.name)["groups"],
            remark=lambda result: f"{result['task_id']}: {text}" if (text := result["task"].get("remark")) else None,
        )


class OwnQuestionsSuite(AskSuite):
    name: ClassVar[str] = "own_questions"
    settings: ClassVar[tuple[str, ...]] = ("tools", "no_tools", "write_cypher")
    task_type: ClassVar[type[Task]] = OwnQuestionTask
    score_type: ClassVar[type[Score]] = OwnQuestionScore
    config_type: ClassVar[type[SuiteConfig]] = OwnQuestionsConfig
    judged: ClassVar[bool] = True
    agents: ClassVar[ScriptedAgents[Any]] = OwnQuestionAgents()
    presentation: ClassVar[Presentation[Any]] = OwnQuestionPresentation()

    def __init__(self) -> None:
        self._without_tools = QuestionsSuite()
        self._left_out: dict[str, str] = {}

    def graphs(self, config: Any, seed: int) -> Iterator[GraphInstance]:
        raise ConfigError("own questions have queries that need a store", hint="graphwalk run own-questions …")

    async def read_graphs(self, config: Any, seed: int, settings: Settings) -> AsyncIterator[GraphInstance]:
        """Yield the graph; its source is the tasks, for which the queries of the file run."""
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
        config: Any,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[Any]:
        assert instance.graph is not None
        assert store is not None
        self._left_out = dict(settings_left_out(instance.graph, store, agent))
        return list(instance.source)

    def notes(self, tasks: Sequence[Any]) -> Iterator[str]:
        yield from (f"{task.task_id}: {task.remark}" for task in tasks if task.remark)

    def left_out(self, instance: GraphInstance) -> Mapping[str, str]:
        return self._left_out

    def applies(self, task: Any, setting: str, config: Any) -> bool:
        return setting not in self._left_out

    async def setup(
        self,
        task: Any,
        setting: str,
        instance: GraphInstance,
        store: GraphStore | None,
        agent: AgentConfig,
        tools: Sequence[Tool] | None = None,
    ) -> EpisodeSetup:
        question = agent.render("own_question.j2", question=task.question, fields=task.fields)
        formatted = task.model_copy(update={"question": question})
        setup = super().setup if setting == "tools" else self._without_tools.setup
        return await setup(formatted, setting, instance, store, agent, tools)

    def extract(self, task: Any, reply: str) -> Extraction:
        return extract(reply, row_form(task.fields))

    def answer_format(self, task: Any, agent: AgentConfig = AgentConfig()) -> str:
        return agent.render("own_format.j2", fields=task.fields)

    def score(self, task: Any, setting: str, trajectory: Trajectory, extraction: Extraction) -> Any:
        return score_answer(task, setting, trajectory, extraction)

    def texts(self, config: Any) -> Mapping[str, str]:
        """Return the file of questions, and the YAML of the tool of write_cypher."""
        tools = {f"tools/{tool.name}.yaml": tool.file_text for tool in load_tools(QUERY_TOOLS)}
        file = config.dataset_file
        return {**tools, f"datasets/{file.name}": file.read_text(encoding="utf-8", errors="replace")}
