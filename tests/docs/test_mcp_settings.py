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
LOCAL = [server for block in BLOCKS for servers in block.values() for server in servers.values() if "env" not in server]


def package_words() -> list[str]:
    """Return the arguments of the registry entry as a client fills them in."""
    (package,) = json.loads((ROOT / "server.json").read_text())["packages"]
    words = []
    for argument in package["packageArguments"]:
        if argument["type"] == "positional":
            words.append(argument["value"])
        elif argument["name"] == "--graph":
            words.append("--graph=example")
    return words


@pytest.mark.extended
@pytest.mark.parametrize("words", [LOCAL[0]["args"], package_words()], ids=["docs/mcp.md", "server.json"])
async def test_the_settings_start_a_server(words: list[str]) -> None:
    program = StdioServerParameters(command=sys.executable, args=["-m", "graphwalk", *words], env=variables())
    async with Client(stdio_client(program)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == list(OWN_GRAPH_TOOLS)
