"""Columns of reports in templates/reports, and the measures that they show."""

import pytest

from graphwalk.reports.measures import layout
from graphwalk.suites.mazes.score import PATH_ERRORS
from graphwalk.suites.questions.scoring.score import ERROR_CLASSES
from graphwalk.suites.registry import suite_named

COUNTED_BY_EVERY_REPORT = {"tasks", "graphs"}


@pytest.mark.parametrize("name", ["questions", "mazes", "magma", "graphwalks", "ask"])
def test_every_column_shows_a_measure_of_its_suite(name: str) -> None:
    suite = suite_named(name)
    measures = {measure.name for measure in suite.report().measures} | COUNTED_BY_EVERY_REPORT
    tables = layout(name)
    assert {column.field for columns in tables.values() for column in columns} <= measures
    assert all(column.legend for columns in tables.values() for column in columns)


@pytest.mark.parametrize(("name", "errors"), [("questions", ERROR_CLASSES), ("mazes", PATH_ERRORS)])
def test_the_table_of_errors_has_every_error(name: str, errors: tuple[str, ...]) -> None:
    assert {column.field for column in layout(name)["errors"]} >= set(errors)
