"""Suite of your own questions with answers: the agent of `graphwalk ask`, with a score."""

import hashlib
import json
import unicodedata
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from graphwalk.agent.prompt import AnswerForm, Prompt, rows_as_answer
from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.config.graph_source import EXAMPLE
from graphwalk.config.resources import data_path
from graphwalk.config.strict import SuiteConfig
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Row
from graphwalk.models.scripted import Policy
from graphwalk.models.trajectory import Trajectory
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.open import graph_in_memory
from graphwalk.stores.search import folded
from graphwalk.suites.extraction import Extraction, extract
from graphwalk.suites.graph_prompts import GRAPH_SETTINGS, graph_prompt, own_graph_prompt, query_texts
from graphwalk.suites.loaded_graph import (
    GraphInstance,
    LoadedGraph,
    OwnGraph,
    existing_path,
    file_of,
    own_instance,
    settings_left_out,
)
from graphwalk.suites.own_questions.look import look
from graphwalk.suites.own_questions.targets import VALUE, Target, find_targets
from graphwalk.suites.rows import compare_rows, row_form
from graphwalk.suites.suite import ANY_VALUE, Score, ScriptedAgent, Suite, Task, Tasks
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from graphwalk.variables import Variables

if TYPE_CHECKING:
    from graphwalk.suites.own_questions.report import OwnQuestionsAnalysis


class OwnQuestionsConfig(SuiteConfig):
    """The suite `own_questions`: your own questions with answers, on your own graph."""

    name: Literal["own_questions"] = "own_questions"
    graphs: tuple[OwnGraph, ...] = Field(default=(OwnGraph(file=Path(EXAMPLE)),), min_length=1, max_length=1)
    dataset: Annotated[Path, BeforeValidator(existing_path)] = Path(EXAMPLE)
    """File of questions with answers; "example": those of the built-in graph."""

    @property
    def foreign(self) -> bool:
        return True

    @property
    def dataset_file(self) -> Path:
        # A file of yours may have the name "example".
        is_example = str(self.dataset) == EXAMPLE and not self.dataset.exists()
        if is_example:
            return data_path("templates") / "graphs" / "harbour.questions.jsonl"
        return self.dataset

    def texts(self) -> Mapping[str, str]:
        """Return the file of questions, and the YAML of the tool of write_cypher."""
        file = self.dataset_file
        questions = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        return {**query_texts(), f"dataset/{file.name}": questions}


class OwnQuestionScore(Score):
    """The score of one answer: that of its rows.

    `answered`: it has a row. `abstained`: it is empty, although the question is answerable; None for others.
    `invented`: it has a row, although it is unanswerable; None for others.
    """

    answered: bool
    abstained: bool | None
    invented: bool | None


class OwnQuestionTask(Task):
    """A question with the rows of its target; none if the question is unanswerable.

    `fields`: columns; only `VALUE` for single values. `names`: key of a node in the target → texts that name only it.
    """

    target: list[Row]
    fields: tuple[str, ...]
    names: dict[str, tuple[str, ...]]
    tags: tuple[str, ...]
    cypher: str | None

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        """Return the prompt of `ask` with tools, else that of a graph; both with the form of the answer."""
        question = agent.render("own_question.j2", question=self.question, fields=self.fields)
        if setting == "tools":
            return await own_graph_prompt(question, about, agent)
        return await graph_prompt(question, about, setting, agent)

    def read(self, reply: str) -> Extraction:
        return extract(reply, row_form(self.fields))

    def answer_form(self) -> AnswerForm:
        form = rows_as_answer(dict.fromkeys(self.fields, ANY_VALUE))
        if self.fields != (VALUE,):
            return form
        # ["Bergen", "Tromsø"] instead of [{"value": "Bergen"}, {"value": "Tromsø"}]
        list_of_values = {"type": "array", "items": {"type": ANY_VALUE}}
        return form._replace(schema=list_of_values)

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("own_format.j2", fields=self.fields)

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> OwnQuestionScore:
        answer: list[Row] | None = extraction.answer
        values = _ComparableValues(self.names, scoring)
        rows = None if answer is None else values.in_rows(answer, self.fields)
        compared = compare_rows(rows, values.in_rows(self.target, self.fields), self.fields)
        is_answerable = bool(self.target)
        has_rows = bool(answer)
        return OwnQuestionScore(
            **asdict(compared),
            extraction_stage=extraction.stage,
            lossy=extraction.lossy,
            answered=has_rows,
            abstained=answer == [] if is_answerable else None,
            invented=None if is_answerable else has_rows,
        )


class _ComparableValues:
    """The values of answers and targets, written so that two are equal if they mean the same."""

    def __init__(self, names: Mapping[str, Iterable[str]], scoring: Scoring) -> None:
        self._has_folded_texts = scoring.text == "folded"
        self._key_by_name: dict[str, str] = {}
        """Name of a node → its key, both as they are compared: {"bergen": "h1"}."""
        for key, names_of_node in names.items():
            for name in names_of_node:
                self._key_by_name[self._text(name)] = self._text(key)

    def in_rows(self, rows: Iterable[Row], fields: Sequence[str]) -> list[Row]:
        """Return the rows with comparable values in these fields, null in those that a row lacks."""
        comparable_rows = []
        for row in rows:
            comparable_rows.append({field: self._comparable(row.get(field)) for field in fields})
        return comparable_rows

    def _comparable(self, value: Any) -> Any:
        # The order of a list does not count: collect() has none.
        if isinstance(value, list):
            return sorted((self._comparable(item) for item in value), key=repr)
        text = self._text(str(value))
        if text in self._key_by_name:
            return self._key_by_name[text]
        return text if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        # "é" may be one character, or "e" and an accent.
        return folded(text) if self._has_folded_texts else unicodedata.normalize("NFC", text)


def look_up(task: OwnQuestionTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Answer in words, and with the values that the question names."""
    text, values = yield from look(task.question)
    return f"{text}\n{json.dumps(values)}"


SCRIPTED_AGENTS: Mapping[str, ScriptedAgent[OwnQuestionTask]] = {"look": ScriptedAgent(look_up, default=True)}


class OwnQuestionsSuite(Suite[OwnQuestionsConfig, OwnQuestionTask]):
    """Your own questions: graphs and settings as in `questions`, with the tools and the prompt of `ask`."""

    name = "own_questions"
    settings = GRAPH_SETTINGS
    config_type = OwnQuestionsConfig
    task_type = OwnQuestionTask
    score_type = OwnQuestionScore
    tools = OWN_GRAPH_TOOLS
    scripted_agents = SCRIPTED_AGENTS

    @classmethod
    def analysis_type(cls) -> "type[OwnQuestionsAnalysis]":
        from graphwalk.suites.own_questions.report import OwnQuestionsAnalysis

        return OwnQuestionsAnalysis

    def graphs(self, config: OwnQuestionsConfig, seed: int) -> Iterator[GraphInstance]:
        yield own_instance(0, config.graphs[0], file_of(config.graphs[0]))

    async def read_graphs(
        self, config: OwnQuestionsConfig, seed: int, variables: Variables
    ) -> AsyncIterator[GraphInstance]:
        yield own_instance(0, config.graphs[0], await graph_in_memory(config.graphs[0], variables))

    async def tasks(
        self, about: LoadedGraph, config: OwnQuestionsConfig, seed: int, agent: AgentConfig
    ) -> Tasks[OwnQuestionTask]:
        """Return the tasks of the file. Queries run in your database if all of it is asked about, else in memory."""
        assert about.store is not None
        graph = about.graph
        store = about.store
        database = about.instance.existing_database
        is_whole_database = database is not None and database.labels is None and database.relationship_types is None
        async with EmbeddedDatabase() as memory:
            engine = store if store.takes_queries or is_whole_database else await memory.load(graph)
            targets = await find_targets(graph, engine, config.dataset_file, agent)
        tasks = [_task(target, graph, seed) for target in targets]
        return Tasks(tasks, settings_left_out(graph, store, agent))


def _task(target: Target, graph: PropertyGraph, seed: int) -> OwnQuestionTask:
    question = target.question
    rows = target.rows
    identity = f"{graph.digest}\x1f{question.question}".encode("utf-8", "replace")
    return OwnQuestionTask(
        task_id=question.id or f"ask-{hashlib.sha256(identity).hexdigest()[:12]}",
        suite=OwnQuestionsSuite.name,
        template="own_question",
        question=question.question,
        parameters={},
        target=rows,
        target_size=len(rows),
        seed=seed,
        graph_digest=graph.digest,
        fields=tuple(rows[0]) if rows else (VALUE,),
        names=target.names,
        tags=question.tags,
        cypher=question.cypher,
    )
