"""Suite of your own questions with answers: the agent of `graphwalk ask`, with a score."""

import hashlib
import json
import unicodedata
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from graphwalk.agent.prompt import AnswerForm, Prompt, rows_as_answer
from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.config.graph_source import EXAMPLE
from graphwalk.config.resources import data_path
from graphwalk.config.strict import SuiteConfig
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
from graphwalk.suites.own_questions.targets import VALUE, find_targets
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
        is_example = str(self.dataset) == EXAMPLE and not self.dataset.exists()
        return data_path("templates") / "graphs" / "harbour.questions.jsonl" if is_example else self.dataset

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
        values = {"type": "array", "items": {"type": ANY_VALUE}}
        return form._replace(schema=values) if self.fields == (VALUE,) else form

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("own_format.j2", fields=self.fields)

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> OwnQuestionScore:
        answer: list[Row] = extraction.answer or []
        write = folded if scoring.text == "folded" else partial(unicodedata.normalize, "NFC")
        keys = {write(name): write(key) for key, names in self.names.items() for name in names}

        def comparable(value: Any) -> Any:
            """Return a value so that texts are equal that mean the same, and lists in any order."""
            if isinstance(value, list):
                return sorted(map(comparable, value), key=repr)
            text = write(str(value))
            return keys.get(text, text if isinstance(value, str) else value)

        rows, target = (
            [{field: comparable(row.get(field)) for field in self.fields} for row in rows]
            for rows in (answer, self.target)
        )
        return OwnQuestionScore(
            **asdict(compare_rows(None if extraction.answer is None else rows, target, self.fields)),
            extraction_stage=extraction.stage,
            lossy=extraction.lossy,
            answered=bool(answer),
            abstained=extraction.answer == [] if target else None,
            invented=None if target else bool(answer),
        )


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
        graph, store, database = about.graph, about.store, about.instance.existing_database
        whole = database is not None and database.labels is database.relationship_types is None
        async with EmbeddedDatabase() as memory:
            engine = store if store.takes_queries or whole else await memory.load(graph)
            targets = await find_targets(graph, engine, config.dataset_file, agent)
        tasks = []
        for question, rows, names in targets:
            digest = hashlib.sha256(f"{graph.digest}\x1f{question.question}".encode("utf-8", "replace")).hexdigest()
            task = OwnQuestionTask(
                task_id=question.id or f"ask-{digest[:12]}",
                suite=self.name,
                template="own_question",
                question=question.question,
                parameters={},
                target=rows,
                target_size=len(rows),
                seed=seed,
                graph_digest=graph.digest,
                fields=tuple(rows[0]) if rows else (VALUE,),
                names=names,
                tags=question.tags,
                cypher=question.cypher,
            )
            tasks.append(task)
        return Tasks(tasks, settings_left_out(graph, store, agent))
