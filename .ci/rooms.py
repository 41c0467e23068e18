"""The rooms of `graphwalk/`, for CONTRIBUTING.md: the layers of pyproject.toml with their docstrings."""

import tomllib
from importlib import import_module
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def rooms_table() -> str:
    """Return a Markdown table with a row for each room."""
    contracts = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract.get("containers") == ["graphwalk"])
    lines = ["| room | what is in it |", "|---|---|"]
    for layer in layers:
        for room in layer.split(" | "):
            lines.append(f"| `{room}` | {_first_sentence(room)} |")
    return "\n".join(lines)


def _first_sentence(room: str) -> str:
    """Return the first sentence of the docstring of a module."""
    docstring = import_module(f"graphwalk.{room}").__doc__ or ""
    return " ".join(docstring.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
