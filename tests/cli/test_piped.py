"""Output to a file or a pipe: as wide as its content, and without blanks at the end of a line."""

from pathlib import Path

import pytest

from graphwalk.graphs.files import save_graph
from graphwalk.types.graph import Node, PropertyGraph
from tests.cli.test_commands import graphwalk
from tests.exports.hostile_run import RUNS

RUN = RUNS / "questions"


def blank_ends(text: str) -> list[str]:
    return [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize(
    "words",
    [
        ("report", RUN),
        ("compare", RUN),
        ("show", RUN),
        ("show", RUN, "node_count"),
        ("runs", RUN.parent),
        ("run", "quickstart", "--dry-run"),
        ("generate", "maze", "--size", 11),
    ],
    ids=lambda words: "-".join(str(word) for word in words if word is not RUN),
)
@pytest.mark.parametrize("columns", ["", pytest.param("100", marks=pytest.mark.extended)])
def test_no_line_ends_in_blanks(words: tuple[object, ...], columns: str) -> None:
    done = graphwalk(*words, COLUMNS=columns)
    assert done.returncode == 0, done.stderr
    assert blank_ends(done.stdout) == []
    assert blank_ends(done.stderr) == []


def test_steps_of_an_answer_are_not_cut_at_80_columns(tmp_path: Path) -> None:
    plot = "a keeper of a lighthouse counts the ships of a night that never seems to end, and loses count of them"
    save_graph(
        PropertyGraph.from_rows([Node("f1", ("Film",), {"title": "Dust", "plot": plot})], []), tmp_path / "g.json"
    )
    words = ("ask", "What is Dust?", "--graph", "g.json", "--model", "scripted/look", "--no-log")
    done = graphwalk(*words, folder=tmp_path, COLUMNS="")
    assert done.returncode == 0, done.stderr
    assert plot in done.stderr
    assert blank_ends(done.stderr) == blank_ends(done.stdout) == []
