"""Report of MAGMA: measures, tables, and the figures of the paper."""

import csv
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.files.resources import data_path
from graphwalk.reports.measures import EFFORT, OUTCOME, layout, scored
from graphwalk.reports.report import Report
from graphwalk.reports.suite_report import (
    PLAYER,
    Column,
    Grouping,
    Kind,
    Measure,
    Reference,
    ResultRecord,
    SuiteReport,
    table_of,
)
from graphwalk.reports.text_table import TextTable
from graphwalk.suites.magma.generate import ALGORITHMS
from graphwalk.suites.magma.plots import AVERAGED_SIZES, magma_plots
from graphwalk.suites.magma.prompts import STEPWISE, STRATEGIES
from graphwalk.suites.magma.score import ERRORS
from graphwalk.suites.magma.trace_results import (
    GIVEN_EARLIER,
    STEP,
    TRACE,
    case,
    cluster_of,
    repeat_baseline,
    size_tables,
    trace_records,
)
from graphwalk.types.episode import setting_of

_STRATEGIES = {"IO": "io", "IO+reasoning": "io_reasoning", "IS": "is"}
_PAPER = "magma-paper"
_NOTES = (
    "The paper prints no table of final states. Its rows that share their label with another are left out.",
    "Mistral and Llama are fine-tuned there for one algorithm, size and strategy at a time; GPT-4o is zero-shot.",
    "Its graphs have an edge probability of 0.25 in effect, and part of its labels is wrong.",
    "In the published code the chats of IO hold the correct earlier states too; here the io strategies see none.",
)
_ZERO_SHOT = "gpt-4o"


def paper_reference(name: str) -> Reference:
    """Return the MAGMA paper's figures by algorithm and size. Raise ConfigError for another name.

    Two rows of the paper with the same label are omitted: they cannot be distinguished.
    """
    if name != _PAPER:
        raise ConfigError(f"the MAGMA paper has no table {name!r}", hint=f"reference: {_PAPER}")
    return Reference(
        "Taylor et al., arXiv 2410.22597, exact match by graph size",
        _NOTES,
        groups={"case": tuple(_paper_rows())},
    )


def _paper_rows() -> Iterator[dict[str, Any]]:
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    with (data_path("templates") / "reports" / "magma-paper.csv").open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if not line["row_note"]]
    for line in lines:
        model, setting = line["model"].replace("GPT-4o", "gpt-4o"), _STRATEGIES[line["strategy"]]
        note = "zero-shot" if model == _ZERO_SHOT else "fine-tuned"
        for n in (int(name[1:]) for name in line if name[0] == "n"):
            group = case(line["algorithm"], n)
            names = {"model": model, "setting": setting, "case": group, "note": note}
            rows.setdefault((group, setting, model), names)[line["metric"]] = float(line[f"n{n}"])
    yield from rows.values()


_GIVEN_NOTE = (
    "With its own states as context, errors may propagate; otherwise each step is asked separately, and a difference"
    " shows that some traces are harder."
)
_FREE_NOTE = "All columns after Diverged % are about diverged dialogues."


def more_tables(report: Report) -> Iterator[TextTable]:
    """Yield the tables that have figures."""
    groups = report.groups
    yield from size_tables(report)
    if lines := [row for row in groups.get("algorithm", ()) if any(row[name] is not None for name in GIVEN_EARLIER)]:
        shown = (Column("Algorithm", "algorithm", name=True), *PLAYER, *layout("magma")["given_earlier"])
        yield table_of("Final state by correctness of earlier states", shown, lines, _GIVEN_NOTE)
    if free := [row for row in groups.get("case", ()) if row["dialogues"]]:
        shown = (Column("Algorithm and size", "case", name=True), *PLAYER, *layout("magma")["dialogues"])
        yield table_of("Free running: divergence and recovery", shown, free, _FREE_NOTE)
    if rows := groups.get("algorithm"):
        shown = (Column("Algorithm", "algorithm", name=True), *PLAYER, *layout("magma")["errors"])
        yield table_of("Errors per reply", shown, rows)


def _at(level: str, value: Callable[[ResultRecord], float | None]) -> Callable[[ResultRecord], float | None]:
    """Return a reader of `value` from records of one level only. A trace without a score is still one."""
    return lambda record: value(record) if (record["score"] or {}).get("level", TRACE) == level else None


def _of_case(record: ResultRecord) -> str:
    return case(record["task"]["algorithm"], record["task"]["n"])


def _of_step(record: ResultRecord) -> str | None:
    step = (record["score"] or {}).get("step")
    return None if step is None else f"{_of_case(record)} {step:>3}"


def _of_averaged(record: ResultRecord) -> str | None:
    low, high = AVERAGED_SIZES
    return str(record["task"]["algorithm"]) if low <= record["task"]["n"] <= high else None


def _of_averaged_step(record: ResultRecord) -> str | None:
    step, algorithm = (record["score"] or {}).get("step"), _of_averaged(record)
    return None if step is None or algorithm is None else f"{algorithm} {step:>3}"


_OF_TRACE: dict[Kind, tuple[str, ...]] = {
    "percent": (
        *("intermediate_exact", "trajectory_exact", "divergence_at", "diverged", "recovered"),
        *GIVEN_EARLIER,
    ),
    "share": ("precision", "recall", "f1", "intermediate_f1", "trajectory_f1"),
    "count": ("false_positives",),
    "amount": ("first_divergence",),
}
"""Kind of measure → fields of the score of a trace."""
MEASURES = (
    *(Measure(measure.name, measure.kind, _at(TRACE, measure.value)) for measure in OUTCOME),
    *(Measure(name, kind, _at(TRACE, scored(name))) for kind, names in _OF_TRACE.items() for name in names),
    Measure("answer_reasoning_tokens", "count", _at(TRACE, scored("reasoning_tokens"))),
    Measure(
        "dialogues",
        "count",
        _at(TRACE, lambda r: float(r["task"]["step"] is None and setting_of(r["setting"]) in STEPWISE)),
    ),
    Measure("replies", "count", _at(STEP, lambda record: 1.0)),
    Measure("step_exact", "percent", _at(STEP, scored("exact"))),
    Measure("step_f1", "share", _at(STEP, scored("f1"))),
    *(Measure(name, "count", _at(STEP, scored(name))) for name in ERRORS),
    *(Measure(f"{name}_per_reply", "amount", _at(STEP, scored(name))) for name in ERRORS),
    *(Measure(measure.name, measure.kind, _at(TRACE, measure.value)) for measure in EFFORT),
)


@cache
def magma_report() -> SuiteReport:
    return SuiteReport(
        suite="magma",
        measures=MEASURES,
        groupings=(
            Grouping("algorithm", "algorithm", lambda r: r["task"]["algorithm"], ALGORITHMS),
            Grouping("n", "nodes", lambda r: r["task"]["n"]),
            Grouping("case", "algorithm and size", _of_case, shown=False),
            Grouping("step", "algorithm, size and step", _of_step, shown=False),
            Grouping("averaged", "algorithm, 5 to 15 nodes", _of_averaged, ALGORITHMS, shown=False),
            Grouping("averaged_step", "algorithm and step, 5 to 15 nodes", _of_averaged_step, shown=False),
        ),
        columns=layout("magma")["results"],
        group_columns=layout("magma")["groups"],
        compared=("accuracy", "trajectory_exact", "f1"),
        baselines=repeat_baseline,
        reference=paper_reference,
        notes=(
            "The io strategies ask for the last state only; with io_steps: true, for each state in a separate prompt.",
            f"{'; '.join(f'{name}: {words}' for name, words in STRATEGIES.items())}.",
            "All traces and steps on one graph are one cluster.",
            "repeat the previous state: over the states after the first one, with the correct state before each.",
        ),
        records=trace_records,
        cluster=cluster_of,
        tables=more_tables,
        plots=magma_plots,
        abbreviations=STRATEGIES,
    )
