"""Columns of reports in templates/reports, and the measures that they show."""

import pytest

from graphwalk.analysis.report.suite_report import causes_of, layout
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.suites.suite import suite_named

COUNTED_BY_EVERY_REPORT = {"tasks", "graphs"}


@pytest.mark.parametrize("name", ["questions", "mazes", "magma", "graphwalks"])
def test_every_column_shows_a_measure_of_its_suite(name: str) -> None:
    suite = suite_named(name)
    measures = {measure.name for measure in analysis_of(suite).report().measures} | COUNTED_BY_EVERY_REPORT
    tables = layout(name)
    assert {column.field for columns in tables.values() for column in columns} <= measures
    assert all(column.legend for columns in tables.values() for column in columns)


@pytest.mark.parametrize("name", ["questions", "mazes", "graphwalks"])
def test_every_cause_of_a_score_has_one_column(name: str) -> None:
    analysis = analysis_of(suite_named(name))
    columns = [column.field for column in analysis.report().causes]
    assert sorted(columns) == sorted(causes_of(analysis.explanation_type.model_fields))
