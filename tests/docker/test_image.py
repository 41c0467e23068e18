"""The Dockerfile: the image with a client over stdio, and over HTTP in the profile `mcp`."""

import os
import subprocess
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from neo4j import GraphDatabase

from tests.docker.engine import NOTHING, ROOT, SMALL, docker, left_of, need
from tests.neo4j_servers import free_port
from tests.own_graph.mcp.servers import HttpServer, text_of

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1200)]
TOKEN = "only-for-these-tests"
PASSWORD = "only-for-these-tests"
BASE = next(line.split()[1] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("FROM "))


async def test_clients_over_stdio_and_http(project: str, tmp_path: Path) -> None:
    need("5.26", images=(BASE,))
    # The name under which `docker compose up` finds it, so that it is built once.
    image = f"{project}-mcp"
    docker("build", "--tag", image, ".")
    try:
        await _ask_over_stdio(image, tmp_path)
        await _ask_over_http(project)
    finally:
        subprocess.run(["docker", "image", "rm", "--force", image], capture_output=True, check=False)


async def _ask_over_stdio(image: str, folder: Path) -> None:
    file = folder / "films.json"
    file.write_text('{"nodes": [{"id": "f1", "labels": ["Film"], "title": "Red Dust"}], "links": []}')
    file.chmod(0o644)
    folder.chmod(0o755)
    words = ["run", "--rm", "--interactive", "--volume", f"{file}:/data/films.json:ro", image, "--graph", "films.json"]
    program = StdioServerParameters(command="docker", args=words, env=dict(os.environ))
    async with Client(stdio_client(program)) as client:
        arguments = {"label": "Film", "property_name": "title", "property_value": "Red Dust"}
        assert "f1" in text_of(await client.call_tool("get_node_by_property", arguments))


async def _ask_over_http(project: str) -> None:
    bolt, port = free_port(), free_port()
    compose = ("compose", "--project-name", project, "--file", "docker-compose.yml")
    variables = {
        **SMALL,
        "GRAPHWALK_NEO4J_PORT": str(bolt),
        "GRAPHWALK_MCP_PORT": str(port),
        "GRAPHWALK_MCP_TOKEN": TOKEN,
        "NEO4J_PASSWORD": PASSWORD,
    }
    docker(*compose, "up", "--detach", "--wait", "neo4j", **variables)
    with GraphDatabase.driver(f"bolt://127.0.0.1:{bolt}", auth=("neo4j", PASSWORD)) as driver:
        driver.execute_query("CREATE (:Film {key: 'f1', title: 'Red Dust'})")
    docker(*compose, "--profile", "mcp", "up", "--detach", "--wait", **variables)
    for host in ("127.0.0.1", "localhost"):
        server = HttpServer(f"http://{host}:{port}/mcp", TOKEN, None)  # type: ignore[arg-type]
        async with server.client() as client:
            arguments = {"label": "Film", "property_name": "title", "property_value": "Red Dust"}
            assert "Red Dust" in text_of(await client.call_tool("get_node_by_property", arguments))
    assert HttpServer(server.url, "another-token-1234", None).post().status_code == 401  # type: ignore[arg-type]

    docker(*compose, "down", "--volumes", **variables)
    assert len(left_of(project)["containers"]) == 1  # the profile has to be named, as docker-compose.yml says
    docker(*compose, "--profile", "mcp", "down", "--volumes", **variables)
    assert left_of(project) == NOTHING
