"""Errors where the server cannot start."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import graphwalk
from tests.serve.mcp.servers import variables


def refused(*words: object, **own: str) -> tuple[int, str]:
    done = graphwalk("mcp", *words, **own)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_a_port_that_is_taken(odd_file: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, errors = refused("--graph", odd_file, "--transport", "http", "--port", port)
    assert code == 2
    assert f"port {port}" in errors
    assert "--port 0" in errors


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "no such host"])
def test_addresses_that_are_not_of_this_machine(odd_file: Path, host: str) -> None:
    code, errors = refused("--graph", odd_file, "--transport", "http", "--port", 0, "--host", host)
    assert code == 2
    assert "try:" in errors


def test_a_short_token(odd_file: Path) -> None:
    code, errors = refused("--graph", odd_file, "--transport", "http", "--port", 0, GRAPHWALK_MCP_TOKEN="short-one")
    assert (code, "short-one" in errors) == (2, False)
    assert "GRAPHWALK_MCP_TOKEN" in errors


def test_graphs_and_tools_that_cannot_be_opened(odd_file: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    for words, cause in (
        (("--graph", tmp_path / "none.json"), "no file"),
        (("--graph", tmp_path / "broken.json"), "broken.json"),
        (("--graph", odd_file, "--tool", "no_such"), "there is no tool 'no_such'"),
        (("--graph", odd_file, "--tool", "get_next_possible_cells"), "get_next_possible_cells"),
        (("--graph", odd_file, "--database", "x"), "--graph and --database"),
        (("--graph", odd_file, "--labels", "Zorep,Zorp"), "the graph has no label 'Zorp'"),
        (("--graph", odd_file, "--labels", ""), "an empty list of labels keeps nothing"),
        (("--graph", odd_file, "--relationship-types", "DRIP"), "there are: DRAP, FLIN"),
        (("--graph", odd_file, "-o", "agent.turn_limit=3"), "the server has no setting agent.turn_limit"),
        (("--graph", odd_file, "-o", "agent.result_budget=0"), "must be greater than 0"),
        (("--graph", odd_file, "-o", "agent.prompts=./none"), "there is no file or folder"),
    ):
        code, errors = refused(*words)
        assert code == 2, words
        assert cause in errors


def test_missing_extra_error_names_the_command(odd_file: Path) -> None:
    program = "import sys; sys.modules['mcp'] = None; sys.argv[0] = 'graphwalk'; from graphwalk.cli import main; main()"
    words = [sys.executable, "-c", program, "mcp", "--graph", str(odd_file)]
    done = subprocess.run(words, capture_output=True, text=True, env=variables(), timeout=60, check=False)
    assert done.returncode == 2
    assert "pip install -e '.[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr
