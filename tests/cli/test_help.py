"""`--help` of each command runs, and imports nothing heavy."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from graphwalk.cli.app import app
from graphwalk.config.graph_source import FileOptions

_HEAVY = (
    "asyncio",
    "jinja2",
    "langchain_core",
    "langgraph",
    "neo4j",
    "numpy",
    "openai",
    "polars",
    "pydantic",
    "scipy",
    "yaml",
)
_PROGRAM = f"""
import sys
from graphwalk.cli import main
try:
    main()
finally:
    print(*(name for name in {_HEAVY} if name in sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, *arguments], capture_output=True, text=True, check=True)
    described = {"pydantic"} if len(arguments) == 2 else set()  # options of a command are fields of an experiment
    assert set(done.stderr.split()) <= described
    assert "graphwalk" in done.stdout


def _commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    if hasattr(group, "list_commands"):
        for name in group.list_commands(None):
            yield from _commands(group.get_command(None, name), (*words, name))


def test_every_command_has_a_help() -> None:
    commands = list(_commands(get_command(app)))
    assert ("generate", "maze") in commands
    assert len([words for words in commands if len(words) == 1]) <= 19
    for words in commands:
        shown = CliRunner().invoke(app, [*words, "--help"])
        assert shown.exit_code == 0, words
        assert "Usage:" in shown.output


@pytest.mark.parametrize("command", ["ask", "run", "mcp", "tasks", "export graph", "db load"])
def test_every_command_that_reads_a_graph_file_has_the_options_for_it(command: str) -> None:
    parsed = get_command(app)
    for word in command.split():
        parsed = parsed.commands[word]  # type: ignore[attr-defined]
    names = {name for parameter in parsed.params for name in parameter.opts}
    options = {f"--{name.replace('_', '-')}" for name in FileOptions.model_fields}
    assert options <= names
