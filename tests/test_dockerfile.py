"""The steps of the Dockerfile, run one by one in a new environment in place of the image; no Docker is needed."""

import asyncio
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from graphwalk.graphs.files import save_graph
from tests.tools.conftest import ODD_GRAPH

ROOT = Path(__file__).parents[1]
KNOWN = {"FROM", "LABEL", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "ENTRYPOINT", "CMD"}


def steps() -> Iterator[tuple[str, str]]:
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        if line and not line.startswith("#"):
            instruction, _, rest = line.partition(" ")
            yield instruction, rest


def test_the_context_has_all_that_is_copied() -> None:
    assert {instruction for instruction, _ in steps()} == KNOWN
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for instruction, rest in steps():
        for source in shlex.split(rest)[:-1] if instruction == "COPY" else []:
            assert (ROOT / source).exists()
            assert any(fnmatch(source, pattern) for pattern in allowed), source


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


def run_steps(image: Path, binaries: Path, environment: dict[str, str]) -> tuple[Path, list[str]]:
    """Run the steps with `image` as the root folder; return the last folder and the entry point."""
    folder, entry = image, list[str]()
    for instruction, rest in steps():
        if instruction == "WORKDIR":
            folder = image / rest.lstrip("/")
            folder.mkdir(parents=True)
        elif instruction == "COPY":
            *names, target = shlex.split(rest)
            for name in names:
                place = folder / target / name.rpartition("/")[2] if target.endswith("/") else folder / target
                place.parent.mkdir(parents=True, exist_ok=True)
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
                copy(ROOT / name, place)
        elif instruction == "RUN":
            done = subprocess.run(["/bin/sh", "-c", rest], cwd=folder, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        elif instruction == "ENTRYPOINT":
            entry = json.loads(rest)
    return folder, [str(binaries / entry[0]), *entry[1:]]


@pytest.mark.slow
def test_its_steps_end_in_a_server_that_walks_a_mounted_file(tmp_path: Path) -> None:
    """Installs the pinned packages in a new environment: minutes, and a network."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "python"], check=True)
    binaries = tmp_path / "python" / "bin"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environment = {**clean, "PATH": f"{binaries}:/usr/bin:/bin", "HOME": str(tmp_path)}
    folder, (command, *words) = run_steps(tmp_path / "image", binaries, environment)
    save_graph(ODD_GRAPH, folder / "films.json")

    async def names() -> set[str]:
        words_of_user = [*words, "--graph", "films.json"]
        server = StdioServerParameters(command=command, args=words_of_user, env=environment, cwd=folder)
        async with Client(stdio_client(server)) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert {"get_node_by_property", "get_schema"} <= asyncio.run(names())
