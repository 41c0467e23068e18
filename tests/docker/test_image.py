"""The Dockerfile: the image with a client over stdio, and over HTTP in the profile `mcp`."""

import os
from collections.abc import Iterator

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from neo4j import GraphDatabase

from tests.cleanup import remove_project
from tests.docker.engine import NOTHING, ROOT, SMALL, docker, left_of, need, new_project
from tests.neo4j_servers import free_port
from tests.own_graph.mcp.servers import HttpServer, text_of

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1200)]
TOKEN = "only-for-these-tests"
PASSWORD = "only-for-these-tests"
BASE = next(line.split()[1] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("FROM "))


project = pytest.fixture(new_project, scope="module")


@pytest.fixture(scope="module")
def image(project: str) -> Iterator[str]:
    """The built image, under the name with which `docker compose up` takes it in place of building it again."""
    need("5.26", images=(BASE,))
    name = f"{project}-mcp"
    docker("build", "--tag", name, ".")
    yield name
    remove_project(project)
    docker("image", "rm", "--force", name)


async def test_a_client_over_stdio_asks_a_file(image: str) -> None:
    # The files of this machine's user, which the user of the image must be able to read.
    file = ROOT / "tests/data/films.json"
    words = ["run", "--rm", "--interactive", "--volume", f"{file}:/data/films.json:ro", image, "--graph", "films.json"]
    program = StdioServerParameters(command="docker", args=words, env=dict(os.environ))
    async with Client(stdio_client(program)) as client:
        arguments = {"label": "Film", "property_name": "title", "property_value": "Red Dust"}
        assert "2004" in text_of(await client.call_tool("get_node_by_property", arguments))


async def test_a_client_over_http_asks_the_neo4j_of_the_compose_profile(image: str, project: str) -> None:
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
        server = HttpServer(f"http://{host}:{port}/mcp", TOKEN)
        async with server.client() as client:
            arguments = {"label": "Film", "property_name": "title", "property_value": "Red Dust"}
            assert "Red Dust" in text_of(await client.call_tool("get_node_by_property", arguments))
    assert HttpServer(server.url, "another-token-1234").post().status_code == 401

    docker(*compose, "down", "--volumes", **variables)
    assert len(left_of(project)["containers"]) == 1  # the profile has to be named, as docker-compose.yml explains
    docker(*compose, "--profile", "mcp", "down", "--volumes", **variables)
    assert left_of(project) == NOTHING
