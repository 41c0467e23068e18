"""`graphwalk play` with what somebody types coming through a pipe: the way to a score, and every wrong input."""

import json
import re
from pathlib import Path

import pytest

import graphwalk as gw
from graphwalk.suites.magma.answers import write_answer
from tests.cli.test_commands import graphwalk

ONE_QUESTION = ("--preset", "paper-100", "--questions", "[node_count]", "--seed", 3)


def played(*words: object, typed: str, folder: Path) -> tuple[int, str, str]:
    done = graphwalk("play", *words, folder=folder, typed=typed)
    return done.returncode, done.stdout, done.stderr


def test_a_question_is_walked_and_answered(tmp_path: Path) -> None:
    graph = gw.generate_graph("paper-100", seed=3)
    (task,) = gw.make_tasks(graph, seed=3, questions=["node_count"])
    label = next(iter(graph.nodes())).label
    look = f"get_unique_property_values entity_type=node entity_name={label} property_name=key"
    typed = f"tools\n{look}\nnonsense\nget_node_by_property label=Nobody\nanswer {json.dumps(task.gold)}\n"
    code, shown, error = played("graph", *ONE_QUESTION, typed=typed, folder=tmp_path)
    assert (code, error) == (0, "")
    assert task.question in shown
    assert "When to use it:" in shown
    assert '"values"' in shown
    assert "TOOL name=value …      call a tool" in shown
    assert "property_name" in shown
    assert shown.endswith(f"\ncorrect: {task.gold}\n")


def test_a_wrong_answer_and_none_are_told_with_the_target(tmp_path: Path) -> None:
    code, shown, _ = played("questions", *ONE_QUESTION, typed='answer [{"count": 100000}]\n', folder=tmp_path)
    assert code == 0
    assert re.search(r"incorrect: \[\{'count': 100000\}\]; target: \[\{'count': \d+\}\]\n$", shown)
    for typed in ("", "quit\n", "answer I do not know\n"):
        code, shown, _ = played("graph", *ONE_QUESTION, typed=typed, folder=tmp_path)
        assert code == 0
        assert "no answer found; target: [{'count': " in shown


def test_the_whole_graph_is_shown_without_tools(tmp_path: Path) -> None:
    words = ("graph", *ONE_QUESTION, "--setting", "no_tools")
    code, shown, _ = played(*words, typed='[{"count": 1}]\n', folder=tmp_path)
    assert code == 0
    assert "Your answer?" in shown
    assert "incorrect: [{'count': 1}]" in shown


@pytest.mark.parametrize("setting", ["io", "io_reasoning", "is", "ish"])
def test_magma_is_played_in_every_setting(tmp_path: Path, setting: str) -> None:
    words = ("magma", "--algorithm", "bfs", "--nodes", 5, "--setting", setting)
    code, shown, error = played(*words, typed="no idea\n", folder=tmp_path)
    assert (code, error) == (0, "")
    (target,) = re.findall(r"no answer found; target: (\[.*\])\n$", shown)
    code, shown, _ = played(*words, typed=write_answer("bfs", json.loads(target)) + "\n", folder=tmp_path)
    assert f"\ncorrect: {target}" in shown


def test_an_experiment_is_played_too(tmp_path: Path) -> None:
    code, shown, error = played("quickstart", "--seed", 1, typed="quit\n", folder=tmp_path)
    assert (code, error) == (0, "")
    assert "target:" in shown
    assert not list(tmp_path.iterdir())


def test_a_picture_is_written_of_a_maze(tmp_path: Path) -> None:
    words = ("maze", "--size", 5, "--min-path", 4, "--out", "maze.svg")
    code, shown, _ = played(*words, typed="quit\n", folder=tmp_path)
    assert code == 0
    assert "no answer found" in shown or "incorrect" in shown
    assert (tmp_path / "maze.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("words", "cause", "next_step"),
    [
        (("nonsense",), "no experiment 'nonsense'", "or one of questions, mazes, magma"),
        (("nowhere.yaml",), "no file nowhere.yaml", "quickstart"),
        (("graph", "--setting", "magic"), "no setting 'magic'", "tools, no_tools"),
        (("graph", "--nods", "5"), "nods: there is no such field; did you mean nodes?", ""),
        (("graph", "--nodes"), "nodes: must be greater than or equal to 2", ""),
        (("graph", "--nodes", "[1"), "--nodes: the value is not YAML", ""),
        (("graph", "5"), "'5' is not an option", "graphwalk play --help"),
        (("graph", "--questions", "[why]"), "why", "node_count"),
        (("graph", "--store", "oracle"), "no store 'oracle'", "embedded, neo4j"),
        (("graph", "--out", "walk.svg"), "walk.svg: unsupported format; expected .html", "--out walk.html"),
        (("maze", "--out", "walk.pdf"), "walk.pdf: unsupported format", "--out walk."),
        (("maze", "--walls", "1.5"), "walls", ""),
        (("magma", "--algorithm", "sorting"), "algorithm", "bfs"),
        (("magma", "--turn-limit", "0"), "turn-limit", ""),
    ],
)
def test_a_mistake_is_told_before_anything_is_shown(
    tmp_path: Path, words: tuple[str, ...], cause: str, next_step: str
) -> None:
    code, shown, error = played(*words, typed="quit\n", folder=tmp_path)
    assert code == 2, error
    assert shown == ""
    assert cause in error
    assert next_step in error
    assert "Traceback" not in error


def test_a_person_takes_no_part_in_a_run(tmp_path: Path) -> None:
    done = graphwalk("run", "quickstart", "-m", "human/terminal", folder=tmp_path)
    assert done.returncode == 2
    assert "graphwalk play questions" in done.stderr
