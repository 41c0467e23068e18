"""The settings of docs/mcp.md start a server, server.json describes it, and no page names a release that there is not."""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from graphwalk.version import __version__
from tests.serve.mcp.servers import variables

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text()
BLOCKS: list[dict[str, Any]] = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
SERVERS = [server for block in BLOCKS for servers in block.values() for server in servers.values()]


def test_there_are_blocks_for_both_forms() -> None:
    assert {key for block in BLOCKS for key in block} == {"mcpServers", "servers"}
    assert len({json.dumps(server["args"]) for server in SERVERS}) == 2  # a file, and a Neo4j


@pytest.mark.parametrize("server", [server for server in SERVERS if "env" not in server])
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


async def test_the_registry_entry_starts_a_server() -> None:
    (package,) = json.loads((ROOT / "server.json").read_text())["packages"]
    words = ["-m", "graphwalk", *command_line(package, **{"--graph": "example"})]
    async with Client(
        stdio_client(StdioServerParameters(command=sys.executable, args=words, env=variables()))
    ) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == list(OWN_GRAPH_TOOLS)


def test_the_registry_entry_fits_the_package_the_readme_and_the_image() -> None:
    entry = json.loads((ROOT / "server.json").read_text())
    (package,), project = entry["packages"], tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert entry["version"] == package["version"] == __version__
    assert package["identifier"] == project["name"]
    assert package["identifier"] in project["scripts"]  # what uvx starts
    assert [package["runtimeArguments"][0]["value"]] == project["optional-dependencies"]["mcp"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["description"]) <= 100  # the registry's limit
    assert f"<!-- mcp-name: {entry['name']} -->" in (ROOT / "README.md").read_text()
    assert f'io.modelcontextprotocol.server.name="{entry["name"]}"' in (ROOT / "Dockerfile").read_text()


def test_no_page_installs_a_release_that_there_is_not() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("environments/*/README.md")]
    pages += [*(ROOT / "templates").rglob("*"), *(ROOT / "graphwalk").rglob("*.py"), *ROOT.glob("examples/**/*.md")]
    texts = {path: path.read_text() for path in pages if path.is_file() and path.name != "CHANGELOG.md"}
    wrong = re.compile(r"""(?:pip|uv|pipx) (?:tool )?install ['"]?graphwalk""")
    assert [path for path, text in texts.items() if wrong.search(text)] == []
