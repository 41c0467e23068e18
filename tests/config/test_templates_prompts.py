"""A user's prompts replace the shipped ones of the same name; a wrong one is an error before the run."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from graphwalk.config.agent import AgentConfig
from graphwalk.config.templates import MESSAGES, Prompts
from graphwalk.errors import ConfigError


def folder(tmp_path: Path, **files: str) -> Path:
    """A folder with these files; in their names `__` is a dot."""
    for name, text in files.items():
        (tmp_path / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_file_is_read_once_and_replaces_ours(tmp_path: Path) -> None:
    agent = AgentConfig(prompts=str(folder(tmp_path, answer_now__j2="Now!", maze_format__j2="Say the path.")))
    assert agent.render("answer_now.j2") == "Now!"
    folder(tmp_path, answer_now__j2="Later.")
    assert agent.render("answer_now.j2") == "Now!"
    assert agent.render("maze_question.j2", start=1, goal=2).endswith("\nSay the path.")
    assert agent.render("magma_system.j2") == AgentConfig().render("magma_system.j2")


def test_messages_replace_ours_one_by_one(tmp_path: Path) -> None:
    own = Prompts(folder(tmp_path, tool_messages__yaml="unknown_tool: No {{ name | quote }} here.\n"))
    assert own.message("unknown_tool", name="x", names=[], close=[]) == 'No "x" here.'
    assert own.message("example", arguments="{}") == Prompts().message("example", arguments="{}")


@pytest.mark.parametrize(
    ("name", "text", "where", "problem"),
    [
        ("graph_tool.j2", "", "", "did you mean graph_tools.j2?"),
        ("graph_tools.j2", "Rows:\n{{ colour }}", ":2", "there is no colour; known: rows, samples, search"),
        ("graph_tools.j2", "Rows:\n{% for %}", ":2", "line 2"),
        ("graph_tools.j2", "{{ rows | loud }}", ":1", "No filter named 'loud'"),
        ("maze_question.j2", "{% include 'maze_fromat.j2' %}", "", "no maze_fromat.j2 to include"),
        (MESSAGES, "unknown_tol: None such.", "", "there is no message 'unknown_tol'"),
        (MESSAGES, "bad_json: >-\n  no\nunknown_tool: '{{ tool }}'", ":3", "unknown_tool: there is no tool; known:"),
    ],
)
def test_wrong_prompt_error_names_its_line(tmp_path: Path, name: str, text: str, where: str, problem: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        Prompts(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / name}{where}:")
    assert problem in str(caught.value)


def test_an_error_while_a_prompt_is_rendered_names_its_line(tmp_path: Path) -> None:
    own = Prompts(folder(tmp_path, maze_tools__j2="{% for row in rows %}\n{{ row.colour }}\n{% endfor %}"))
    with pytest.raises(ConfigError, match=r"maze_tools\.j2:2: .*colour"):
        own.render("maze_tools.j2", rows=[1, 2, 3], size=1, start=0, goal=0)


def test_prompts_are_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="must be short, paper or a folder"):
        AgentConfig(prompts="mine")
    with pytest.raises(ValidationError, match="there is no file or folder"):
        AgentConfig(prompts=str(tmp_path / "nowhere"))
