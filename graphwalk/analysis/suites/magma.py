"""Report of MAGMA: measures, tables, and the figures of the paper."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from graphwalk.analysis.suite_analysis import SuiteAnalysis
from graphwalk.analysis.suites.magma_plots import magma_plots
from graphwalk.analysis.suites.magma_scene import magma_scene
from graphwalk.analysis.suites.magma_traces import (
    STEP,
    TRACE,
    case,
    cluster_of,
    repeat_baseline,
    size_tables,
    trace_records,
)
from graphwalk.files.resources import data_path
from graphwalk.reports.measures import layout
from graphwalk.reports.report import Report
from graphwalk.reports.scene import Scene
from graphwalk.reports.suite_report import PLAYER, Grouping, Reader, Reference, ResultRecord, SuiteReport
from graphwalk.reports.text_table import Column, TextTable, table_of
from graphwalk.suites.magma.generate import ALGORITHMS
from graphwalk.suites.magma.score import ERRORS
from graphwalk.suites.magma.task import MagmaTask

_STRATEGIES = {"IO": "io", "IO+reasoning": "io_reasoning", "IS": "is"}
_NOTES = (
    "The paper prints no table of final states. Its rows that share their label with another are left out.",
    "Mistral and Llama are fine-tuned there for one algorithm, size and strategy at a time; GPT-4o is zero-shot.",
    "Its graphs have an edge probability of 0.25 in effect, and part of its labels is wrong.",
    "In the published code the chats of IO hold the correct earlier states too; here the io strategies see none.",
)
_ZERO_SHOT = "gpt-4o"


def paper_figures() -> Reference:
    """Return the MAGMA paper's figures by algorithm and size.

    Two rows of the paper with the same label are omitted: they cannot be distinguished.
    """
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


def more_tables(report: Report) -> Iterator[TextTable]:
    """Yield the tables that have figures."""
    yield from size_tables(report)
    if rows := report.groups.get("algorithm"):
        shown = (Column("Algorithm", "algorithm", name=True), *PLAYER, *layout("magma")["errors"])
        yield table_of("Errors per reply", shown, rows)


def _at(level: str, value: Reader) -> Reader:
    """Return a reader of `value` from records of one level only. A trace without a score is still one."""
    return lambda record: value(record) if (record["score"] or {}).get("level", TRACE) == level else None


def _of_case(record: ResultRecord) -> str:
    return case(record["task"]["algorithm"], record["task"]["n"])


def _of_step(record: ResultRecord) -> str | None:
    step = (record["score"] or {}).get("step")
    return None if step is None else f"{_of_case(record)} {step:>3}"


_OF_STEPS = {"replies", "step_exact", "step_f1", *ERRORS, *(f"{name}_per_reply" for name in ERRORS)}
"""Measures over replies; the others are over traces."""


class Analysis(SuiteAnalysis[MagmaTask]):
    """The explanations of MAGMA."""

    def report(self) -> SuiteReport:
        report = self.declared(
            {"replies": lambda record: 1.0},
            groupings=(
                Grouping("algorithm", "algorithm", lambda r: r["task"]["algorithm"], ALGORITHMS),
                Grouping("n", "nodes", lambda r: r["task"]["n"]),
                Grouping("case", "algorithm and size", _of_case, shown=False),
                Grouping("step", "algorithm, size and step", _of_step, shown=False),
            ),
            baselines=repeat_baseline,
            references={"magma-paper": paper_figures},
            records=trace_records,
            cluster=cluster_of,
            tables=more_tables,
            plots=magma_plots,
        )
        levels = ((one, STEP if one.name in _OF_STEPS else TRACE) for one in report.measures)
        return replace(report, measures=tuple(replace(one, value=_at(level, one.value)) for one, level in levels))

    def scene(self, task: MagmaTask, record: ResultRecord) -> Scene:
        return magma_scene(task, record)
