"""Experiments with the user's files: used in every suite; a wrong file is an error before the first model call."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.config.resources import data_path
from tests.cli.test_commands import graphwalk

TOOL = """\
name: {name}
description: Lists labels.
example: {{arguments: {{}}, rows: [{{label: Film}}]}}
cypher: "MATCH (n{{{{ any_node }}}}) RETURN DISTINCT {{{{ 'n' | label_of }}}} AS label"
no_match: nothing
"""
SUITES = {
    "questions": "{name: questions, graphs: [{nodes: 20, labels: 2}], questions: [node_count]}",
    "mazes": "{name: mazes, mazes: [{size: 5, walls: 0.2, min_path: 4}]}",
}


def experiment(folder: Path, suite: str, setting: str, agent: str) -> Path:
    (folder / "sub" / "prompts").mkdir(parents=True)
    (folder / "sub" / "list_labels.yaml").write_text(TOOL.format(name="list_labels"))
    path = folder / "sub" / "own.yaml"
    path.write_text(f"name: own\nsuite: {SUITES[suite]}\nsettings: [{setting}]\nagent:\n{agent}")
    return path


def prompt(folder: Path, name: str, text: str) -> None:
    (folder / "sub" / "prompts" / name).write_text(text)


def first(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "run" / "results.jsonl").read_bytes().splitlines()[0])
    return record


def run(folder: Path, *words: object) -> None:
    done = graphwalk("run", "sub/own.yaml", "--out", "run", "-m", "scripted/expert", *words, folder=folder)
    assert done.returncode == 0, done.stderr


def test_a_maze_with_a_tool_and_a_prompt(tmp_path: Path) -> None:
    tools = "[get_next_possible_cells, get_connected_path, ./list_labels.yaml, think]"
    experiment(tmp_path, "mazes", "tools", f"  prompts: ./prompts/\n  tools: {tools}\n")
    prompt(tmp_path, "maze_question.j2", "From {{ start }} to {{ goal }}, please.")
    run(tmp_path)
    record = first(tmp_path)
    assert record["task"]["question"].startswith("From ")
    assert record["trajectory"]["prompt"][1]["content"] == record["task"]["question"]
    assert record["score"]["correct"]
    assert (tmp_path / "run" / "texts" / "tools" / "list_labels.yaml").is_file()


def test_files_named_on_the_command_line_are_looked_for_where_it_runs(tmp_path: Path) -> None:
    (tmp_path / "list_labels.yaml").write_text(TOOL.format(name="list_labels"))
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


@pytest.mark.parametrize(
    ("agent", "cause", "next_step"),
    [
        ("  tools: [./wrong.yaml]\n", "wrong.yaml:4: cypher: there is no colour", ""),
        ("  prompts: ./nowhere/\n", "own.yaml:5: agent.prompts: there is no file or folder", ""),
        ("  prompts: ./prompts/\n", "graph_tools.j2:2: there is no colour; known: rows", "ours: "),
    ],
)
def test_wrong_files_are_errors_before_the_run(tmp_path: Path, agent: str, cause: str, next_step: str) -> None:
    experiment(tmp_path, "questions", "tools", agent)
    prompt(tmp_path, "graph_tools.j2", "Rows:\n{{ colour }}")
    wrong = TOOL.format(name="wrong").replace("any_node", "colour")
    (tmp_path / "sub" / "wrong.yaml").write_text(wrong)
    done = graphwalk("run", "sub/own.yaml", "--out", "run", folder=tmp_path)
    assert done.returncode == 2, done.stderr
    assert cause in done.stderr
    assert next_step in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_tools_shows_a_file(tmp_path: Path) -> None:
    text = TOOL.format(name="list_labels")
    (tmp_path / "list_labels.yaml").write_text(text)
    assert graphwalk("list", "tools", "list_labels.yaml", folder=tmp_path).stdout.rstrip() == text.rstrip()
    (tmp_path / "list_labels.yaml").write_text(text.replace("no_match", "no_mach"))
    done = graphwalk("list", "tools", "./list_labels.yaml", folder=tmp_path)
    assert (done.returncode, "did you mean no_match" in done.stderr) == (2, True)
