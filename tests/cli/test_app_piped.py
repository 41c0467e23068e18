"""Output to a file or a pipe: tables of 120 columns, or all columns, and no blanks at the end of a line."""

from pathlib import Path

import pytest

from graphwalk.graphs.files import save_graph
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from tests.cli.test_commands import graphwalk
from tests.exports.hostile_run import RUNS

RUN = RUNS / "questions"


def blank_ends(text: str) -> list[str]:
    return [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize(
    "words",
    [
        ("show", RUN, "node_count"),
        ("list", "runs", RUN.parent),
        ("run", "quickstart", "--dry-run"),
        ("generate", "maze", "--size", 11),
    ],
    ids=lambda words: "-".join(str(word) for word in words if word is not RUN),
)
def test_no_line_ends_in_blanks(words: tuple[object, ...]) -> None:
    done = graphwalk(*words, COLUMNS="")
    assert done.returncode == 0, done.stderr
    assert blank_ends(done.stdout) == []
    assert blank_ends(done.stderr) == []


@pytest.mark.parametrize("command", ["report", "compare"])
def test_tables_are_at_most_120_columns_wide_unless_all_are_wanted(command: str) -> None:
    narrow, wide = graphwalk(command, RUN, COLUMNS=""), graphwalk(command, RUN, "--all-columns", COLUMNS="")
    assert max(map(len, narrow.stdout.splitlines())) <= 120
    assert "not shown at this width" in narrow.stdout
    assert "not shown at this width" not in wide.stdout
    assert max(map(len, wide.stdout.splitlines())) > 120
    for done in (narrow, wide):
        assert (done.returncode, blank_ends(done.stdout), blank_ends(done.stderr)) == (0, [], [])


def test_steps_of_an_answer_are_not_cut_at_80_columns(tmp_path: Path) -> None:
    plot = "a keeper of a lighthouse counts the ships of a night that never seems to end, and loses count of them"
    nodes = [Node("f1", ("Film",), {"title": "Dust"}), Node("f2", ("Film",), {"title": "Rain", "plot": plot})]
    save_graph(PropertyGraph.from_rows(nodes, [Relationship("FOLLOWS", "f1", "f2", {})]), tmp_path / "g.json")
    words = ("ask", "What is Dust?", "--graph", "g.json", "--model", "scripted/look", "--no-log")
    done = graphwalk(*words, folder=tmp_path, COLUMNS="")
    assert done.returncode == 0, done.stderr
    assert plot in done.stderr
    assert blank_ends(done.stderr) == blank_ends(done.stdout) == []
