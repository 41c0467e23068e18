"""The steps of the Dockerfile, one by one in an empty environment, and the MCP server that they install.

No image is built: folders take the place of its file system, and a new environment of Python that of the base image.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from graphwalk.graphs.files import save_graph
from tests.tools.conftest import ODD_GRAPH

ROOT = Path(__file__).parents[1]
Step = tuple[str, str]


def steps() -> list[Step]:
    """The instructions and their arguments."""
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines if line and not line.startswith("#")]


def test_the_build_context_holds_what_is_copied_and_no_more() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = {word for name, arguments in steps() if name == "COPY" for word in arguments.split()[:-1]}
    assert copied == allowed


def test_the_compose_profile_starts_the_server_beside_neo4j() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    server = services["mcp"]
    assert server["profiles"] == ["mcp"]
    assert server["command"][server["command"].index("--host") + 1] == server["hostname"]
    assert server["environment"]["NEO4J_PASSWORD"] == services["neo4j"]["environment"]["NEO4J_AUTH"].partition("/")[2]
    (port,) = server["ports"]
    assert port == f"127.0.0.1:{server['command'][-1]}:{server['command'][-1]}"


@pytest.mark.slow
def test_the_steps_install_a_server_that_answers(tmp_path: Path) -> None:
    place, folder = tmp_path / "image", Path("/")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "python"], check=True)
    variables = {"PATH": f"{tmp_path / 'python' / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path)}
    variables |= {
        name: value for name, value in os.environ.items() if name.startswith("PIP_") or "proxy" in name.lower()
    }
    commands: dict[str, list[str]] = {}
    for name, arguments in steps():
        if name == "WORKDIR":
            folder = place / arguments.strip("/")
            folder.mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            *sources, target = arguments.split()
            for source in sources:
                copy(ROOT / source, folder / target)
        elif name == "RUN":
            subprocess.run(arguments, shell=True, cwd=folder, env=variables, check=True, timeout=280)
        elif name in ("ENTRYPOINT", "CMD"):
            commands[name] = json.loads(arguments)
        else:
            assert name in ("FROM", "LABEL", "ENV", "USER")
    save_graph(ODD_GRAPH, folder / "odd.json")
    program, *words = [*commands["ENTRYPOINT"], "--graph", "odd.json"]
    started = StdioServerParameters(
        command=str(tmp_path / "python" / "bin" / program), args=words, env=variables, cwd=folder
    )
    assert "get_node_by_property" in asyncio.run(tool_names(started))
    command = [tmp_path / "python" / "bin" / program, *commands["ENTRYPOINT"][1:], *commands["CMD"]]
    unreachable = {**variables, "NEO4J_URI": "bolt://127.0.0.1:1"}
    done = subprocess.run(command, env=unreachable, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "127.0.0.1:1" in done.stderr) == (3, True)


async def tool_names(program: StdioServerParameters) -> set[str]:
    async with Client(stdio_client(program)) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copyfile(source, target / source.name)
