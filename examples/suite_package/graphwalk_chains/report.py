"""The report of `chains`: that of any suite, with one more column, and broken down by the length of a chain."""

from dataclasses import replace
from typing import Any

from graphwalk.analysis.report.columns import PLAIN
from graphwalk.analysis.report.suite_report import Grouping, SuiteReport
from graphwalk.analysis.report.text_table import Column, one_decimal
from graphwalk.analysis.suite_analysis import SuiteAnalysis

STEPS_SHORT = Column(
    "Steps\nshort", "steps_short", one_decimal, legend="mean number of nodes from the answer to the end"
)


def length_of(result: dict[str, Any]) -> int:
    return int(result["task"]["length"])


class ChainsAnalysis(SuiteAnalysis[Any]):
    def report(self) -> SuiteReport:
        report = super().report()
        by_length = Grouping("length", "length of the chain", length_of)
        return replace(report, columns=(*PLAIN, STEPS_SHORT), groupings=(*report.groupings, by_length))
