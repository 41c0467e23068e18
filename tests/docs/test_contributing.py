"""CONTRIBUTING.md names the files from `--model` to the request and to a result line, in an order that imports follow."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLES = re.findall(
    r"(?:^\| `graphwalk/[\w/]+\.py` \| .*\n)+", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
)
LISTED = [re.findall(r"^\| `(graphwalk/[\w/]+\.py)` \| .* \| ?(.*?) ?\|$", table, re.MULTILINE) for table in TABLES]


def module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def names_used(path: Path) -> tuple[set[str], set[str]]:
    """Return the modules that a file imports, at any depth, and those that its strings name."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    imported = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    strings = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return imported, {text.partition(":")[0] for text in strings if ":" in text}


def test_few_files_lead_to_the_request_and_to_a_line() -> None:
    request, line = LISTED
    assert 0 < len(request) <= 10
    assert len(request) + len(line) <= 17


def test_every_file_is_imported_by_the_named_one_above_it() -> None:
    above: list[str] = []
    for file, importer in (row for table in LISTED for row in table):
        assert (ROOT / file).is_file()
        assert bool(importer) == bool(above), f"{file}: only the first file has no importer"
        if importer:
            (name,) = re.findall(r"`([\w/]+\.py)`", importer)
            assert f"graphwalk/{name}" in above, f"{file}: {name} is not above it"
            imported, named = names_used(ROOT / "graphwalk" / name)
            assert module(file) in (named if "(by name)" in importer else imported), f"{name} does not import {file}"
        above.append(file)
