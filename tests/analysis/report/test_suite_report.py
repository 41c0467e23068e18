"""Columns of reports in templates/reports, and the measures that they show."""

import pytest
from pydantic import create_model

from graphwalk.analysis.report.suite_report import causes_of, layout, own_measures
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


def test_a_field_of_an_own_score_hides_no_column() -> None:
    fields = create_model("Own", tokens=(int, 0), model=(bool, True), steps_short=(int, 0)).model_fields
    assert [measure.name for measure in own_measures(fields)] == ["score_tokens", "score_model", "steps_short"]
