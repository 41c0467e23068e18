"""The report that a suite declares: its measures, baselines, tables and plots."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from graphwalk.analysis.report.text_table import Column
from graphwalk.config.resources import YamlFile, data_path
from graphwalk.runs.record import ResultRecord

Reader = Callable[[ResultRecord], float | None]
"""Returns a number of a result; None means unknown."""

BASELINE = "baseline"
"""The setting of baselines."""
SIDES = ("first", "second")
ACCURACY = "accuracy"
"""The measure of right answers, which every suite has."""
PROVEN = "proven_accuracy"
"""The measure of right answers that the tool results of their episodes prove."""
SIZE = "size"
"""The grouping by the size of graphs, which the verdict and a plot have too."""
CHANCE = "chance"
"""The model of the baseline row for guessing."""
CONSTANT = "best constant answer"
"""The model of the baseline row for the one answer to each kind of question that is right most often in the run."""
GUESSES = (CHANCE, CONSTANT)
REFERENCE = "expert (reference)"
"""The model of the baseline row for the reference solution recorded with each task."""

Kind = Literal["count", "total", "mean", "amount", "share", "percent", "median"]
"""Aggregation. Over episodes: count (integer sum), total (sum). Over tasks, repeats averaged: mean, amount (mean of a
non-negative value), share (mean of a value in [0, 1]), percent (share × 100), median. Intervals: docs/statistics.md."""

ESTIMATED = ("mean", "amount", "share", "percent")
"""Kinds of measures that have intervals."""
PERCENT = 100
_MANY_CALLS = 5
"""Calls from which a question needs many."""
_LONGEST_ANSWER = 200
"""Characters of a right answer that are held as they are."""
DIGITS = 6
"""Decimals of figures in JSON."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a report row."""

    name: str
    kind: Kind
    value: Reader


def in_order(text: str) -> list[str | int]:
    """Return the sort key of a text in which numbers are sorted as numbers."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"\s*(\d{1,18})", text)]


@dataclass(frozen=True, slots=True)
class Grouping:
    """A breakdown: one row per model, setting and group.

    `value` returns the group of a result, a tuple of several groups, or None. `order` lists known groups in display
    order; others follow, sorted.
    """

    name: str
    title: str
    value: Callable[[ResultRecord], str | int | tuple[str, ...] | None]
    order: Sequence[str] = ()

    @property
    def column(self) -> str:
        """Return the column of the data frame of episodes."""
        return f"by {self.name}"

    def sort_key(self, group: Any) -> tuple[int, bool, Any]:
        position = self.order.index(group) if group in self.order else len(self.order)
        return position, isinstance(group, str), in_order(group) if isinstance(group, str) else group


def _needed_calls(result: ResultRecord) -> str | None:
    """Return how many calls the expert needs; None where it needs none, or is unknown."""
    calls = result["task"].get("reference_calls")
    return ("one" if calls == 1 else "few" if calls < _MANY_CALLS else "many") if calls else None


CALLS = Grouping("calls", "needed calls", _needed_calls, ("one", "few", "many"))
SPLITS = (Grouping("question", "question", lambda result: result["task"].get("template")), CALLS)
"""The groupings by which comparisons are split on request; a suite may have its own of the same name."""


@dataclass(frozen=True)
class Reference:
    """Published results: rows with the field names of the report, overall and by grouping."""

    source: str
    notes: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    groups: Mapping[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)


MARK = " (paper)"
"""The text behind the model of a published row."""
NOT_PUBLISHED = Reference("")
"""The published results of a run that has none beside it."""


@dataclass(frozen=True)
class SuiteReport:
    """The report of one suite.

    `columns` and `group_columns` are those of tables, those of a run with the paper's protocol are `paper_…` (None: the
    same). `compared`: names of the measures in which models are compared pairwise; the first is `accuracy`.
    `causes`: the columns that count the causes of wrong answers. `baselines` computes the results of baselines from any
    result of a task. `records` converts the log of a run under a protocol to the records to measure, if these are not
    episodes. `cluster` returns the graph of a task and its question, the units of statistics. `remark` returns a note
    required by a result; equal notes are shown once.
    """

    suite: str
    measures: tuple[Measure, ...]
    groupings: tuple[Grouping, ...]
    columns: tuple[Column, ...]
    group_columns: tuple[Column, ...]
    compared: tuple[str, ...]
    task_word: str = "question"
    """The word for a task: "question", "maze", …"""
    causes: tuple[Column, ...] = ()
    paper_columns: tuple[Column, ...] | None = None
    paper_group_columns: tuple[Column, ...] | None = None
    one_row_per_group: bool = True
    """Tables by group have the accuracy of all players side by side; else a row for each, with the group columns."""
    references: Mapping[str, Callable[[], Reference]] = field(default_factory=dict)
    """Published tables by name."""
    baselines: Callable[[ResultRecord], Iterator[ResultRecord]] = lambda result: iter(())
    notes: tuple[str, ...] = ()
    records: Callable[[Iterable[ResultRecord], str], Iterable[ResultRecord]] = lambda results, protocol: results
    cluster: Callable[[str, Mapping[str, Any]], tuple[str, str]] = lambda task_id, task: (task["graph_digest"], task_id)
    player_tables: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    """Columns of further tables of the models that were run, by title."""
    remark: Callable[[ResultRecord], str | None] = lambda result: None
    right_answers: Callable[[ResultRecord], Iterable[str]] = lambda result: ()
    """Result → each answer that is right for its task, equal texts for equal answers; for the best constant answer."""
    plots: Callable[[Any], Iterable[Any]] | None = None
    """Report → plots (plots.py); None: the common ones."""

    @property
    def all_groupings(self) -> Mapping[str, Grouping]:
        """Return the groupings of tables and splits by name."""
        return {grouping.name: grouping for grouping in (*SPLITS, *self.groupings)}


ReportRow = dict[str, Any]
"""`model`, `setting`, the group if any; the numbers of scored `tasks` and of their `graphs`; `unit` of intervals (graph
or question); every measure by name (None: unknown); `intervals`: name → [low, high] (95 %); `no_interval`: name →
reason."""


def if_scored(read: Reader) -> Reader:
    """Return a reader that ignores infrastructure failures, which are not errors of the model."""
    return lambda result: None if result["score"] is None else read(result)


@cache
def report_file(name: str) -> Any:
    """Return the published figures in templates/reports/NAME.yaml."""
    return YamlFile.read(data_path("templates") / "reports" / f"{name}.yaml").data


def baseline_result(result: ResultRecord, model: str, score: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a baseline on the task of `result`, without turns, calls and tokens."""
    fields = {"model": model, "setting": BASELINE, "repeat": 0, "exit_status": "answered", "score": score}
    return {**result, **fields, "turns": 0, "tool_calls": 0, "usage": {}, "seconds": None}


def short_answer(text: str) -> str:
    """Return the text of a right answer; of a long one the beginning, with a digest of all."""
    if len(text) <= _LONGEST_ANSWER:
        return text
    return f"{text[:_LONGEST_ANSWER]}… {hashlib.sha256(text.encode()).hexdigest()}"


def expert_result(result: ResultRecord, score: Mapping[str, Any]) -> Iterator[ResultRecord]:
    """Yield the result of the scripted expert, if the task has a reference walk."""
    task = result["task"]
    if task.get("reference_calls") is not None:
        usage = {name: task.get(f"reference_{name}") for name in ("input_tokens", "output_tokens")}
        effort = {"turns": task.get("reference_turns"), "tool_calls": task["reference_calls"], "usage": usage}
        yield {**baseline_result(result, REFERENCE, score), **effort}
