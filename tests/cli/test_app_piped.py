"""Output to a file or a pipe."""

from tests.cli.test_commands import graphwalk
from tests.exports.hostile_run import RUNS

RUN = RUNS / "questions"


def test_tables_are_at_most_120_columns_wide() -> None:
    narrow = graphwalk("report", RUN, COLUMNS="")
    assert max(map(len, narrow.stdout.splitlines())) <= 120
    assert "not shown at this width" in narrow.stdout
