"""Task of one question about one graph, with its verified target."""

from typing import Literal

from pydantic import Field

from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.config import RowBounds
from graphwalk.suites.questions.template import Category, Mode
from graphwalk.types.episode import Task
from graphwalk.types.values import Row, Scalar


class QuestionTask(Task):
    """A question with its parameters and target.

    `gold` contains every correct row once, in ascending order; `mode` decides how many an answer needs. `cypher` is
    unscoped: with `cypher_parameters` it runs on a database that contains only this graph.
    """

    suite: str = "questions"
    gold: list[Row]
    category: Category
    cypher: str
    cypher_parameters: dict[str, Scalar]
    answer_fields: tuple[str, ...]
    scored_fields: tuple[str, ...]
    """Fields that decide if a row is correct."""
    mode: Mode
    template_version: int
    candidates: int | None = None
    """Number of possible rows; None if rows have computed values."""
    oracles: Literal[1, 2] = Field(default=2, exclude_if=lambda oracles: oracles == 2)
    """1 if the target comes from Cypher alone, without an evaluator. Written only then."""
    computed: tuple[str, ...] | None = Field(default=None, exclude_if=lambda computed: computed is None)
    """Answer fields that are in no tool result; None: those of the built-in question of this name."""
    answer_rows: RowBounds | None = Field(default=None, exclude_if=lambda bounds: bounds is None)
    """Row bounds used in drawing the question; None: any number of rows."""
    key_fields: tuple[str, ...] | None = Field(default=None, exclude_if=lambda fields: fields is None)
    """Fields that identify a row; None: the scored fields."""
    repeated_rows: int = Field(default=0, exclude_if=lambda rows: rows == 0)
    """With the paper's query: rows that repeat an earlier one; they count once."""
    tied_rows: int = Field(default=0, exclude_if=lambda rows: rows == 0)
    """With the paper's query: number of correct rows that its LIMIT leaves out."""
    rows_left_out: list[Row] = Field(default_factory=list, exclude_if=lambda rows: not rows)
    """These rows; logs of earlier releases have only their number."""
    twin_of: str | None = Field(default=None, exclude_if=lambda twin_of: twin_of is None)
    """Id of the same question about the original graph, for tasks about its anonymised copy."""

    @property
    def computed_fields(self) -> frozenset[str]:
        """Return the answer fields that are in no tool result, for example counts."""
        if self.computed is not None:
            return frozenset(self.computed)
        shipped = shipped_kinds().get(self.template)
        return frozenset(shipped.template.computed if shipped else ())
