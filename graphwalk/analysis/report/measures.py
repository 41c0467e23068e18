"""The measures that several suites have: what is counted and averaged over the results of a model in a setting.

A report lists its measures in the order of the columns of `--format csv` and the fields of `--format json`.
"""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from types import NoneType
from typing import Literal, get_args, get_origin

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from graphwalk.analysis.report.suite_report import ACCURACY, PROVEN, Measure, Reader, if_scored
from graphwalk.models.trajectory import ExitStatus
from graphwalk.runs.record import ResultRecord
from graphwalk.suites.setting import Setting


def record_field(part: str, name: str) -> Reader:
    """Return a reader of a field in a part of the record: "usage", "task", "graph" or "score"."""
    return lambda result: (result.get(part) or {}).get(name)


def score_field(name: str) -> Reader:
    return record_field("score", name)


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


def cause_measures(fields: Mapping[str, FieldInfo]) -> tuple[Measure, ...]:
    """Return a measure for each cause of wrong answers: how many answers have it."""
    return tuple(Measure(cause, "count", _caused_by(cause)) for cause in causes_of(fields))


def _caused_by(cause: str) -> Reader:
    return lambda result: float((result["score"] or {}).get("error_class") == cause)


def _is_scored(result: ResultRecord) -> float:
    return float(result["score"] is not None)


def _is_correct(result: ResultRecord) -> float:
    return float((result["score"] or {}).get("correct") or 0)


def _is_lossy(result: ResultRecord) -> float:
    return float((result["score"] or {}).get("lossy", False))


def _has_failed(result: ResultRecord) -> float:
    return float(ExitStatus(result["exit_status"]).infrastructure)


def _ended_by(status: ExitStatus) -> Reader:
    return lambda result: float(result["exit_status"] == status)


def tokens_of(result: ResultRecord) -> float | None:
    """Return the tokens that were read and written; None if the provider reports neither."""
    usage = result["usage"]
    counts = [usage[name] for name in ("input_tokens", "output_tokens") if usage.get(name) is not None]
    return sum(counts) if counts else None


def _has_unknown_cost(result: ResultRecord) -> float:
    return float(result["usage"].get("cost") is None)


def _furthest(result: ResultRecord) -> float | None:
    if Setting.parse(result["setting"]).name not in ("tools", "write_cypher"):
        return None
    return max(result.get("potentials") or (), default=None)


OUTCOME = (
    Measure("scored", "count", _is_scored),
    Measure("correct", "count", _is_correct),
    Measure(ACCURACY, "percent", score_field("correct")),
    Measure("proven", "count", score_field("proven")),
    Measure(PROVEN, "percent", score_field("proven")),
    Measure("lossy_readings", "count", _is_lossy),
    Measure("infrastructure_failures", "count", _has_failed),
    Measure("context_overflows", "count", _ended_by(ExitStatus.CONTEXT_OVERFLOW)),
    Measure("turn_limits", "count", _ended_by(ExitStatus.TURN_LIMIT)),
    Measure("call_limits", "count", _ended_by(ExitStatus.CALL_LIMIT)),
)
TARGET_SIZE = (Measure("answer_rows", "median", record_field("task", "gold_size")),)
QUALITY = (
    Measure("precision", "share", score_field("precision")),
    Measure("recall", "share", score_field("recall")),
    Measure("f1", "share", score_field("f1")),
    Measure("false_positives", "count", score_field("false_positives")),
    Measure("grounded", "share", score_field("grounded")),
)
WASTE = (
    Measure("repeated_calls", "count", score_field("repeated_calls")),
    Measure("tool_errors", "count", score_field("tool_errors")),
)
EFFORT = (
    Measure("turns_per_question", "amount", if_scored(itemgetter("turns"))),
    Measure("tool_calls", "count", if_scored(itemgetter("tool_calls"))),
    Measure("calls_per_question", "amount", if_scored(itemgetter("tool_calls"))),
    Measure("furthest", "share", if_scored(_furthest)),
    Measure("tokens_per_question", "amount", if_scored(tokens_of)),
    Measure("seconds", "total", if_scored(itemgetter("seconds"))),
    Measure("seconds_per_question", "amount", if_scored(itemgetter("seconds"))),
    Measure("input_tokens", "count", record_field("usage", "input_tokens")),
    Measure("output_tokens", "count", record_field("usage", "output_tokens")),
    Measure("reasoning_tokens", "count", record_field("usage", "reasoning_tokens")),
    Measure("cached_tokens", "count", record_field("usage", "cached_tokens")),
    Measure("tokens", "count", tokens_of),
    Measure("cost", "total", record_field("usage", "cost")),
    Measure("cost_unknown", "count", _has_unknown_cost),
)

_OF_EPISODES = ("model", "setting", "task_id", "repeat", "graph", "question", "twin_of", "failure")
_OF_ROWS = ("tasks", "graphs", "unit", "intervals", "no_interval")
"""Names in rows of reports, as the former in those of episodes, beside the names of measures."""


def own_measures(fields: Mapping[str, FieldInfo]) -> Iterator[Measure]:
    """Yield a measure for each of the fields that is a number or a boolean.

    A field with the name of another measure, or of a column, gets the prefix `score_`.
    """
    taken = set(_OF_EPISODES + _OF_ROWS)
    taken.update(measure.name for measure in OUTCOME + TARGET_SIZE + QUALITY + WASTE + EFFORT)
    for field_name, info in fields.items():
        name = f"score_{field_name}" if field_name in taken else field_name
        # The types of `int | float | None` are int and float.
        types = set(get_args(info.annotation)) - {NoneType}
        if not types:
            types = {info.annotation}
        if types <= {bool}:
            yield Measure(name, "percent", score_field(field_name))
        elif types <= {bool, int, float}:
            # Field(ge=0, le=1)
            is_share = Ge(0) in info.metadata and Le(1) in info.metadata
            yield Measure(name, "share" if is_share else "mean", score_field(field_name))
