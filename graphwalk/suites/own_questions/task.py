"""Configuration, tasks and scores of your own questions with answers."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import EXAMPLE
from graphwalk.config.scoring import Scoring
from graphwalk.config.strict import SuiteConfig
from graphwalk.evaluation.extraction import Extraction, extract
from graphwalk.evaluation.rows import compare_rows, row_form, typed_rows
from graphwalk.files.resources import data_path
from graphwalk.stores.search import folded
from graphwalk.suites.graph_prompts import graph_prompt, own_graph_prompt, query_texts
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.own_graphs import OwnGraph, existing_path
from graphwalk.suites.own_questions.dataset import VALUE
from graphwalk.suites.task import ANY_VALUE, AnswerForm, Prompt, Task, rows_as_answer
from graphwalk.types.episode import Score, Trajectory
from graphwalk.types.temporals import read_temporal
from graphwalk.types.values import Row

NEAR = 1e-9
"""Largest relative difference of equal numbers; whole ones are equal or not."""
_MIDNIGHT = re.compile(r"T00:00(:00)?(Z|\+00:00)?$")


class GraphToAsk(OwnGraph):
    """Your own graph, without an anonymised copy."""

    twin: Literal[False] = False
    """Not for your own questions."""


class OwnQuestionsConfig(SuiteConfig):
    """The suite `own_questions`: your own questions with answers, on your own graph."""

    name: Literal["own_questions"] = "own_questions"
    graphs: tuple[GraphToAsk, ...] = Field(default=(GraphToAsk(file=Path(EXAMPLE)),), min_length=1, max_length=1)
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
        return (
            form._replace(schema={"type": "array", "items": {"type": ANY_VALUE}}) if self.fields == (VALUE,) else form
        )

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("own_format.j2", fields=self.fields)

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> OwnQuestionScore:
        answer: list[Row] = extraction.answer or []
        rows, target = comparable_rows(self, answer, folding=scoring.text == "folded")
        return OwnQuestionScore(
            **asdict(compare_rows(None if extraction.answer is None else rows, target, self.fields)),
            extraction_stage=extraction.stage,
            lossy=extraction.lossy,
            answered=bool(answer),
            abstained=extraction.answer == [] if target else None,
            invented=None if target else bool(answer),
        )


def comparable_rows(
    task: OwnQuestionTask, answer: Iterable[Row], *, folding: bool = False
) -> tuple[list[Row], list[Row]]:
    """Return the rows of answer and target, with values as texts that are equal where the values are.

    `folding`: texts are equal without differences of case, accents and spaces.
    """

    def text(value: Any) -> str:
        if isinstance(value, list):
            return repr(sorted(map(text, value)))
        if isinstance(value, str):
            same = folded(value) if folding else unicodedata.normalize("NFC", value)
            return f"text {_as_date(value) or same}"
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"number {value if value % 1 else int(value)}"
        return repr(value)

    keys = {text(name): text(key) for key, names in task.names.items() for name in names}

    def comparable(rows: Iterable[Row]) -> list[Row]:
        return [{field: keys.get(cell := text(row.get(field)), cell) for field in task.fields} for row in rows]

    return comparable(typed_rows(answer, task.target, task.fields, near=NEAR)), comparable(task.target)


def _as_date(text: str) -> str | None:
    """Return a date or time in one form, without a time of zero; None for other texts."""
    try:
        return _MIDNIGHT.sub("", read_temporal(text).text) if text[:1].isdigit() else None
    except ValueError:
        return None
