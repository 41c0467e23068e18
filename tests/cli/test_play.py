"""`graphwalk play` with typed lines from a pipe and at a terminal: the way to a score, and every wrong input."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
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
    words = ("maze", "--size", 5, "--min-path", 4, "--out", "maze.txt")
    code, shown, _ = played(*words, typed="quit\n", folder=tmp_path)
    assert code == 0
    assert "no answer found" in shown or "incorrect" in shown
    assert "+----------+" in (tmp_path / "maze.txt").read_text()


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
def test_wrong_options_are_errors_before_the_game(
    tmp_path: Path, words: tuple[str, ...], cause: str, next_step: str
) -> None:
    code, shown, error = played(*words, typed="quit\n", folder=tmp_path)
    assert code == 2, error
    assert shown == ""
    assert cause in error
    assert next_step in error
    assert "Traceback" not in error


READY = r"help or quit\?.*\x1b\[\?2004h"
"""The question, and after it the line that is edited; what is typed before that is not completed."""


class Terminal:
    """A process at a pseudo-terminal of 80 by 20."""

    def __init__(self, folder: Path, *words: object) -> None:
        self._master, slave = pty.openpty()
        import fcntl
        import struct
        import termios

        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 80, 0, 0))
        command = [sys.executable, "-m", "graphwalk", *map(str, words)]
        settings = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=settings, start_new_session=True
        )
        os.close(slave)
        self.shown = ""

    def until(self, pattern: str, seconds: float = 60) -> str:
        """Return the new output up to the first match of the pattern."""
        end, new = time.monotonic() + seconds, ""
        while not re.search(pattern, new, re.DOTALL):
            assert time.monotonic() < end, f"no {pattern!r} in {self.shown[-3000:]!r}"
            if select.select([self._master], [], [], 0.2)[0]:
                try:
                    new += os.read(self._master, 65536).decode("utf-8", "replace")
                except OSError:
                    break
                self.shown += new
        return new

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path, "play", "graph", "--preset", "paper-100", "--questions", "[node_count]", "--seed", 3)
    yield opened
    opened.close()


def test_completion_and_an_answer_at_a_real_terminal(terminal: Terminal) -> None:
    terminal.until(READY)
    for begun, rest in (("get_uni", "que_property_values"), (" entity_t", "ype")):
        terminal.type(f"{begun}\t")
        terminal.until(rest)
    terminal.type("=node\r")
    assert "get_unique_property_values" in terminal.until(READY), "the message about the arguments that lack"
    terminal.type("help\r")
    assert "call a tool" in terminal.until(READY)
    terminal.type("answer [1]\r")
    told = terminal.until("target:")
    assert re.search(r"incorrect|no answer", told)
    assert terminal.process.wait(20) == 0


def test_ctrl_c_ends_the_game_in_order(terminal: Terminal) -> None:
    terminal.until(READY)
    terminal.type("\x03")
    assert terminal.process.wait(20) == 130
