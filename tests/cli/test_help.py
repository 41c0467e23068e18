"""`--help` imports nothing heavy, and lists every command."""

import subprocess
import sys

import pytest
from typer.main import get_command

from graphwalk.cli.app import COMMANDS, PANELS, app
from tests.commands import graphwalk

_HEAVY = (
    "asyncio",
    "jinja2",
    "langchain_core",
    "langgraph",
    "neo4j",
    "numpy",
    "openai",
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


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["ask", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, *arguments], capture_output=True, text=True, check=True)
    described = {"pydantic"} if len(arguments) == 2 else set()  # options of a command are fields of an experiment
    assert set(done.stderr.split()) <= described
    assert "graphwalk" in done.stdout


def test_help_lists_every_command_in_one_whole_line() -> None:
    shown = graphwalk("--help", COLUMNS="80").stdout
    assert all(f"\n{panel}:\n" in shown for panel in PANELS)
    assert "...\n" not in shown.partition("\nRun:\n")[2]


def test_the_list_of_commands_has_the_first_sentence_of_each() -> None:
    group = get_command(app)
    for name, (_, line) in COMMANDS.items():
        assert group.get_command(None, name).get_short_help_str(100) == line


def test_help_of_a_group_has_whole_sentences() -> None:
    shown = graphwalk("generate", "--help", COLUMNS="60").stdout.partition("Commands:")[2]
    assert "..." not in shown
    assert "minimum path length." in " ".join(shown.split())


@pytest.mark.parametrize("command", ["ask", "tasks", "mcp", "run"])
def test_help_names_the_graph_files_that_the_command_reads(command: str) -> None:
    shown = " ".join(graphwalk(command, "--help").stdout.split())
    assert "Graph file: JSON or GraphML, or a folder of CSV." in shown
    assert "Cypher, or" not in shown
