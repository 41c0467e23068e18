"""Measures that every suite has, where they are read from in a result, and the report of a suite that has no more."""

from collections.abc import Callable
from types import NoneType
from typing import Any, get_args

from graphwalk.reports.suite_report import Column, Grouping, Kind, Measure, ResultRecord, SuiteReport
from graphwalk.reports.text_table import dollars, duration, integer, one_decimal, short, two_decimals
from graphwalk.types.episode import ExitStatus, Score


def scored(name: str) -> Callable[[ResultRecord], float | None]:
    """A field of the score, None if there is no score."""

    def value(result: ResultRecord) -> float | None:
        score = result["score"]
        return None if score is None else number(score.get(name))

    return value


def if_scored(read: Callable[[ResultRecord], float | None]) -> Callable[[ResultRecord], float | None]:
    """Infrastructure failures are left out, so that they do not count as mistakes of the model."""
    return lambda result: None if result["score"] is None else read(result)


def usage(name: str) -> Callable[[ResultRecord], float | None]:
    """A field of the usage; of failed episodes too, since they were paid for."""
    return lambda result: number(result["usage"].get(name))


def count_if(condition: Callable[[ResultRecord], bool]) -> Callable[[ResultRecord], float | None]:
    return lambda result: float(condition(result))


def number(value: Any) -> float | None:
    return None if value is None else float(value)


def _tokens(result: ResultRecord) -> float | None:
    known = [n for n in (result["usage"].get("input_tokens"), result["usage"].get("output_tokens")) if n is not None]
    return sum(known) if known else None


def tool_seconds(result: ResultRecord) -> float | None:
    """Return the time of each tool call, summed; a record that is no single episode has it as a field."""
    if "tool_seconds" in result:
        return number(result["tool_seconds"])
    turns = result.get("trajectory", {}).get("turns", ())
    return float(sum(found.get("seconds", 0.0) for turn in turns for found in turn.get("results", ())))


def _calls_over_reference(result: ResultRecord) -> float | None:
    reference = result["task"].get("reference_calls")
    return result["tool_calls"] / reference if reference and result["tool_calls"] else None


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
)
"""`questions` have a score, `correct` are right, `accuracy` is their share in percent.
`lossy_readings`: the reply holds something like an answer that was not read."""

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
"""Calls and seconds of scored episodes; tokens and cost (US dollars) of all. `seconds` is elapsed time of model and
tools, `tool_seconds` the time of each call, summed. `calls_over_reference`: calls over those of the scripted expert.
`cost_unknown`: episodes whose provider reported no cost."""

QUALITY = (
    Measure("precision", "share", scored("precision")),
    Measure("recall", "share", scored("recall")),
    Measure("f1", "share", scored("f1")),
    Measure("false_positives", "count", scored("false_positives")),
    Measure("grounded", "share", scored("grounded")),
)
"""The other fields that every score has."""

ROWS = Measure("answer_rows", "median", lambda result: number(result["task"].get("gold_size")))
"""The size of the right answer."""

TASKS = Column("tasks", "tasks", integer, optional=2)
GRAPHS = Column("graphs", "graphs", integer, optional=6)

WASTE = (
    Column("repeated", "repeated_calls", integer, optional=4),
    Column("loops", "cycles", integer, optional=4),
    Column("unused", "unused_results", integer, optional=5),
    Column("tool errors", "tool_errors", integer, optional=5),
    Column("parallel", "parallel_calls", integer, optional=6),
)
"""Calls that led nowhere; of all calls of a player."""

_PLAIN_COLUMNS = (
    Column("Correct", "correct", integer),
    Column("N", "questions", integer),
    Column("Accuracy %", "accuracy", two_decimals, interval=one_decimal),
    Column("P", "precision", two_decimals, optional=3, interval=two_decimals),
    Column("R", "recall", two_decimals, optional=3, interval=two_decimals),
    Column("F1", "f1", two_decimals, optional=1, interval=two_decimals),
    Column("FP", "false_positives", integer, optional=2),
    Column("rows", "answer_rows", short, optional=5),
    TASKS,
    GRAPHS,
    Column("calls/q", "calls_per_question", one_decimal, optional=4, interval=one_decimal),
    Column("time/q", "seconds_per_question", duration, optional=5),
    Column("tool time/q", "tool_seconds_per_question", duration, optional=6),
    Column("tokens", "tokens", short, optional=4),
    Column("cost", "cost", dollars, optional=4),
    Column("failed", "infrastructure_failures", integer, optional=3),
)


def plain_report(suite: str, score_type: type[Score]) -> SuiteReport:
    """What can be told about any suite: outcome, quality and effort, in all and by `template`.

    Of the fields that a suite adds to its score, numbers are told as means, truth values in percent, and no others.
    """
    common = (*OUTCOME, ROWS, *QUALITY, *EFFORT)
    kinds = {name: _kind(field.annotation) for name, field in score_type.model_fields.items()}
    own = {name: kind for name, kind in kinds.items() if name not in Score.model_fields}
    taken = {measure.name for measure in common}
    told = [
        Measure(f"score_{name}" if name in taken else name, kind, scored(name)) for name, kind in own.items() if kind
    ]
    return SuiteReport(
        suite=suite,
        measures=(*common, *told),
        groupings=(Grouping("template", "task", lambda result: result["task"]["template"]),),
        columns=(*_PLAIN_COLUMNS, *(Column(m.name, m.name, two_decimals, optional=6) for m in told)),
        group_columns=_PLAIN_COLUMNS[:8],
        compared=("accuracy", "f1"),
        notes=(
            "N: tasks with a score; Correct: right answers. P, R, F1: means over tasks. FP: what was given and is not"
            " right, in all.",
        ),
        unreported=tuple(name for name, kind in own.items() if not kind),
    )


def _kind(annotation: Any) -> Kind | None:
    """How a field of this type is summed up; None: not at all."""
    types = {*get_args(annotation)} - {NoneType} or {annotation}
    if types <= {bool}:
        return "percent"
    return "mean" if types <= {bool, int, float} else None
