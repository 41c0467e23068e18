"""Columns of the suites' reports, and the measures that they show."""

import pytest

from graphwalk.analysis.report.measures import causes_of
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.suites.suite import suite_named

COUNTED_BY_EVERY_REPORT = {"tasks", "graphs"}


@pytest.mark.parametrize("name", ["questions", "mazes", "magma", "graphwalks", "own_questions"])
def test_every_column_shows_a_measure_of_its_suite(name: str) -> None:
    report = analysis_of(suite_named(name)).report()
    measures = COUNTED_BY_EVERY_REPORT.union(measure.name for measure in report.measures)
    columns = [*report.columns, *report.group_columns]
    columns += report.paper_columns or ()
    columns += report.paper_group_columns or ()
    for table in report.contestant_tables.values():
        columns += table
    for column in columns:
        assert column.field in measures
        assert column.legend
    for cause in report.causes:
        assert cause.field in measures


@pytest.mark.parametrize(("name", "word"), [("mazes", "maze"), ("magma", "trace"), ("graphwalks", "problem")])
def test_titles_name_the_tasks_of_a_suite(name: str, word: str) -> None:
    report = analysis_of(suite_named(name)).report()
    titles = " ".join(column.heading for column in (*report.columns, *report.group_columns))
    assert f"per {word}" in titles
    assert "question" not in titles


@pytest.mark.parametrize("name", ["questions", "mazes", "graphwalks"])
def test_every_cause_of_a_score_has_one_column(name: str) -> None:
    analysis = analysis_of(suite_named(name))
    columns = [column.field for column in analysis.report().causes]
    assert sorted(columns) == sorted(causes_of(analysis.explanation_type.model_fields))
    has_own_columns = name != "graphwalks"
    assert all(bool(column.legend) == has_own_columns for column in analysis.report().causes)
