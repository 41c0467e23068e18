"""What a report consists of: each suite declares one `SuiteReport`; a `Report` holds the rows of a run."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from graphwalk.reports.text_table import TextTable
from graphwalk.types.episode import SCHEMA_VERSION

ResultRecord = Mapping[str, Any]
"""One object of `results.jsonl`."""

BASELINE = "baseline"
"""The setting of players that were not run."""
SIDES = ("first", "second")
REFERENCE = "expert (reference)"
"""The model in a row of baselines: the reference walk that was recorded with each task."""

Kind = Literal["count", "total", "mean", "amount", "share", "percent", "median"]
"""Over episodes: sum as an integer; sum. Over tasks, repeats averaged: mean; mean of an amount, which is never below 0;
mean of what is between 0 and 1; the same in percent; median. docs/statistics.md has the intervals of the means."""

ESTIMATED = ("mean", "amount", "share", "percent")
"""Kinds of measures that have intervals."""
PERCENT = 100


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a report row. `value` reads it from one result; None means unknown, and is left out."""

    name: str
    kind: Kind
    value: Callable[[ResultRecord], float | None]


@dataclass(frozen=True, slots=True)
class Grouping:
    """A break-down: one row per model, setting and group. `value` is a result's group, or None.

    `order` lists known groups in display order; others follow, sorted.
    """

    name: str
    title: str
    value: Callable[[ResultRecord], str | int | None]
    order: Sequence[str] = ()
    shown: bool = True
    """False: in the JSON and CSV forms only."""

    def sort_key(self, group: Any) -> tuple[int, bool, Any]:
        position = self.order.index(group) if group in self.order else len(self.order)
        return position, isinstance(group, str), group


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the written tables; `optional` ones are dropped first where space is short, highest number first.

    `interval` writes an end of the interval; None: the interval is not shown.
    """

    title: str
    field: str
    format: Callable[[Any], str]
    optional: int = 0
    interval: Callable[[Any], str] | None = None


@dataclass(frozen=True)
class Reference:
    """Published figures to compare ours with: rows with the field names of the report, overall and by grouping."""

    source: str
    notes: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    groups: Mapping[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class SuiteReport:
    """The report of one suite.

    `compared`: names of the measures in which models are compared pairwise; the first is a percent measure, the one
    that pass@k is about. `baselines` makes, from any result of a task, the results of players that need not be run.
    `reference` gives the figures of a published table by name. `unreported` names fields of the score that no table
    tells of. `records` turns the log into the records to measure, where these are not single episodes; `tables` adds
    tables with their own layout. `remark` is what a reader has to know because of a result; it is noted once.
    `derived` makes further groups out of the rows of all groups.
    """

    suite: str
    measures: tuple[Measure, ...]
    groupings: tuple[Grouping, ...]
    columns: tuple[Column, ...]
    group_columns: tuple[Column, ...]
    compared: tuple[str, ...]
    reference: Callable[[str], Reference | None] = lambda name: None
    baselines: Callable[[ResultRecord], Iterator[ResultRecord]] = lambda result: iter(())
    notes: tuple[str, ...] = ()
    unreported: tuple[str, ...] = ()
    records: Callable[[Iterable[ResultRecord]], Iterable[ResultRecord]] = lambda results: results
    tables: "Callable[[Report], Iterator[TextTable]]" = lambda report: iter(())
    remark: Callable[[ResultRecord], str | None] = lambda result: None
    derived: "Callable[[Groups], Groups]" = lambda groups: {}


ReportRow = dict[str, Any]
"""`model`, `setting`, the group if there is one; `tasks` with a score, and the `graphs` they are about; every measure
by name (None: unknown); `intervals`: name → [low, high] (95 %); `no_interval`: name → why there is none; `known`: name
→ tasks, where a measure is not known for all `tasks`; with repeats `pass_at_k`, `pass_hat_k`, and their number `k`."""

Groups = Mapping[str, list[ReportRow]]
"""Rows by the name of their grouping."""


@dataclass(frozen=True)
class Report:
    """The tables of one run. `rows` has one row per model and setting, in this order; `groups` the same per group.

    `baselines` and `baseline_groups` are those of players that were not run. `comparisons` are differences first −
    second on identical tasks (reports/compare.py).
    """

    suite: SuiteReport
    rows: list[ReportRow]
    baselines: list[ReportRow]
    groups: dict[str, list[ReportRow]]
    baseline_groups: dict[str, list[ReportRow]]
    comparisons: list[dict[str, Any]]
    memorisation_test: list[dict[str, Any]]
    """Of graphs that were played with their anonymised copies (reports/report.py)."""
    reference: Reference | None
    notes: tuple[str, ...]
    incomplete: str | None = None
    """What to say first where the run is not finished."""

    def as_dict(self) -> dict[str, Any]:
        names = ("rows", "baselines", "groups", "baseline_groups", "comparisons", "memorisation_test")
        fields = {name: getattr(self, name) for name in names if name != "memorisation_test" or self.memorisation_test}
        return {
            "schema_version": SCHEMA_VERSION,
            "suite": self.suite.suite,
            **fields,
            "reference": self.reference and asdict(self.reference),
            "notes": list(self.notes),
            "incomplete": self.incomplete,
        }
