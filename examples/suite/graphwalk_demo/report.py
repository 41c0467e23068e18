"""The report of `demo`: that of any suite, with one more column, and broken down by the length of a chain."""

from dataclasses import replace
from typing import Any

from graphwalk.extend import PLAIN_COLUMNS, Column, Grouping, SuiteAnalysis, SuiteReport, one_decimal

STEPS_SHORT = Column(
    "Steps\nshort", "steps_short", one_decimal, legend="mean number of nodes from the answer to the end"
)


def length_of(result: dict[str, Any]) -> int:
    return int(result["task"]["length"])


class ChainsAnalysis(SuiteAnalysis[Any]):
    def report(self) -> SuiteReport:
        report = super().report()
        by_length = Grouping("length", "length of the chain", length_of)
        return replace(report, columns=(*PLAIN_COLUMNS, STEPS_SHORT), groupings=(*report.groupings, by_length))
