"""Task of one question about one graph: how it is asked, read and scored."""

from typing import Literal

from pydantic import Field

from graphwalk.config.agent import AgentConfig
from graphwalk.config.scoring import Scoring
from graphwalk.errors import counted
from graphwalk.evaluation.extraction import Extraction, extract
from graphwalk.evaluation.rows import row_form, row_set, typed_rows
from graphwalk.reports.scene import Scene, StateTable, marked_items, trajectory_of
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.suites.graph_prompts import QUERY_TOOLS, graph_prompt
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.questions.catalogue import python_part, shipped_kinds
from graphwalk.suites.questions.scoring.groundedness import supported_rows
from graphwalk.suites.questions.scoring.score import QuestionScore, score_question
from graphwalk.suites.questions.template import Category, Mode
from graphwalk.suites.task import ANY_VALUE, AnswerForm, Prompt, Task, rows_as_answer
from graphwalk.suites.walked import walked_scene
from graphwalk.tools.observed import is_key
from graphwalk.tools.observed_values import shows_data
from graphwalk.types.episode import Trajectory
from graphwalk.types.values import Row, Scalar

_MOST_ROWS = 2_000
"""Rows of answer and target in the picture."""


class QuestionTask(Task):
    """A question with its parameters and target.

    `target` contains every correct row once, in ascending order; `mode` decides how many an answer needs. `cypher` is
    unscoped: with `cypher_parameters` it runs on a database that contains only this graph.
    """

    suite: str = "questions"
    target: list[Row]
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
    oracles: Literal[1, 2] = 2
    """1 if the target comes from Cypher alone, without an evaluator."""
    computed: tuple[str, ...] | None = None
    """Answer fields that are in no tool result; None: those of the built-in question of this name."""
    key_fields: tuple[str, ...] | None = None
    """Fields that identify a row; None: the scored fields."""
    rows_left_out: list[Row] = Field(default_factory=list)
    """With the paper's query: correct rows that its LIMIT leaves out."""
    twin_of: str | None = None
    """Id of the same question about the original graph, for tasks about its anonymised copy."""

    @property
    def computed_fields(self) -> frozenset[str]:
        """Return the answer fields that are in no tool result, for example counts."""
        if self.computed is not None:
            return frozenset(self.computed)
        shipped = shipped_kinds().get(self.template)
        return frozenset(shipped.template.computed if shipped else ())

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        return await graph_prompt(self.question, about, setting, agent)

    def read(self, reply: str) -> Extraction:
        return extract(reply, row_form(self.answer_fields))

    def answer_form(self, setting: str) -> AnswerForm:
        return rows_as_answer({field: self._types(field) for field in self.answer_fields})

    def _types(self, field: str) -> str | tuple[str, ...]:
        """Return the JSON types of a field, without telling more of the target than that a number is whole."""
        if field in self.computed_fields:
            return "integer" if all(isinstance(row.get(field), int) for row in self.target) else "number"
        return "string" if is_key(field) else ANY_VALUE

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("graph_format.j2", fields=self.answer_fields)

    def score(
        self, setting: str, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()
    ) -> QuestionScore:
        return score_question(self, setting, trajectory, extraction)

    def potential(self, trajectory: Trajectory) -> float | None:
        """Return the share of the target's rows that the results prove; None without an evaluator.

        It is None, too, after a query of the model, whose results may contain anything.
        """
        queried = any(shows_data(result) and result.call.name in QUERY_TOOLS for result in trajectory.results)
        target = row_set(self.target, self.scored_fields)
        if self.oracles == 1 or python_part(self.template) is None or not target or queried:
            return None
        proven = supported_rows(self, trajectory, self.target) or frozenset()
        return len(proven) / len(target) if self.mode == "set" else float(bool(proven))

    def scene(self, record: ResultRecord) -> Scene:
        """Return the scene of an episode; rows are compared by their scored fields."""
        fields = self.answer_fields
        rows = [row for row in record["answer"] or () if isinstance(row, dict)][:_MOST_ROWS]
        any_one = self.mode != "set"
        answer_rows = typed_rows(rows, self.target, self.scored_fields)
        marked = [*marked_items(answer_rows, self.target, lambda row: row_set([row], self.scored_fields))][:_MOST_ROWS]
        if any_one and any(fate == "right" for fate, _ in marked):
            marked = [(fate, row) for fate, row in marked if fate != "missed"]
        # Names of labels, types and properties, which nodes may also have as a value, are not looked for.
        names = {str(v) for name, v in self.parameters.items() if name.endswith(("label", "type", "property", "hops"))}
        values = {str(value) for value in self.parameters.values()} - names
        answered = {str(v): fate for fate, row in reversed(marked) for v in row.values() if isinstance(v, str | int)}
        note = f"Any one of {counted(len(self.target), 'row')} is correct." if any_one and len(self.target) > 1 else ""
        table = StateTable(fields, tuple((fate, *(row.get(field) for field in fields)) for fate, row in marked), note)
        return walked_scene(record, trajectory_of(record), values, answered, table)
