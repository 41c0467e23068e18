"""Configuration, tasks and scores of your own questions with answers."""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from graphwalk.config.graph_source import EXAMPLE
from graphwalk.config.strict import SuiteConfig
from graphwalk.evaluation.rows import typed_rows
from graphwalk.files.resources import data_path
from graphwalk.stores.search import folded
from graphwalk.suites.ask.task import AskTask
from graphwalk.suites.questions.config import OwnGraph, existing_path
from graphwalk.types.episode import Score
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
    dataset_graph: str | None = None
    """Graph of a CypherBench file whose questions are asked. None: the only one, or the one with your graph's name."""

    @property
    def foreign(self) -> bool:
        return True

    @property
    def dataset_file(self) -> Path:
        is_example = str(self.dataset) == EXAMPLE and not self.dataset.exists()
        return data_path("templates") / "graphs" / "harbour.questions.jsonl" if is_example else self.dataset


class OwnQuestionTask(AskTask):
    """A question with the rows of its target; none if the question is unanswerable.

    `fields`: columns; only `VALUE` for single values. `names`: key of a node in the target → texts that name only it.
    """

    gold: list[Row]
    fields: tuple[str, ...]
    names: dict[str, tuple[str, ...]]
    tags: tuple[str, ...]
    cypher: str | None
    remark: str = Field(default="", exclude=True)
    """Which other source has another target; not logged, since it depends on the databases at hand."""
    folded: bool = Field(default=False, exclude=True)
    """Compare texts without differences of case, accents and spaces (`scoring.text`)."""


class OwnQuestionScore(Score):
    """The score of one answer: that of its rows.

    `answered`: it has a row. `abstained`: it is empty, although the question is answerable; None for others.
    `invented`: it has a row, although it is unanswerable; None for others. `grounded`: share of its texts in results.
    """

    answered: bool
    abstained: bool | None
    invented: bool | None


def comparable_rows(task: OwnQuestionTask, answer: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows of answer and target, with values as texts that are equal where the values are."""

    def text(value: Any) -> str:
        if isinstance(value, list):
            return repr(sorted(map(text, value)))
        if isinstance(value, str):
            same = folded(value) if task.folded else unicodedata.normalize("NFC", value)
            return f"text {_as_date(value) or same}"
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"number {value if value % 1 else int(value)}"
        return repr(value)

    keys = {text(name): text(key) for key, names in task.names.items() for name in names}

    def comparable(rows: Iterable[Row]) -> list[Row]:
        return [{field: keys.get(cell := text(row.get(field)), cell) for field in task.fields} for row in rows]

    return comparable(typed_rows(answer, task.gold, task.fields, near=NEAR)), comparable(task.gold)


def _as_date(text: str) -> str | None:
    """Return a date or time in one form, without a time of zero; None for other texts."""
    try:
        return _MIDNIGHT.sub("", read_temporal(text).text) if text[:1].isdigit() else None
    except ValueError:
        return None
