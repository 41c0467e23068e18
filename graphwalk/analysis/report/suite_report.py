"""The report that a suite declares, in part in templates/reports: its measures, baselines, tables and plots."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from graphwalk.analysis.report.rows import Group, ReportRow
from graphwalk.analysis.report.text_table import FORMATS, Column
from graphwalk.config.resources import YamlFile, data_path
from graphwalk.models.trajectory import ExitStatus
from graphwalk.runs.record import ResultRecord
from graphwalk.suites.setting import Setting

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


def causes_of(fields: Mapping[str, FieldInfo]) -> tuple[str, ...]:
    """Return all causes of wrong answers: the options of the field `error_class`."""
    if "error_class" not in fields:
        return ()
    annotation = fields["error_class"].annotation

    # Literal["no_answer", "unreadable"], or a union of such types and None
    causes: list[str] = []
    for option in (annotation, *get_args(annotation)):
        if get_origin(option) is Literal:
            causes += get_args(option)
    return tuple(causes)


def _tokens(result: ResultRecord) -> float | None:
    usage = result["usage"]
    counts = [usage[name] for name in ("input_tokens", "output_tokens") if usage.get(name) is not None]
    return sum(counts) if counts else None


def _furthest(result: ResultRecord) -> float | None:
    if Setting.parse(result["setting"]).name not in ("tools", "write_cypher"):
        return None
    return max(result.get("potentials") or (), default=None)


def _ended_by(status: ExitStatus) -> Reader:
    return lambda result: float(result["exit_status"] == status)


def _caused_by(cause: str) -> Reader:
    return lambda result: float((result["score"] or {}).get("error_class") == cause)


_READERS: Mapping[str, Reader] = {
    "scored": lambda result: float(result["score"] is not None),
    "correct": lambda result: float((result["score"] or {}).get("correct") or 0),
    "lossy": lambda result: float((result["score"] or {}).get("lossy", False)),
    "failed": lambda result: float(ExitStatus(result["exit_status"]).infrastructure),
    **{f"ended_by_{status}": _ended_by(status) for status in ExitStatus},
    "turns": if_scored(itemgetter("turns")),
    "tool_calls": if_scored(itemgetter("tool_calls")),
    "seconds": if_scored(itemgetter("seconds")),
    "furthest": if_scored(_furthest),
    "tokens": _tokens,
    "scored_tokens": if_scored(_tokens),
    "cost_unknown": lambda result: float(result["usage"].get("cost") is None),
}


def measures_of(
    declared: Sequence[str | Mapping[str, str]], fields: Mapping[str, FieldInfo], readers: Mapping[str, Reader]
) -> Iterator[Measure]:
    """Yield measures declared as the name of a group or as `NAME: KIND [of SOURCE]`.

    `fields`: those that a suite adds to scores and explanations. `readers`: further functions that read measures.
    """
    readers = {**_READERS, **readers}
    for part in declared:
        if part == "causes":
            for cause in causes_of(fields):
                yield Measure(cause, "count", _caused_by(cause))
            continue
        if part == "own":
            yield from own_measures(fields)
            continue
        measures: Mapping[str, Any] = report_file("shared")["measures"][part] if isinstance(part, str) else part
        for name, text in measures.items():
            # "seconds_per_question: mean of seconds", or "tool_calls: total" of the field with this name
            kind, _, source = text.partition(" of ")
            source = source or name
            yield Measure(name, kind, readers.get(source) or _field(source))


def _field(source: str) -> Reader:
    """Return a reader of `PART.FIELD`: of usage, task or graph, or of the score."""
    # "graph.nodes", "usage.cost"; "grounded" is of the score.
    part, _, name = source.rpartition(".")
    return lambda result: (result.get(part or "score") or {}).get(name)


_OF_EPISODES = ("model", "setting", "task_id", "repeat", "graph", "question", "twin_of", "failure")
_OF_ROWS = ("tasks", "graphs", "unit", "intervals", "no_interval")
"""Names in rows of reports, as the former in those of episodes, beside the names of measures."""


def own_measures(fields: Mapping[str, FieldInfo]) -> Iterator[Measure]:
    """Yield a measure for each of the fields that is a number or a boolean.

    A field with the name of another measure, or of a column, gets the prefix `score_`.
    """
    taken = {*_OF_EPISODES, *_OF_ROWS}.union(*report_file("shared")["measures"].values())
    for field_name, info in fields.items():
        name = f"score_{field_name}" if field_name in taken else field_name
        # The types of `int | float | None` are int and float.
        types = set(get_args(info.annotation)) - {NoneType}
        if not types:
            types = {info.annotation}
        if types <= {bool}:
            yield Measure(name, "percent", _field(field_name))
        elif types <= {bool, int, float}:
            is_share = Ge(0) in info.metadata and Le(1) in info.metadata
            yield Measure(name, "share" if is_share else "mean", _field(field_name))


@cache
def layout(name: str) -> Mapping[str, tuple[Column, ...]]:
    """Return the tables of templates/reports/NAME.yaml by name; columns that it lacks are those of shared.yaml."""
    own = report_file(name)
    tables = {}
    for table, fields in own.get("tables", {}).items():
        tables[table] = tuple(_column(field, own) for field in fields)
    return tables


def _column(field: str, own: Mapping[str, Any]) -> Column:
    """Return a column of a suite's file.

    Example: `accuracy: {title: Accuracy %, format: two_decimals, interval: one_decimal, legend: right answers}`
    """
    fields = own["columns"].get(field) or report_file("shared")["columns"][field]
    return Column(
        title=fields["title"].replace("question", own.get("task", "question")),
        field=field,
        format=FORMATS[fields["format"]],
        interval=FORMATS.get(fields.get("interval")),
        legend=fields.get("legend", ""),
    )


@cache
def report_file(name: str) -> Any:
    """Return the content of templates/reports/NAME.yaml, {} if there is no such file."""
    path = data_path("templates") / "reports" / f"{name}.yaml"
    return YamlFile.read(path).data if path.is_file() else {}


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
