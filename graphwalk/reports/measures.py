"""Reports that suites declare in templates/reports, and the functions that read measures from results."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from graphwalk.config.yaml_files import YamlFile
from graphwalk.files.resources import data_path
from graphwalk.reports.suite_report import Grouping, Measure, Reader, ResultRecord, SuiteReport
from graphwalk.reports.text_table import FORMATS, Column, integer, two_decimals
from graphwalk.types.episode import ExitStatus, setting_of


def if_scored(read: Reader) -> Reader:
    """Return a reader that ignores infrastructure failures, which are not errors of the model."""
    return lambda result: None if result["score"] is None else read(result)


def causes_of(fields: Mapping[str, FieldInfo]) -> tuple[str, ...]:
    """Return all causes of wrong answers: the options of the field `error_class`."""
    field = fields.get("error_class")
    options = (field.annotation, *get_args(field.annotation)) if field else ()
    return tuple(name for one in options if get_origin(one) is Literal for name in get_args(one))


def _tokens(result: ResultRecord) -> float | None:
    counts = [n for n in (result["usage"].get("input_tokens"), result["usage"].get("output_tokens")) if n is not None]
    return sum(counts) if counts else None


def _furthest(result: ResultRecord) -> float | None:
    values = result.get("potentials") if setting_of(result["setting"]) in ("tools", "write_cypher") else None
    return max(values) if values else None


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
    **{name: if_scored(itemgetter(name)) for name in ("turns", "tool_calls", "seconds")},
    "furthest": if_scored(_furthest),
    "tokens": _tokens,
    "scored_tokens": if_scored(_tokens),
    "cost_unknown": lambda result: float(result["usage"].get("cost") is None),
}


def declared_report(
    suite: str, fields: Mapping[str, FieldInfo], readers: Mapping[str, Reader] = {}, **behaviour: Any
) -> SuiteReport:
    """Return the report of templates/reports/SUITE.yaml; without this file, one that fits any suite.

    The latter has outcome, quality and effort, overall and by `template`. Of the `fields` that a suite adds to scores
    and explanations, numbers are reported as means (from 0 to 1: as shares), booleans in percent, and causes of wrong
    answers are counted.

    `readers`: further functions that read measures. `behaviour`: fields of the report in place of these.
    """
    own, shared = report_file(suite), report_file("shared")
    tables, plain = layout(suite), layout("shared")["plain"]
    own_columns = (Column(m.name, m.name, two_decimals) for m in _own_measures(fields))
    plain_causes = (Column(name.replace("_", " ").capitalize(), name, integer) for name in causes_of(fields))
    declared: dict[str, Any] = {
        "measures": tuple(_measures(own.get("measures", shared["plain"]), fields, {**_READERS, **readers})),
        "groupings": (Grouping("template", "task", lambda result: result["task"]["template"]),),
        "columns": tables.get("results", (*plain, *own_columns)),
        "group_columns": tables.get("groups", plain[:8]),
        "compared": tuple(own.get("compared", ("accuracy", "f1"))),
        "causes": tables.get("causes", tuple(plain_causes)),
        "player_tables": {title: tables[name] for title, name in own.get("player_tables", {}).items()},
        "notes": tuple(own.get("notes", ())),
    }
    return SuiteReport(suite=suite, **declared | behaviour)


def _measures(
    declared: Sequence[str | Mapping[str, str]], fields: Mapping[str, FieldInfo], readers: Mapping[str, Reader]
) -> Iterator[Measure]:
    """Yield measures declared as the name of a group or as `NAME: KIND [of SOURCE]`."""
    for part in declared:
        if part == "causes":
            yield from (Measure(cause, "count", _caused_by(cause)) for cause in causes_of(fields))
        elif part == "own":
            yield from _own_measures(fields)
        else:
            measures: Mapping[str, Any] = report_file("shared")["measures"][part] if isinstance(part, str) else part
            for name, text in measures.items():
                kind, _, source = text.partition(" of ")
                yield Measure(name, kind, readers.get(source or name) or _field(source or name))


def _field(source: str) -> Reader:
    """Return a reader of `PART.FIELD`: of usage, task or graph, or of the score."""
    part, _, name = source.rpartition(".")
    return lambda result: (result.get(part or "score") or {}).get(name)


def _own_measures(fields: Mapping[str, FieldInfo]) -> Iterator[Measure]:
    """Yield a measure for each of the fields that is a number or a boolean."""
    for name, field in fields.items():
        types = {*get_args(field.annotation)} - {NoneType} or {field.annotation}
        if types <= {bool}:
            yield Measure(name, "percent", _field(name))
        elif types <= {bool, int, float}:
            is_share = Ge(0) in field.metadata and Le(1) in field.metadata
            yield Measure(name, "share" if is_share else "mean", _field(name))


@cache
def layout(name: str) -> Mapping[str, tuple[Column, ...]]:
    """Return the tables of templates/reports/NAME.yaml by name; columns that it lacks are those of shared.yaml."""
    own, shared = report_file(name), report_file("shared")

    def column(field: str) -> Column:
        fields = own["columns"].get(field) or shared["columns"][field]
        title = fields["title"].replace("question", own.get("task", "question"))
        interval = FORMATS.get(fields.get("interval"))
        return Column(title, field, FORMATS[fields["format"]], interval, legend=fields.get("legend", ""))

    return {table: tuple(map(column, fields)) for table, fields in own.get("tables", {}).items()}


@cache
def report_file(name: str) -> Any:
    """Return the content of templates/reports/NAME.yaml, {} if there is no such file."""
    path = data_path("templates") / "reports" / f"{name}.yaml"
    return YamlFile.read(path).data if path.is_file() else {}
