"""`graphwalk play` with typed lines: the way to a score, and every wrong input."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import graphwalk as gw
from graphwalk.suites.magma.answers import write_answer
from tests.cli.test_commands import graphwalk

ONE_QUESTION = ("-o", "suite.graphs.0.preset=paper-100", "-o", "suite.questions=[node_count]", "--seed", 3)


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


def test_wrong_and_empty_answers_show_the_target(tmp_path: Path) -> None:
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
    words = ("magma", "-o", "suite.traces=[{algorithm: bfs, nodes: 5, count: 1}]", "--setting", setting)
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


def test_a_maze_is_drawn(tmp_path: Path) -> None:
    words = ("maze", "-o", "suite.mazes.0={size: 5, min_path: 4}")
    code, shown, _ = played(*words, typed="quit\n", folder=tmp_path)
    assert code == 0
    assert "no answer found" in shown
    assert "+----------+" in shown


def test_ctrl_c_ends_the_game_in_order(tmp_path: Path) -> None:
    words = (sys.executable, "-m", "graphwalk", "play", "maze", "--seed", "3")
    with subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as game:
        assert game.stdout is not None
        assert any("or quit?" in line for line in iter(game.stdout.readline, ""))
        game.send_signal(signal.SIGINT)
        assert game.wait(60) == 130
