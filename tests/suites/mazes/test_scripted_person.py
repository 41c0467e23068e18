"""A person plays a maze, and looks at walks."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.suites.mazes.generate import generate_maze
from tests.commands import graphwalk

GRAPHWALK = (sys.executable, "-m", "graphwalk")
SPEC = MazeSpec(size=6, walls=0.4, min_path=7)
SIZE = ("--size", "6", "--walls", "0.4", "--min-path", "7")


def test_a_person_finds_the_way(tmp_path: Path) -> None:
    way = generate_maze(SPEC, 3).shortest_path()
    typed = "\n".join([*map(str, way), "path", "answer"])
    played = graphwalk("play", "maze", *SIZE, "--seed", 3, "--out", tmp_path / "walk.html", typed=typed)
    assert played.returncode == 0, played.stderr
    assert f"valid, {len(way) - 1} steps (shortest {len(way) - 1}), {len(way) + 1} calls" in played.stdout
    assert f'from cell "{way[0]}" to cell "{way[-1]}"' in played.stdout  # the prompt of the model
    assert "Content-Security-Policy" in (tmp_path / "walk.html").read_text()


@pytest.mark.parametrize(
    ("typed", "verdict"),
    [
        ("", "no answer, 0 calls"),
        ("quit\n", "no answer, 0 calls"),
        ("what now\n\nmap\nquit\n", "no answer, 0 calls"),
        ("x\n99\npath\nanswer 1, 2\n", "3 calls"),
        ("cell 90\nquit\n", "no answer, 1 call\n"),
        ("answer\nno\ncell 90\nquit\n", "no answer, 1 call\n"),
        ("answer\nyes\n", "Submit an empty answer?"),
        ("answer\nyes\n31\nquit\n", "no answer, 0 calls"),
    ],
)
def test_any_line_can_be_typed(typed: str, verdict: str) -> None:
    played = graphwalk("play", "maze", *SIZE, typed=typed)
    assert played.returncode == 0, played.stderr
    assert verdict in played.stdout


def test_at_the_turn_limit_only_an_answer_counts() -> None:
    played = graphwalk("play", "maze", *SIZE, "--turn-limit", 2, typed="0\n1\n2\nanswer 3\n")
    assert "Call limit reached" in played.stdout
    assert ", 2 calls" in played.stdout


def test_an_interrupt_ends_the_game_at_once() -> None:
    game = subprocess.Popen([*GRAPHWALK, "play", "maze"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert game.stdout is not None
    assert any(b"quit?" in line for line in game.stdout)
    game.send_signal(signal.SIGINT)
    assert game.wait(timeout=60) == 130
    for pipe in (game.stdin, game.stdout):
        assert pipe is not None
        pipe.close()


def test_mazes_as_text_and_pictures(tmp_path: Path) -> None:
    drawn = graphwalk("generate", "maze", *SIZE, "--seed", 1, "--index", 4)
    assert drawn.stdout.count("\n") == 1 + 8
    for name in ("m.txt", "m.svg", "m.jsonl"):
        made = graphwalk("generate", "maze", *SIZE, "--seed", 1, "--index", 4, "--out", tmp_path / name)
        assert made.returncode == 0, made.stderr
    assert json.loads((tmp_path / "m.jsonl").read_text()) == generate_maze(SPEC, 1, 4).as_json()
    assert (tmp_path / "m.txt").read_text() == drawn.stdout
    assert (tmp_path / "m.svg").read_text().count('class="wall"') == 14


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("--out", "m.png"), "expected one of .jsonl, .parquet, .txt, .svg"),
        (("--out", "m.svg", "--count", "2"), "an SVG file contains one maze"),
        (("--out", "no/such/folder/m.jsonl"), "cannot be written"),
        (("--generator", "magic"), "generator"),
        (("--walls", "1.5"), "walls"),
        (("--size", "3"), "min_path 15 is impossible"),
    ],
    ids=str,
)
def test_mistakes_are_named(
    words: tuple[str, ...], cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = graphwalk("generate", "maze", *words)
    assert made.returncode == 2
    assert cause in made.stderr
    assert "Traceback" not in made.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    models = ("-m", "scripted/expert", "-m", "scripted/random")
    done = graphwalk("run", "paper-table-1", *models, "--setting", "tools", "--graphs", 2, "--json", "--out", folder)
    assert done.returncode == 0, done.stderr
    assert [row["accuracy"] for row in json.loads(done.stdout)["rows"]] == [100.0, 0.0]
    return folder


def test_walks_of_a_run(run_folder: Path, tmp_path: Path) -> None:
    drawn = graphwalk("show", run_folder, "maze-0-1", "-m", "scripted/expert")
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stdout.count("scripted/expert · tools · ") == drawn.stdout.count("valid, ") == 1
    for name in ("w.html", "w.svg", "w.txt"):
        made = graphwalk("view", run_folder, "--out", tmp_path / name)
        assert made.returncode == 0, made.stderr
        assert ("drew the first of 4" in made.stderr) == name.endswith("svg")
    picture = (tmp_path / "w.svg").read_text()
    assert 'class="path"' in picture
    assert "<title>scripted/expert" in picture
    assert "Content-Security-Policy" in (tmp_path / "w.html").read_text()
    assert "wrong goal, " in (tmp_path / "w.txt").read_text()


@pytest.mark.parametrize(
    ("words", "code", "cause"),
    [
        (("--task", "none"), 2, "has no episode with task 'none'"),
        (("--out", "w.png"), 2, "unsupported format; expected"),
    ],
)
def test_view_errors(run_folder: Path, words: tuple[str, ...], code: int, cause: str) -> None:
    made = graphwalk("view", run_folder, *words)
    assert (made.returncode, cause in made.stderr) == (code, True), made.stderr


def test_a_run_can_be_scored_again(run_folder: Path) -> None:
    assert "4 results rescored, 0 scores changed" in graphwalk("rescore", run_folder).stderr
