"""The Dockerfile and docker-compose.yml, without Docker."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


def steps() -> Iterator[tuple[str, str]]:
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        if line and not line.startswith("#"):
            instruction, _, rest = line.partition(" ")
            yield instruction, rest


def test_the_context_has_all_that_is_copied() -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for instruction, rest in steps():
        for source in shlex.split(rest)[:-1] if instruction == "COPY" else []:
            assert (ROOT / source).exists()
            assert any(fnmatch(source, pattern) for pattern in allowed), source


@pytest.mark.extended
def test_the_compose_profile_starts_the_entry_point_beside_neo4j() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    server = services["mcp"]
    assert "profiles" not in services["neo4j"]
    assert server["profiles"] == ["mcp"]
    assert server["environment"]["NEO4J_PASSWORD"] in services["neo4j"]["environment"]["NEO4J_AUTH"]
    words = server["command"]
    assert server["hostname"] == words[words.index("--host") + 1]
    checked = subprocess.run(
        [sys.executable, "-m", "graphwalk", "mcp", *words[:4], "--host", "127.0.0.1", "--port", "0"],
        env={**os.environ, "NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "x" * 8},
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 3, checked.stderr  # its options are right, and no database answers
