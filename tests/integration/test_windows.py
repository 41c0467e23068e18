"""The commands that work without the modules and functions that Windows lacks."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from graphwalk.tools.graph_toolbox import GET_SCHEMA

pytestmark = pytest.mark.extended
_HIDE = """
import os, select, sys
import filelock, mcp.server.stdio, psutil  # on Linux these use the modules themselves
sys.modules.update(fcntl=None, resource=None)
for module, names in ((os, ("pread", "readv", "sched_getaffinity")), (select, ("poll",))):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
import graphwalk
graphwalk.play, graphwalk.run
"""
_COMMAND = f"{_HIDE}from graphwalk.cli import main\nmain()"


def graphwalk(folder: Path, *words: str) -> str:
    command = [sys.executable, "-c", _COMMAND, *words]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_quickstart_is_run_and_listed(tmp_path: Path) -> None:
    words = ("run", "quickstart", "--limit", "3", "-m", "scripted/expert", "--out", "runs/mine")
    assert "100.0 % correct of 3 answers" in " ".join(graphwalk(tmp_path, *words).split())
    assert "finished" in graphwalk(tmp_path, "list", "runs", "runs")


async def test_the_mcp_server_lists_and_calls_tools(tmp_path: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-c", _COMMAND, "mcp", "--graph", "example"], cwd=tmp_path
    )
    async with asyncio.timeout(60), stdio_client(server) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert GET_SCHEMA in names
        assert not (await client.call_tool(GET_SCHEMA, {"entity_type": "Node", "entity_name": "Person"})).is_error
