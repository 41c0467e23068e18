"""Task of one question about one graph: how it is asked, read and scored."""

from dataclasses import asdict
from typing import Literal

from pydantic import Field

from graphwalk.agent.prompt import AnswerForm, Prompt, rows_as_answer
from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.graphs.values import Row, Scalar
from graphwalk.models.trajectory import Trajectory
from graphwalk.suites.extraction import Extraction, extract
from graphwalk.suites.graph_prompts import graph_prompt
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.questions.catalogue import Category, Mode, shipped_kinds
from graphwalk.suites.rows import compare_rows, missing_fields, row_form
from graphwalk.suites.suite import ANY_VALUE, Score, Task
from graphwalk.tools.relationship_rows import is_key

_MOST_NAMES = 20
"""Unexpected names that a score lists."""


class QuestionScore(Score):
    """The score of one answer (docs/method.md, Scores).

    * `strict_correct`: false for answers that the turn limit forced.
    * `all_properties_correct`: all fields are correct, not only those that identify a row; None if these are the same.
    * `keys_correct`: the fields that identify a row are correct; None if these are all fields.
    * `any_tied_correct`: correct if any of the tied rows is, with the paper's query; None without ties.
    * `extra_fields`, `missing_fields`: unexpected and missing names.
    """

    strict_correct: bool
    all_properties_correct: bool | None = None
    keys_correct: bool | None = None
    any_tied_correct: bool | None = None
    extra_fields: tuple[str, ...] = ()
    missing_fields: tuple[str, ...] = ()


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
        return frozenset(shipped.computed if shipped else ())

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        return await graph_prompt(self.question, about, setting, agent)

    def read(self, reply: str) -> Extraction:
        return extract(reply, row_form(self.answer_fields))

    def answer_form(self) -> AnswerForm:
        """Return rows whose types tell no more of the target than that a number is whole."""
        types: dict[str, str | tuple[str, ...]] = {}
        for field in self.answer_fields:
            if field in self.computed_fields:
                is_whole = all(isinstance(row.get(field), int) for row in self.target)
                types[field] = "integer" if is_whole else "number"
            else:
                # The key of a node is always a text; a property, such as a year, may have any type.
                types[field] = "string" if is_key(field) else ANY_VALUE
        return rows_as_answer(types)

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("graph_format.j2", fields=self.answer_fields)

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> QuestionScore:
        answer: list[Row] | None = extraction.answer
        is_one_enough = self.mode != "set"
        compared = compare_rows(answer, self.target, self.scored_fields, any_one=is_one_enough)
        is_forced = trajectory.exit_status.forced or any(turn.forced for turn in trajectory.turns)

        all_correct = None
        keys_correct = None
        keys = self.key_fields or self.scored_fields
        if set(keys) != set(self.answer_fields):
            all_correct = compare_rows(answer, self.target, self.answer_fields, any_one=is_one_enough).correct
            keys_correct = compare_rows(answer, self.target, keys, any_one=is_one_enough).correct

        any_tied_correct = None
        if self.rows_left_out:
            tied = self.target + self.rows_left_out
            any_tied_correct = compare_rows(answer, tied, self.scored_fields, any_one=True).correct

        names: set[str] = set()
        for row in answer or ():
            names.update(row)
        extra_fields = sorted(names.difference(self.answer_fields))
        return QuestionScore(
            **asdict(compared),
            extraction_stage=extraction.stage,
            lossy=extraction.lossy,
            strict_correct=compared.correct and not is_forced,
            all_properties_correct=all_correct,
            keys_correct=keys_correct,
            any_tied_correct=any_tied_correct,
            extra_fields=tuple(extra_fields[:_MOST_NAMES]),
            missing_fields=missing_fields(answer or [], self.answer_fields),
        )
