"""The options that say how a graph file is read reach the reader from every command."""

import json
from pathlib import Path

import pytest

from tests.forked_commands import graphwalk

NODES = "code,kind,called\nx,Ship,Tern\ny,Port,Aal\n"
MOVES = "u,v,how\nx,y,SAILS_TO\n"
FIELDS = ("--key-from", "code", "--label-from", "kind", "--name-from", "called", "--type-from", "how")
READING = (*FIELDS, "--source-from", "u", "--target-from", "v", "--edges", "moves.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "things.csv").write_text(NODES)
    (tmp_path / "moves.csv").write_text(MOVES)
    return tmp_path


def test_ask(folder: Path) -> None:
    done = graphwalk(
        "ask", "Where is Tern?", "--graph", "things.csv", *READING, "-m", "scripted/look", "--json", folder=folder
    )
    assert done.returncode == 0, done.stderr
    assert "Tern [x] SAILS_TO Aal [y]" in json.loads(done.stdout)["answer"]


def test_run(folder: Path) -> None:
    words = ("run", "own-graph", "--graph", "things.csv", *READING, "--setting", "tools", "-m", "scripted/expert")
    done = graphwalk(*words, "-o", "suite.per_question=1", "--out", "run", folder=folder)
    assert done.returncode == 0, done.stderr
    [source] = json.loads((folder / "run" / "run.json").read_text())["config"]["suite"]["graphs"]
    assert (source["key_from"], source["source_from"], Path(source["edges"]).name) == ("code", "u", "moves.csv")


def test_tasks(folder: Path) -> None:
    done = graphwalk("tasks", "--graph", "things.csv", *READING, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "SAILS_TO" in done.stdout + done.stderr


def test_export(folder: Path) -> None:
    done = graphwalk("export", "graph", "things.csv", "out.json", *READING, folder=folder)
    assert done.returncode == 0, done.stderr
    graph = json.loads((folder / "out.json").read_text())
    assert [(node["key"], node["label"], node["properties"]["name"]) for node in graph["nodes"]] == [
        ("x", "Ship", "Tern"),
        ("y", "Port", "Aal"),
    ]
    assert [edge["type"] for edge in graph["relationships"]] == ["SAILS_TO"]


@pytest.mark.parametrize("command", ["mcp --graph things.csv", "db load things.csv"])
def test_an_option_for_a_field_that_is_not_there_is_refused(command: str, folder: Path) -> None:
    """Before a server starts, and before a database is looked for."""
    done = graphwalk(*command.split(), *READING, "--key-from", "absent", folder=folder)
    assert done.returncode == 2
    assert "key_from: there is no 'absent'; there are: called, code, kind" in done.stderr
