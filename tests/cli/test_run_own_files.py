"""Experiments with the user's files: used in every suite; a wrong file is an error before the first model call."""

import json
from pathlib import Path
from typing import Any

from graphwalk.config.resources import data_path
from tests.forked_commands import graphwalk

TOOL = """\
name: list_labels
description: Lists labels.
example: {arguments: {}, rows: [{label: Film}]}
cypher: "MATCH (n{{ any_node }}) RETURN DISTINCT {{ 'n' | label_of }} AS label"
no_match: nothing
"""
MAZE = """\
name: own
suite: {name: mazes, mazes: [{size: 5, walls: 0.2, min_path: 4}]}
settings: [tools]
agent:
  prompts: ./prompts/
  tools: [get_next_possible_cells, get_connected_path, ./list_labels.yaml, think]
"""


def first(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "run" / "results.jsonl").read_bytes().splitlines()[0])
    return record


def test_a_maze_with_a_tool_and_a_prompt(tmp_path: Path) -> None:
    (tmp_path / "sub" / "prompts").mkdir(parents=True)
    (tmp_path / "sub" / "prompts" / "maze_question.j2").write_text("From {{ start }} to {{ goal }}, please.")
    (tmp_path / "sub" / "list_labels.yaml").write_text(TOOL)
    (tmp_path / "sub" / "own.yaml").write_text(MAZE)
    done = graphwalk("run", "sub/own.yaml", "--out", "run", "-m", "scripted/expert", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    record = first(tmp_path)
    assert record["task"]["question"].startswith("From ")
    assert record["trajectory"]["prompt"][1]["content"] == record["task"]["question"]
    assert record["score"]["correct"]
    assert (tmp_path / "run" / "texts" / "tools" / "list_labels.yaml").is_file()


def test_files_named_on_the_command_line_are_looked_for_where_it_runs(tmp_path: Path) -> None:
    (tmp_path / "list_labels.yaml").write_text(TOOL)
    shipped = data_path("templates")
    (tmp_path / "node_count.yaml").write_text((shipped / "questions" / "node_count.yaml").read_text())
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "graph_tools.j2").write_text("Walk, please.")
    overrides = ("-o", "agent.prompts=./own", "-o", "agent.tools=[./list_labels.yaml, get_node_by_property]")
    words = ("run", "quickstart", "-o", "suite.questions=[./node_count.yaml]", "--graphs", 1, "-m", "scripted/expert")
    done = graphwalk(*words, *overrides, "--out", "run", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert first(tmp_path)["trajectory"]["prompt"][0]["content"] == "Walk, please."
    assert (tmp_path / "run" / "texts" / "tools" / "list_labels.yaml").is_file()


def test_tools_shows_a_file(tmp_path: Path) -> None:
    (tmp_path / "list_labels.yaml").write_text(TOOL)
    assert graphwalk("list", "tools", "list_labels.yaml", folder=tmp_path).stdout.rstrip() == TOOL.rstrip()
