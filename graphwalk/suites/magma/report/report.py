"""The report of MAGMA: what is measured, by algorithm, by size and by step, and the paper's figures."""

import csv
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.report.common import EFFORT, OUTCOME, scored
from graphwalk.report.declared import Column, Grouping, Measure, Reference, ResultRecord, SuiteReport
from graphwalk.report.formats import dollars, duration, integer, one_decimal, short, two_decimals
from graphwalk.resources import data_path
from graphwalk.suites.magma.generator.traces import ALGORITHMS
from graphwalk.suites.magma.judgement import ERRORS
from graphwalk.suites.magma.report.tables import HEAT, more_tables
from graphwalk.suites.magma.report.traces import STEP, TRACE, case, trace_records

_STRATEGIES = {"IO": "io", "IO+reasoning": "io_reasoning", "IS": "is"}
_PAPER = "magma-paper"


def _at(level: str, value: Callable[[ResultRecord], float | None]) -> Callable[[ResultRecord], float | None]:
    """Read `value` from records of one level only. A trace without a score is still one."""
    return lambda record: value(record) if (record["score"] or {}).get("level", TRACE) == level else None


def _errors(name: str) -> Iterator[Measure]:
    """In total, and per reply."""
    yield Measure(name, "count", _at(STEP, scored(name)))
    yield Measure(f"{name}_per_reply", "mean", _at(STEP, scored(name)))


MEASURES = (
    *(Measure(measure.name, measure.kind, _at(TRACE, measure.value)) for measure in OUTCOME),
    *(
        Measure(name, "mean", _at(TRACE, scored(name)))
        for name in ("intermediate_exact", "trajectory_exact", "precision", "recall", "f1")
    ),
    *(Measure(name, "mean", _at(TRACE, scored(name))) for name in ("intermediate_f1", "trajectory_f1")),
    Measure("false_positives", "count", _at(TRACE, scored("false_positives"))),
    Measure("replies", "count", _at(STEP, lambda record: 1.0)),
    Measure("step_exact", "percent", _at(STEP, scored("exact"))),
    Measure("step_f1", "mean", _at(STEP, scored("f1"))),
    *(measure for name in ERRORS for measure in _errors(name)),
    Measure("first_divergence", "mean", _at(TRACE, scored("first_divergence"))),
    Measure("recovered", "percent", _at(TRACE, scored("recovered"))),
    Measure("answer_reasoning_tokens", "count", _at(TRACE, scored("reasoning_tokens"))),
    *(Measure(measure.name, measure.kind, _at(TRACE, measure.value)) for measure in EFFORT),
)


_QUALITY = (
    Column("traces", "questions", integer, optional=2),
    Column("final %", "accuracy", one_decimal, interval=one_decimal),
    Column("earlier %", "intermediate_exact", one_decimal, optional=1, interval=one_decimal),
    Column("traj. %", "trajectory_exact", one_decimal, interval=one_decimal),
    Column("F1 final", "f1", two_decimals, optional=4, interval=two_decimals),
    Column("F1 earlier", "intermediate_f1", two_decimals, optional=5, interval=two_decimals),
    Column("F1 traj.", "trajectory_f1", two_decimals, optional=3, interval=two_decimals),
)

COLUMNS = (
    *_QUALITY,
    Column("replies", "replies", integer, optional=2),
    Column("first wrong", "first_divergence", one_decimal, optional=6, interval=one_decimal),
    Column("recovered %", "recovered", one_decimal, optional=6, interval=one_decimal),
    Column("time/trace", "seconds_per_question", duration, optional=7),
    Column("tokens", "tokens", short, optional=7),
    Column("reasoning", "answer_reasoning_tokens", short, optional=8),
    Column("thinking", "reasoning_tokens", short, optional=8),
    Column("cost", "cost", dollars, optional=7),
    Column("failed", "infrastructure_failures", integer, optional=2),
)

GROUP_COLUMNS = (*_QUALITY, Column("reply %", "step_exact", one_decimal, optional=2, interval=one_decimal), *HEAT)


def paper_reference(name: str) -> Reference:
    """The MAGMA paper's figures by algorithm and size. ConfigError for another name.

    Rows whose label stands on two rows of the paper are left out: nobody can say which is which.
    """
    if name != _PAPER:
        raise ConfigError(f"the MAGMA paper has no table {name!r}", hint=f"reference: {_PAPER}")
    return Reference(
        "Taylor et al., arXiv 2410.22597, exact match by graph size",
        ("The paper's final-state figures are misprinted and left out.", "Mistral and Llama are fine-tuned there."),
        groups={"case": tuple(_paper_rows())},
    )


def _paper_rows() -> Iterator[dict[str, Any]]:
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in _paper():
        if line["row_note"]:
            continue
        model = line["model"].replace("GPT-4o", "gpt-4o")
        for n in (int(name[1:]) for name in line if name[0] == "n"):
            group, setting = case(line["algorithm"], n), _STRATEGIES[line["strategy"]]
            row = rows.setdefault((group, setting, model), {"model": model, "setting": setting, "case": group})
            row[line["metric"]] = float(line[f"n{n}"])
    yield from rows.values()


@cache
def _paper() -> list[dict[str, str]]:
    with (data_path("templates") / "reports" / "magma-paper.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


_SUMS = (
    *("algorithm", "n", "trace_id", "total_steps"),
    *("correct", "precision", "recall", "f1", "false_positives", "grounded", "first_divergence"),
    *("missing_prefix", "false_negatives", "hallucinations", "invalid_items"),
)
"""Fields that repeat the task, or sum up the `steps` from which the tables are made."""

REPORT = SuiteReport(
    suite="magma",
    measures=MEASURES,
    groupings=(
        Grouping("algorithm", "algorithm", lambda r: r["task"]["algorithm"], ALGORITHMS),
        Grouping("n", "nodes", lambda r: r["task"]["n"]),
        Grouping("case", "algorithm and size", lambda r: case(r["task"]["algorithm"], r["task"]["n"]), shown=False),
        Grouping("step", "step", lambda r: (r["score"] or {}).get("step")),
    ),
    columns=COLUMNS,
    group_columns=GROUP_COLUMNS,
    compared=("accuracy", "f1"),
    reference=paper_reference,
    unreported=_SUMS,
    notes=(
        "final, earlier, traj.: states that match exactly, in %, of the last step, the steps before it, and all;"
        " means over traces. The io strategies ask for the last state only. F1: of the sets of items.",
        "Errors are means per reply: prefixes and items that are missing, hallucinated and invalid items.",
        "Ranges are 95 % intervals: Wilson's for percentages of traces and replies, a bootstrap over graphs for means.",
    ),
    records=trace_records,
    tables=more_tables,
)
