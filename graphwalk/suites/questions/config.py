"""Which questions are asked on which graphs."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, field_validator

from graphwalk.config.strict import MOST, NameOrPath, SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.graphs.random.spec import GraphSpec
from graphwalk.suites.questions.catalogue import QuestionKind, choose_kinds
from graphwalk.suites.questions.other_words import Wording
from graphwalk.suites.questions.own_graph import AnyGraph, OwnGraph
from graphwalk.suites.questions.row_bounds import ANY_ROWS, RowBounds


class QuestionsConfig(SuiteConfig):
    """The suite `questions`, on generated property graphs and on somebody's own.

    A generated entry of `graphs` is made `count` times; `{file: movies.graphml}` and `{neo4j: movies}` are graphs that
    there are.
    """

    name: Literal["questions"] = "questions"
    graphs: tuple[AnyGraph, ...] = Field(default=(GraphSpec(),), min_length=1)
    """Graphs to generate, each `count` times, and graphs of your own."""
    questions: tuple[NameOrPath, ...] | None = None
    """Questions that ship, by name, and the user's own, by the path of their YAML file; None: all twelve."""
    wording: Wording = Field(default="standard", exclude_if=lambda wording: wording == "standard")
    """The words of the questions that ship: their own, others that models may be trained on, or others that are held
    out."""
    per_question: int = Field(default=1, ge=1, le=MOST)
    """Tasks per graph and question."""
    answer_rows: tuple[RowBounds, ...] = Field(default=(ANY_ROWS,), min_length=1)
    """How many rows right answers have; of several bounds, `per_question` tasks within each. Unless bounds are given,
    those on somebody's own graph have 100 at most: it may be a hundred times as large as the generated ones."""

    leave_out: bool | None = None
    """Questions that a generated graph cannot host are left out, and the report says so; false: they end the run. None:
    left out where graphs of several sizes are generated. Of your own graphs they are always left out."""
    text_tokens: bool = Field(default=False, exclude_if=lambda counted: not counted)
    """Work out how many tokens every generated graph has as text, which is plotted beside those of the walks."""

    @field_validator("answer_rows", mode="before", json_schema_input_type=RowBounds | tuple[RowBounds, ...])
    @classmethod
    def _one_or_several(cls, bounds: Any) -> Any:
        return (bounds,) if isinstance(bounds, Mapping) else bounds

    @field_validator("questions")
    @classmethod
    def _can_be_read(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Every mistake in a question is found before anything is generated."""
        try:
            for kind in choose_kinds(names):
                _ = kind.python
        except ConfigError as error:
            raise ValueError(f"{error}; {error.hint}" if error.hint else str(error)) from error
        return names

    @property
    def foreign(self) -> bool:
        return any(isinstance(entry, OwnGraph) for entry in self.graphs)

    @property
    def leaves_out(self) -> bool:
        """Whether questions may be left out of generated graphs."""
        sizes = {entry.nodes for entry in self.graphs if isinstance(entry, GraphSpec)}
        return len(sizes) > 1 if self.leave_out is None else self.leave_out

    @cached_property
    def kinds(self) -> tuple[QuestionKind, ...]:
        """The questions themselves."""
        return choose_kinds(self.questions)
