"""Measures and columns shared by suites, and the report of a suite without its own."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import starmap
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from graphwalk.config.yaml_files import YamlFile
from graphwalk.files.resources import data_path
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


def cause_of(score: Mapping[str, Any] | None) -> str | None:
    """Return the cause of a wrong answer: that which the graph tells, else that which the tool results tell.

    None for a correct answer, and without a score.
    """
    score = score or {}
    return score.get("failure") or score.get("error_class")


def causes_of(score_type: type[Score]) -> tuple[str, ...]:
    """Return all causes that a score can have: the options of its fields `error_class` and `failure`."""
    fields = (score_type.model_fields.get(name) for name in ("error_class", "failure"))
    options = (option for field in fields if field for option in (field.annotation, *get_args(field.annotation)))
    return tuple(dict.fromkeys(name for one in options if get_origin(one) is Literal for name in get_args(one)))


def count_causes(score_type: type[Score]) -> tuple[Measure, ...]:
    """Return a measure for each cause: the number of wrong answers that have it."""
    return tuple(Measure(name, "count", partial(_has_cause, name)) for name in causes_of(score_type))


def _has_cause(name: str, result: ResultRecord) -> float:
    return float(cause_of(result["score"]) == name)


def number(value: Any) -> float | None:
    return None if value is None else float(value)


def _tokens(result: ResultRecord) -> float | None:
    counts = [n for n in (result["usage"].get("input_tokens"), result["usage"].get("output_tokens")) if n is not None]
    return sum(counts) if counts else None


def tool_seconds(result: ResultRecord) -> float | None:
    """Return the total time of tool calls; a record of several episodes has it as a field."""
    if "tool_seconds" in result:
        return number(result["tool_seconds"])
    turns = result.get("trajectory", {}).get("turns", ())
    return float(sum(call.get("seconds", 0.0) for turn in turns for call in turn.get("results", ())))


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
    Measure("context_overflows", "count", count_if(lambda result: result["exit_status"] == "context_overflow")),
    Measure("turn_limits", "count", count_if(lambda result: result["exit_status"] == "turn_limit")),
    Measure("call_limits", "count", count_if(lambda result: result["exit_status"] == "call_limit")),
    Measure("repeat_limits", "count", count_if(lambda result: result["exit_status"] == "repeat_limit")),
)
"""`questions`: episodes with a score; `correct` of them; `accuracy`: their share in percent.
`lossy_readings`: part of the reply looks like an answer and was not read. `context_overflows` and the limits: episodes
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

_FORMATS: Mapping[str, Callable[[Any], str]] = {
    form.__name__: form for form in (dollars, duration, integer, one_decimal, short, two_decimals)
}


@cache
def layout(name: str) -> Mapping[str, tuple[Column, ...]]:
    """Return the tables of templates/reports/NAME.yaml by name; columns that it lacks are those of shared.yaml."""
    own, shared = _read(name), _read("shared")

    def column(field: str, level: int) -> Column:
        fields = own["columns"].get(field) or shared["columns"][field]
        title = fields["title"].replace("question", own.get("task", "question"))
        interval = _FORMATS.get(fields.get("interval"))
        return Column(title, field, _FORMATS[fields["format"]], level, interval, legend=fields["legend"])

    return {table: tuple(starmap(column, levels.items())) for table, levels in own["tables"].items()}


@cache
def _read(name: str) -> Any:
    return YamlFile.read(data_path("templates") / "reports" / f"{name}.yaml").data


WASTE = ("repeated_calls", "cycles", "unused_results", "tool_errors", "parallel_calls")
"""Fields of a score: numbers of wasted calls."""


def plain_report(suite: str, score_type: type[Score]) -> SuiteReport:
    """Return a report for any suite: outcome, quality and effort, overall and by `template`.

    Of the fields that a suite adds to its score, numbers are reported as means (from 0 to 1: as shares), booleans in
    percent, and causes of wrong answers are counted. Columns are those of templates/reports/SUITE.yaml, if any.
    """
    common = (*OUTCOME, ROWS, *QUALITY, *EFFORT)
    own = {name: _kind(field) for name, field in score_type.model_fields.items() if name not in Score.model_fields}
    taken = {measure.name for measure in common}
    own_measures = [
        Measure(f"score_{name}" if name in taken else name, kind, scored(name)) for name, kind in own.items() if kind
    ]
    has_layout = (data_path("templates") / "reports" / f"{suite}.yaml").is_file()
    tables, plain = layout(suite) if has_layout else {}, layout("shared")["plain"]
    own_columns = (Column(m.name, m.name, two_decimals, optional=6) for m in own_measures)
    return SuiteReport(
        suite=suite,
        measures=(*common, *own_measures, *count_causes(score_type)),
        groupings=(Grouping("template", "task", lambda result: result["task"]["template"]),),
        columns=tables.get("results", (*plain, *own_columns)),
        group_columns=tables.get("groups", plain[:8]),
        compared=("accuracy", "f1"),
        causes=tables.get("causes", _plain_causes(score_type)),
    )


def _plain_causes(score_type: type[Score]) -> tuple[Column, ...]:
    return tuple(Column(name.replace("_", " ").capitalize(), name, integer, 1) for name in causes_of(score_type))


def _kind(field: FieldInfo) -> Kind | None:
    """Return the aggregation of a field of this type, or None."""
    types = {*get_args(field.annotation)} - {NoneType} or {field.annotation}
    if types <= {bool}:
        return "percent"
    if Ge(0) in field.metadata and Le(1) in field.metadata:
        return "share"
    return "mean" if types <= {bool, int, float} else None
