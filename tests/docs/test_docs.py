"""Paths and names in the documentation exist; citations of the program are in it."""

import re
import subprocess
import sys
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from experiment_fields import experiment_fields
from typer.main import get_command

from graphwalk.cli.app import app
from graphwalk.config import resources
from graphwalk.stores.neo4j.server import RELEASES
from graphwalk.suites.suite import SUITES

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
NAMED = re.compile(r"\b(?:graphwalk|templates|tools|tests|benchmarks|examples|docs)/[\w./-]*\w")
"""A path in the checkout; in `templates/prompts/NAME.j2` the capital letters are a placeholder."""
COMMAND = re.compile(r"(?:^\$ |`)graphwalk ([a-z]+\b[^`|;&>\n]*)", re.MULTILINE)


def test_the_tables_of_fields_do_not_depend_on_installed_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    other = EntryPoint("other", "another.package:Suite", SUITES.group)
    monkeypatch.setattr(resources, "entry_points", lambda **group: (other,))
    assert experiment_fields().keys() == {"", *SUITES.built_in}


def test_the_references_were_asked_about_the_engines_in_use() -> None:
    locked = re.search(r"^kglite==(\S+)", (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert locked is not None
    neo4j = " and ".join(release.version for release in RELEASES.values())
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    assert f" on kglite {locked[1]} and Neo4j {neo4j}." in page, "make truth"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_that_a_page_names_is_there(page: Path) -> None:
    text = re.sub(r"https?://\S+", "", page.read_text(encoding="utf-8"))
    code = re.findall(r"`([^`\n]+)`", text)
    paths = set()
    for span in code:
        for path in NAMED.findall(span):
            is_placeholder = re.search(r"[A-Z]{4}|\*", path)
            if not is_placeholder:
                paths.add(path)
    paths.discard("graphwalk/data")  # in an installed package
    missing = [path for path in sorted(paths) if not (ROOT / path).exists()]
    assert not missing


def test_every_function_that_contributing_names_is_in_its_file() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(graphwalk/[\w/]+\.py)` \| .* \| ((?:`\w+`(?:, )?)+) \|$", text, re.MULTILINE)
    assert rows
    for path, cell in rows:
        defined = re.findall(r"(?:def|class) (\w+)", (ROOT / path).read_text(encoding="utf-8"))
        assert not {*re.findall(r"\w+", cell)} - {*defined}, path


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name != "CHANGELOG.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_command_that_a_page_names_has_its_options(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = COMMAND.findall(text)
    assert not [line for line in lines if all_commands().get_command(None, line.split()[0]) is None]
    assert not [line for line in lines if not _options_of(line) <= _options_that_exist(line)]


@cache
def all_commands() -> Any:
    """Return the group of all commands, which takes a while to build."""
    return get_command(app)


def _options_of(line: str) -> set[str]:
    """run x -m "a -b" --graphs 2  # --no → {-m, --graphs}"""
    without_texts = re.sub(r"""'[^']*'|"[^"]*"|\s#.*""", "", line)
    return set(re.findall(r"(?<=\s)--?[a-zA-Z][\w-]*", without_texts))


def _options_that_exist(line: str) -> set[str]:
    """Return the options of the command that a line begins with; `db up` is a command in a group."""
    command = all_commands()
    for word in line.split():
        is_group = hasattr(command, "get_command")
        inner = command.get_command(None, word) if is_group else None
        if inner is None:
            break
        command = inner
    options = {"--help", "-h", "--debug"}
    for parameter in command.params:
        options.update(parameter.opts)
    return options


@pytest.mark.extended
def test_the_first_example_without_a_key_prints_an_answer() -> None:
    (code,) = re.findall(r"```python\n(import.*?)```", (ROOT / "docs" / "mcp.md").read_text("utf-8"), re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "- Quill Trading [Quill Trading] OWNS Sea Holly [Sea Holly]" in done.stdout
