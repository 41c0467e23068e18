"""Configuration and task of your own questions with answers."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from graphwalk.config.graph_source import EXAMPLE
from graphwalk.config.strict import SuiteConfig
from graphwalk.files.resources import data_path
from graphwalk.suites.questions.config import OwnGraph, existing_path
from graphwalk.types.episode import Task


class QuestionedGraph(OwnGraph):
    """Your own graph, without an anonymised copy."""

    twin: Literal[False] = False


class OwnQuestionsConfig(SuiteConfig):
    """The suite `own_questions`: your own questions with answers, on your own graph."""

    name: Literal["own_questions"] = "own_questions"
    graphs: tuple[QuestionedGraph, ...] = Field(min_length=1, max_length=1)
    dataset: Annotated[Path, BeforeValidator(existing_path)]
    """File of questions with answers; "example": those of the built-in graph."""
    dataset_graph: str | None = None
    """Graph of a CypherBench file whose questions are asked. None: the only one, or the one with your graph's name."""
    query_seconds: float = Field(default=10.0, gt=0)
    """Time limit of each query of the file."""

    @property
    def foreign(self) -> bool:
        return True

    @property
    def dataset_file(self) -> Path:
        is_example = str(self.dataset) == EXAMPLE and not self.dataset.exists()
        return data_path("templates") / "graphs" / "harbour.questions.jsonl" if is_example else self.dataset


class OwnQuestionTask(Task):
    """A question with its target: values or, with `fields`, rows; nothing if the question is `unanswerable`.

    `number` is its position in the file. `names`: key of a node in the target → other texts that name only this node.
    """

    suite: str = "own_questions"
    gold: list[Any]
    number: int
    fields: tuple[str, ...] = ()
    names: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    unanswerable: bool = False
    tags: tuple[str, ...] = ()
    cypher: str | None = None
    folded: bool = Field(default=False, exclude=True)
    """Compare texts without case, accents and outer spaces (`scoring.text`)."""
