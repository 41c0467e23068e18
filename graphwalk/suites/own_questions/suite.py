"""Suite of your own questions with answers: the agent of `graphwalk ask`, with a score."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.evaluation.extraction import Extraction, extract
from graphwalk.evaluation.rows import compare_rows, row_form
from graphwalk.models.scripted import Policy
from graphwalk.reports.measures import plain_report
from graphwalk.reports.suite_report import Grouping, SuiteReport
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.ask.report import AskPresentation
from graphwalk.suites.ask.scripted import AskAgents, look
from graphwalk.suites.ask.suite import AskSuite
from graphwalk.suites.graph_suite import GraphSuite
from graphwalk.suites.own_questions.dataset import Dataset
from graphwalk.suites.own_questions.targets import holds_only, tasks_about
from graphwalk.suites.own_questions.task import OwnQuestionsConfig, OwnQuestionScore, OwnQuestionTask, comparable_rows
from graphwalk.suites.questions.suite import QuestionsSuite, settings_left_out
from graphwalk.suites.suite import EpisodeSetup, GraphInstance, Suite, Verification
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from graphwalk.tools.observed_values import tool_evidence
from graphwalk.tools.tool import Tool
from graphwalk.types.episode import Trajectory
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

_MOST_ROWS = 10_000
"""Rows of an answer whose texts are looked up in results."""


class OwnQuestionAgents(AskAgents):
    def can_play(self, name: str, setting: str, task: Any = None) -> bool:
        return setting == "tools"

    def policy(self, name: str, task: Any, setting: str, schema: Schema | None, seed: int) -> Policy:
        text, values = yield from look(task.question)
        return f"{text}\n{json.dumps(values)}"


class OwnQuestionPresentation(AskPresentation):
    def report(self, suite: Suite[Any, Any]) -> SuiteReport:
        by_tag = Grouping("tag", "tag", lambda result: tuple(result["task"]["tags"]))
        return replace(plain_report(suite.name, suite.score_type), groupings=(by_tag,))


class OwnQuestionsSuite(QuestionsSuite):
    """Your own questions: graphs and settings as in `questions`, with the tools and the prompt of `ask`."""

    name = "own_questions"
    task_type = OwnQuestionTask
    score_type = OwnQuestionScore
    config_type = OwnQuestionsConfig
    thing = "own graph"
    explains, explain = False, Suite.explain
    tools = OWN_GRAPH_TOOLS
    agents = OwnQuestionAgents()
    presentation = OwnQuestionPresentation()
    verification = Verification()

    async def tasks(
        self,
        instance: GraphInstance,
        store: GraphStore | None,
        config: Any,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[Any]:
        """Return the tasks of the file. Queries run in memory, and in a Neo4j that holds only this graph."""
        assert instance.graph is not None
        assert store is not None
        graph = instance.graph
        self._left_out[graph.digest] = dict(settings_left_out(graph, store, agent))
        dataset = Dataset(config.dataset_file, config.dataset_graph, instance.facts["name"])
        async with EmbeddedDatabase() as memory:
            engines = [store if store.takes_queries else await memory.load(graph)]
            if store.in_neo4j and await holds_only(store, graph, agent):
                # A database of yours counts before the copy of it.
                engines.insert(0 if instance.existing_database else 1, store)
            return await tasks_about(graph, engines, dataset, agent, seed)

    def notes(self, tasks: Sequence[Any]) -> Iterator[str]:
        yield from (f"{task.task_id}, {task.remark}" for task in tasks if task.remark)

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
        setup = AskSuite().setup if setting == "tools" else super().setup
        return await setup(formatted, setting, instance, store, agent, tools)

    def extract(self, task: Any, reply: str) -> Extraction:
        return extract(reply, row_form(task.fields))

    def answer_format(self, task: Any, agent: AgentConfig = AgentConfig()) -> str:
        return agent.render("own_format.j2", fields=task.fields)

    def score(self, task: Any, setting: str, trajectory: Trajectory, extraction: Extraction) -> Any:
        answer: list[Row] = extraction.answer or []
        rows, gold = comparable_rows(task, answer)
        seen = tool_evidence(trajectory)
        texts = [row[field] for row in answer[:_MOST_ROWS] for field in task.fields if isinstance(row.get(field), str)]
        return OwnQuestionScore(
            **asdict(compare_rows(None if extraction.answer is None else rows, gold, task.fields)),
            extraction_stage=extraction.stage,
            lossy=extraction.lossy,
            grounded=sum(map(seen.holds, texts)) / len(texts) if texts and setting != "no_tools" else None,
            answered=bool(answer),
            abstained=extraction.answer == [] if gold else None,
            invented=None if gold else bool(answer),
        )

    def texts(self, config: Any) -> Mapping[str, str]:
        """Return the file of questions, and the YAML of the tool of write_cypher."""
        file = config.dataset_file
        questions = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        return {**GraphSuite.texts(self, config), f"dataset/{file.name}": questions}
