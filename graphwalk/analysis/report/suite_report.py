"""The report that a suite declares: its measures, baselines, tables and plots."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from graphwalk.analysis.report.rows import Group, ReportRow
from graphwalk.analysis.report.text_table import Column
from graphwalk.config.resources import YamlFile, data_path
from graphwalk.runs.record import ResultRecord

if TYPE_CHECKING:
    from graphwalk.analysis.report.plots import Plot
    from graphwalk.analysis.report.report import Report

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
    # "turn_limit=10" becomes ["turn_limit=", 10, ""].
    parts: list[str | int] = []
    for part in re.split(r"\s*(\d{1,18})", text):
        parts.append(int(part) if part.isdecimal() else part)
    return parts


@dataclass(frozen=True, slots=True)
class Grouping:
    """A breakdown: one row per model, setting and group.

    `value` returns the group of a result, a tuple of several groups, or None. `order` lists known groups in display
    order; others follow, sorted.
    """

    name: str
    title: str
    value: Callable[[ResultRecord], Group | tuple[str, ...] | None]
    order: Sequence[str] = ()

    @property
    def column(self) -> str:
        """Return the column of the data frame of episodes."""
        return f"by {self.name}"

    def sort_key(self, group: Group | None) -> tuple[int, bool, Any]:
        position = len(self.order)
        if group in self.order:
            position = self.order.index(group)
        # Numbers and texts cannot be compared: numbers come first.
        if isinstance(group, str):
            return position, True, in_order(group)
        return position, False, group


def _needed_calls(result: ResultRecord) -> str | None:
    """Return how many calls the expert needs; None where it needs none, or is unknown."""
    calls = result["task"].get("reference_calls")
    if not calls:
        return None
    if calls == 1:
        return "one"
    return "few" if calls < _MANY_CALLS else "many"


CALLS = Grouping("calls", "needed calls", _needed_calls, ("one", "few", "many"))
SPLITS = (Grouping("question", "question", lambda result: result["task"].get("template")), CALLS)
"""The groupings by which comparisons are split on request; a suite may have its own of the same name."""


@dataclass(frozen=True)
class Reference:
    """Published results: rows with the field names of the report, overall and by grouping."""

    source: str
    notes: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()
    """As in templates/reports: {"model": "gpt-4.1", "setting": "tools", "scored": 120, "accuracy": 29.17}."""
    groups: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)

    def report_rows(self, grouping: str | None = None) -> list[ReportRow]:
        rows = self.rows if grouping is None else self.groups.get(grouping, ())
        return [ReportRow.published(row, grouping) for row in rows]

    def with_settings(self, names: Collection[str]) -> "Reference":
        """Return the results in these settings."""
        groups = {grouping: _in_settings(rows, names) for grouping, rows in self.groups.items()}
        return replace(self, rows=_in_settings(self.rows, names), groups=groups)


def _in_settings(rows: Iterable[Mapping[str, Any]], names: Collection[str]) -> tuple[Mapping[str, Any], ...]:
    return tuple(row for row in rows if row["setting"] in names)


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
    """Tables by group have the accuracy of all contestants side by side; else a row each, with the group columns."""
    references: Mapping[str, Callable[[], Reference]] = field(default_factory=dict)
    """Published tables by name."""
    baselines: Callable[[ResultRecord], Iterator[ResultRecord]] = lambda result: iter(())
    notes: tuple[str, ...] = ()
    records: Callable[[Iterable[ResultRecord], str], Iterable[ResultRecord]] = lambda results, protocol: results
    cluster: Callable[[str, Mapping[str, Any]], tuple[str, str]] = lambda task_id, task: (task["graph_digest"], task_id)
    contestant_tables: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    """Columns of further tables of the models that were run, by title."""
    remark: Callable[[ResultRecord], str | None] = lambda result: None
    right_answers: Callable[[ResultRecord], Iterable[str]] = lambda result: ()
    """Result → each answer that is right for its task, equal texts for equal answers; for the best constant answer."""
    plots: "Callable[[Report], Iterable[Plot]] | None" = None
    """None: the common ones."""

    @property
    def all_groupings(self) -> Mapping[str, Grouping]:
        """Return the groupings of tables and splits by name."""
        groupings = {grouping.name: grouping for grouping in SPLITS}
        groupings.update((grouping.name, grouping) for grouping in self.groupings)
        return groupings


def if_scored(read: Reader) -> Reader:
    """Return a reader that ignores infrastructure failures, which are not errors of the model."""

    def read_scored(result: ResultRecord) -> float | None:
        return None if result["score"] is None else read(result)

    return read_scored


@cache
def report_file(name: str) -> Any:
    """Return the published figures in templates/reports/NAME.yaml."""
    return YamlFile.read(data_path("templates") / "reports" / f"{name}.yaml").data


def baseline_result(result: ResultRecord, model: str, score: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a baseline on the task of `result`, without turns, calls and tokens."""
    return {
        **result,
        "model": model,
        "setting": BASELINE,
        "repeat": 0,
        "exit_status": "answered",
        "score": score,
        "turns": 0,
        "tool_calls": 0,
        "usage": {},
        "seconds": None,
    }


def short_answer(text: str) -> str:
    """Return the text of a right answer; of a long one the beginning, with a digest of all."""
    if len(text) <= _LONGEST_ANSWER:
        return text
    return f"{text[:_LONGEST_ANSWER]}… {hashlib.sha256(text.encode()).hexdigest()}"


def expert_result(result: ResultRecord, score: Mapping[str, Any]) -> Iterator[ResultRecord]:
    """Yield the result of the scripted expert, if the task has a reference walk."""
    task = result["task"]
    if task.get("reference_calls") is None:
        return
    baseline = baseline_result(result, REFERENCE, score)
    baseline["turns"] = task.get("reference_turns")
    baseline["tool_calls"] = task["reference_calls"]
    baseline["usage"] = {
        "input_tokens": task.get("reference_input_tokens"),
        "output_tokens": task.get("reference_output_tokens"),
    }
    yield baseline
