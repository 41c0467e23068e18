"""One question about one graph, with its proven answer."""

from typing import Literal

from pydantic import Field

from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.config import RowBounds
from graphwalk.suites.questions.template import Category, Mode
from graphwalk.types.episode import Task
from graphwalk.types.values import Row, Scalar


class QuestionTask(Task):
    """One question with its parameters.

    `gold` holds every right row once, in ascending order; `mode` says how many of them an answer must name. `cypher`
    is the unscoped text: with `cypher_parameters` it runs as it is on a database that holds nothing but this graph.
    """

    suite: str = "questions"
    gold: list[Row]
    category: Category
    cypher: str
    cypher_parameters: dict[str, Scalar]
    answer_fields: tuple[str, ...]
    scored_fields: tuple[str, ...]
    """The fields that decide whether a row is right; the stricter score compares all `answer_fields`."""
    mode: Mode
    template_version: int
    candidates: int | None = None
    """Rows that the form of the answer allows; None where rows hold computed values."""
    oracles: Literal[1, 2] = Field(default=2, exclude_if=lambda oracles: oracles == 2)
    """1: the target comes from Cypher alone, and no evaluator confirms it. Written only then."""
    computed: tuple[str, ...] | None = Field(default=None, exclude_if=lambda computed: computed is None)
    """Answer fields that are in no tool result; None: those of the question of this name that ships."""
    answer_rows: RowBounds | None = Field(default=None, exclude_if=lambda bounds: bounds is None)
    """The bounds within which the question was drawn; None: any number of rows."""

    twin_of: str | None = Field(default=None, exclude_if=lambda twin_of: twin_of is None)
    """The task that asks the same about the graph of which this one is the anonymised copy."""

    @property
    def computed_fields(self) -> frozenset[str]:
        """Answer fields that are in no tool result, since no tool counts."""
        if self.computed is not None:
            return frozenset(self.computed)
        shipped = shipped_kinds().get(self.template)
        return frozenset(shipped.template.computed if shipped else ())
