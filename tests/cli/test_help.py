"""`--help` answers at once: it imports nothing heavy."""

import subprocess
import sys

import pytest

_HEAVY = ("asyncio", "jinja2", "langchain_core", "langgraph", "lark", "neo4j", "numpy", "openai", "scipy", "yaml")
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
    assert done.stderr.split() == []
    assert "graphwalk" in done.stdout
