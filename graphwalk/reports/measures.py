"""Measures and columns shared by suites, and the report of a suite without its own."""

from collections.abc import Callable
from types import NoneType
from typing import Any, get_args

from graphwalk.reports.suite_report import Column, Grouping, Kind, Measure, ResultRecord, SuiteReport
from graphwalk.reports.text_table import dollars, duration, integer, one_decimal, short, two_decimals
from graphwalk.types.episode import ExitStatus, Score


def scored(name: str) -> Callable[[ResultRecord], float | None]:
    """Return a reader of a field of the score; None if there is no score."""

    def value(result: ResultRecord) -> float | None:
        score = result["score"]
        return None if score is None else number(score.get(name))

    return value


def if_scored(read: Callable[[ResultRecord], float | None]) -> Callable[[ResultRecord], float | None]:
    """Return a reader that ignores infrastructure failures, which are not errors of the model."""
    return lambda result: None if result["score"] is None else read(result)


def usage(name: str) -> Callable[[ResultRecord], float | None]:
    """Return a reader of a field of the usage. Failed episodes count, since they cost money."""
    return lambda result: number(result["usage"].get(name))


def count_if(condition: Callable[[ResultRecord], bool]) -> Callable[[ResultRecord], float | None]:
    return lambda result: float(condition(result))


def number(value: Any) -> float | None:
    return None if value is None else float(value)


def _tokens(result: ResultRecord) -> float | None:
    known = [n for n in (result["usage"].get("input_tokens"), result["usage"].get("output_tokens")) if n is not None]
    return sum(known) if known else None


def tool_seconds(result: ResultRecord) -> float | None:
    """Return the total time of tool calls; a record of several episodes has it as a field."""
    if "tool_seconds" in result:
        return number(result["tool_seconds"])
    turns = result.get("trajectory", {}).get("turns", ())
    return float(sum(found.get("seconds", 0.0) for turn in turns for found in turn.get("results", ())))


def _calls_over_reference(result: ResultRecord) -> float | None:
    reference = result["task"].get("reference_calls")
    return result["tool_calls"] / reference if reference and result["tool_calls"] else None


def _ended_by(status: str) -> Callable[[ResultRecord], float | None]:
    return count_if(lambda result: result["exit_status"] == status)


OUTCOME = (
    Measure("questions", "count", count_if(lambda result: result["score"] is not None)),
    Measure("correct", "count", lambda result: float(result["score"]["correct"] or 0) if result["score"] else 0.0),
    Measure("accuracy", "percent", scored("correct")),
    Measure("lossy_readings", "count", count_if(lambda result: bool(result["score"] and result["score"].get("lossy")))),
    Measure(
        "infrastructure_failures",
        "count",
        count_if(lambda result: ExitStatus(result["exit_status"]).infrastructure),
    ),
    *(Measure(f"{status}s", "count", _ended_by(status)) for status in ("context_overflow", "turn_limit")),
)
"""`questions`: episodes with a score; `correct` of them; `accuracy`: their share in percent.
`lossy_readings`: part of the reply looks like an answer and was not read. `context_overflows`, `turn_limits`: episodes
that ended so."""

EFFORT = (
    Measure("turns_per_question", "amount", if_scored(lambda result: result["turns"])),
    Measure("tool_calls", "count", if_scored(lambda result: result["tool_calls"])),
    Measure("calls_per_question", "amount", if_scored(lambda result: result["tool_calls"])),
    Measure("calls_over_reference", "amount", if_scored(_calls_over_reference)),
    Measure("tokens_per_question", "amount", if_scored(_tokens)),
    Measure("seconds", "total", if_scored(lambda result: result["seconds"])),
    Measure("seconds_per_question", "amount", if_scored(lambda result: result["seconds"])),
    Measure("tool_seconds", "total", if_scored(tool_seconds)),
    Measure("tool_seconds_per_question", "amount", if_scored(tool_seconds)),
    Measure("input_tokens", "count", usage("input_tokens")),
    Measure("output_tokens", "count", usage("output_tokens")),
    Measure("reasoning_tokens", "count", usage("reasoning_tokens")),
    Measure("cached_tokens", "count", usage("cached_tokens")),
    Measure("tokens", "count", _tokens),
    Measure("cost", "total", usage("cost")),
    Measure("cost_unknown", "count", count_if(lambda result: result["usage"].get("cost") is None)),
)
"""Calls and seconds of scored episodes; tokens and cost (US dollars) of all. `seconds`: elapsed time of model and
tools; `tool_seconds`: total time of tool calls. `calls_over_reference`: calls divided by those of the scripted expert.
`cost_unknown`: episodes without a reported cost."""

QUALITY = (
    Measure("precision", "share", scored("precision")),
    Measure("recall", "share", scored("recall")),
    Measure("f1", "share", scored("f1")),
    Measure("false_positives", "count", scored("false_positives")),
    Measure("grounded", "share", scored("grounded")),
)
"""Other fields of every score."""

ROWS = Measure("answer_rows", "median", lambda result: number(result["task"].get("gold_size")))
"""The number of rows of the target."""

LEGENDS = {
    "correct": "number of correct answers",
    "questions": "episodes with a score",
    "accuracy": "share of correct answers",
    "strict_accuracy": "accuracy if the answer must be in the requested format",
    "precision": "mean share of answered rows that are correct",
    "recall": "mean share of target rows that are answered",
    "f1": "mean harmonic mean of precision and recall",
    "false_positives": "answered rows that are incorrect",
    "false_positives_per_answered": "mean per episode with an answer",
    "answer_rows": "median number of rows of the target",
    "tasks": "tasks with a score",
    "graphs": "graphs of these tasks",
    "tool_calls": "number of tool calls",
    "calls_per_question": "mean number of tool calls",
    "tool_calls_without_think": "tool calls except think",
    "calls_over_reference": "mean ratio of tool calls to the expert's",
    "tokens_per_question": "mean number of input and output tokens",
    "seconds": "elapsed time of model and tools",
    "seconds_per_question": "mean elapsed time of model and tools",
    "tool_seconds": "total time of tool calls",
    "tool_seconds_per_question": "mean total time of tool calls",
    "tokens": "input and output tokens of all episodes",
    "reasoning_tokens": "reasoning tokens reported by the provider",
    "cost": "cost of all episodes in US dollars",
    "infrastructure_failures": "infrastructure errors, without a score",
    "context_overflows": "episodes whose conversation exceeded the context window; scored",
    "turn_limits": "episodes that used up their turns",
    "grounded": "mean share of answered rows supported by tool results",
    "last_mile": "correct in substance, incorrect in form",
    "repeated_calls": "calls identical to an earlier one",
    "cycles": "repeated blocks of 2 to 16 calls",
    "unused_results": "results not used by a later call or the answer",
    "tool_errors": "calls that returned an error",
    "parallel_calls": "calls that share a turn",
    "pass_at_k": "share of tasks with at least one correct try in k",
    "pass_hat_k": "share of tasks with k correct tries in k",
}
"""Explanations of columns, by field."""

TASKS = Column("Tasks", "tasks", integer, optional=2)
GRAPHS = Column("Graphs", "graphs", integer, optional=6)

WASTE = (
    Column("Repeated", "repeated_calls", integer, optional=4),
    Column("Loops", "cycles", integer, optional=4),
    Column("Unused", "unused_results", integer, optional=5),
    Column("Tool errors", "tool_errors", integer, optional=5),
    Column("Parallel", "parallel_calls", integer, optional=6),
)
"""Numbers of wasted calls."""

VARIANTS = (
    Column("Correct", "correct", integer),
    Column("N", "questions", integer),
    Column("Accuracy %", "accuracy", two_decimals, interval=one_decimal),
    Column("Calls per\nquestion", "calls_per_question", one_decimal, optional=1),
    Column("Repeated", "repeated_calls", integer, optional=1),
    Column("Tokens per\nquestion", "tokens_per_question", short, optional=1),
    Column("Turns\nused up", "turn_limits", integer, optional=2),
    Column("Context\noverflows", "context_overflows", integer, optional=2),
)
"""Columns of the table of variants."""

_PLAIN_COLUMNS = (
    Column("Correct", "correct", integer),
    Column("N", "questions", integer),
    Column("Accuracy %", "accuracy", two_decimals, interval=one_decimal),
    Column("Precision", "precision", two_decimals, optional=3, interval=two_decimals),
    Column("Recall", "recall", two_decimals, optional=3, interval=two_decimals),
    Column("F1", "f1", two_decimals, optional=1, interval=two_decimals),
    Column("False\npositives", "false_positives", integer, optional=2),
    Column("Target\nrows", "answer_rows", short, optional=5),
    TASKS,
    GRAPHS,
    Column("Calls per\nquestion", "calls_per_question", one_decimal, optional=4, interval=one_decimal),
    Column("Time per\nquestion", "seconds_per_question", duration, optional=5),
    Column("Tool time per\nquestion", "tool_seconds_per_question", duration, optional=6),
    Column("Tokens", "tokens", short, optional=4),
    Column("Cost", "cost", dollars, optional=4),
    Column("Failed", "infrastructure_failures", integer, optional=3),
)


def plain_report(suite: str, score_type: type[Score]) -> SuiteReport:
    """Return a report for any suite: outcome, quality and effort, overall and by `template`.

    Of the fields that a suite adds to its score, numbers are reported as means and booleans in percent.
    """
    common = (*OUTCOME, ROWS, *QUALITY, *EFFORT)
    kinds = {name: _kind(field.annotation) for name, field in score_type.model_fields.items()}
    own = {name: kind for name, kind in kinds.items() if name not in Score.model_fields}
    taken = {measure.name for measure in common}
    own_measures = [
        Measure(f"score_{name}" if name in taken else name, kind, scored(name)) for name, kind in own.items() if kind
    ]
    return SuiteReport(
        suite=suite,
        measures=(*common, *own_measures),
        groupings=(Grouping("template", "task", lambda result: result["task"]["template"]),),
        columns=(*_PLAIN_COLUMNS, *(Column(m.name, m.name, two_decimals, optional=6) for m in own_measures)),
        group_columns=_PLAIN_COLUMNS[:8],
        compared=("accuracy", "f1"),
        unreported=tuple(name for name, kind in own.items() if not kind),
    )


def _kind(annotation: Any) -> Kind | None:
    """Return the aggregation of a field of this type, or None."""
    types = {*get_args(annotation)} - {NoneType} or {annotation}
    if types <= {bool}:
        return "percent"
    return "mean" if types <= {bool, int, float} else None
