"""Output to a file or a pipe: tables of 120 columns, or all columns."""

import pytest

from tests.cli.test_commands import graphwalk
from tests.exports.hostile_run import RUNS

RUN = RUNS / "questions"


@pytest.mark.parametrize("command", ["report", "compare"])
def test_tables_are_at_most_120_columns_wide_unless_all_are_wanted(command: str) -> None:
    narrow, wide = graphwalk(command, RUN, COLUMNS=""), graphwalk(command, RUN, "--all-columns", COLUMNS="")
    assert max(map(len, narrow.stdout.splitlines())) <= 120
    assert "not shown at this width" in narrow.stdout
    assert "not shown at this width" not in wide.stdout
    assert max(map(len, wide.stdout.splitlines())) > 120
