"""The settings of docs/mcp.md and server.json start a server."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from tests.own_graph.mcp.servers import variables

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text()
BLOCKS: list[dict[str, Any]] = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
SERVERS = [server for block in BLOCKS for servers in block.values() for server in servers.values()]


@pytest.mark.extended
@pytest.mark.parametrize("server", [server for server in SERVERS if "env" not in server][:1])
async def test_the_settings_of_clients_start_a_server(server: dict[str, Any]) -> None:
    assert server["command"] == "graphwalk"
    words = ["-m", "graphwalk", *server["args"]]
    async with Client(
        stdio_client(StdioServerParameters(command=sys.executable, args=words, env=variables()))
    ) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == list(OWN_GRAPH_TOOLS)


def command_line(package: dict[str, Any], **values: str) -> list[str]:
    """The arguments of the package as a client fills them in."""
    words = []
    for argument in package["packageArguments"]:
        if argument["type"] == "positional":
            words.append(argument["value"])
        elif argument["name"] in values:
            words.append(f"{argument['name']}={values[argument['name']]}")
    return words


@pytest.mark.extended
async def test_the_registry_entry_starts_a_server() -> None:
    (package,) = json.loads((ROOT / "server.json").read_text())["packages"]
    words = ["-m", "graphwalk", *command_line(package, **{"--graph": "example"})]
    async with Client(
        stdio_client(StdioServerParameters(command=sys.executable, args=words, env=variables()))
    ) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == list(OWN_GRAPH_TOOLS)
