"""The report that a suite declares: its measures, tables and plots."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from graphwalk.errors import ConfigError
from graphwalk.reports.text_table import Column

if TYPE_CHECKING:
    from graphwalk.reports.plots import Plot
    from graphwalk.reports.report import Report

ResultRecord = Mapping[str, Any]
"""One object of `results.jsonl`."""
Reader = Callable[[ResultRecord], float | None]
"""Returns a number of a result; None means unknown."""

BASELINE = "baseline"
"""The setting of baselines."""
SIDES = ("first", "second")
CHANCE = "chance"
"""The model of the baseline row for guessing."""
REFERENCE = "expert (reference)"
"""The model of the baseline row for the reference solution recorded with each task."""

Kind = Literal["count", "total", "mean", "amount", "share", "percent", "median"]
"""Aggregation. Over episodes: count (integer sum), total (sum). Over tasks, repeats averaged: mean, amount (mean of a
non-negative value), share (mean of a value in [0, 1]), percent (share × 100), median. Intervals: docs/statistics.md."""

ESTIMATED = ("mean", "amount", "share", "percent")
"""Kinds of measures that have intervals."""
PERCENT = 100
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


PLAYER = (Column("Model", "model", name=True), Column("Setting", "setting", name=True))


@dataclass(frozen=True)
class Reference:
    """Published results: rows with the field names of the report, overall and by grouping."""

    source: str
    notes: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    groups: Mapping[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    mark: ClassVar[str] = " (paper)"
    """The text behind the model of a published row."""

    @property
    def explanation(self) -> str:
        """Return the text below a table that explains the mark; empty without published results."""
        return f"{self.mark.strip()}: {self.source}; its number of graphs may be another." if self.source else ""


@dataclass(frozen=True)
class SuiteReport:
    """The report of one suite.

    `compared`: names of the measures in which models are compared pairwise; the first is a percent measure.
    `causes`: the columns that count the causes of wrong answers. `baselines` computes the results of baselines from any
    result of a task. `records` converts the log to the records to measure, if these are not episodes. `cluster` returns
    the graph of a task and its question, the units of statistics. `remark` returns a note required by a result; equal
    notes are shown once.
    """

    suite: str
    measures: tuple[Measure, ...]
    groupings: tuple[Grouping, ...]
    columns: tuple[Column, ...]
    group_columns: tuple[Column, ...]
    compared: tuple[str, ...]
    causes: tuple[Column, ...] = ()
    references: Mapping[str, Callable[[], Reference]] = field(default_factory=dict)
    """Published tables by name."""
    baselines: Callable[[ResultRecord], Iterator[ResultRecord]] = lambda result: iter(())
    notes: tuple[str, ...] = ()
    records: Callable[[Iterable[ResultRecord]], Iterable[ResultRecord]] = lambda results: results
    cluster: Callable[[str, Mapping[str, Any]], tuple[str, str]] = lambda task_id, task: (task["graph_digest"], task_id)
    player_tables: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    """Columns of further tables of the models that were run, by title."""
    remark: Callable[[ResultRecord], str | None] = lambda result: None
    plots: "Callable[[Report], Iterable[Plot]] | None" = None
    """The plots of a run; None: the common ones."""

    def reference(self, name: str) -> Reference:
        """Return a published table. Raise ConfigError for an unknown name."""
        if name not in self.references:
            names = " or ".join(self.references) or "null"
            raise ConfigError(f"the suite {self.suite} has no published table {name!r}", hint=f"reference: {names}")
        return self.references[name]()


ReportRow = dict[str, Any]
"""`model`, `setting`, the group if any; the numbers of scored `tasks` and of their `graphs`; `unit` of intervals (graph
or question); every measure by name (None: unknown); `intervals`: name → [low, high] (95 %); `no_interval`: name →
reason."""
