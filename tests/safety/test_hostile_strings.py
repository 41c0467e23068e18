"""Every hostile string in every argument of every tool that ships: rows or words come back, and nothing is changed."""

import asyncio
import json

import pytest

from graphwalk.models.trajectory import ToolResult
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.tool import load_tools, tool_names
from tests.safety.conftest import Place
from tests.safety.hostile import GOOD, hostile_calls

GRAPH_MISTAKES = {"unknown_tool", "bad_json", "bad_arguments", "unknown_name"}
MISTAKES = {
    "run_cypher": GRAPH_MISTAKES | {"syntax", "write_refused", "not_offered", "query_error", "timeout", "too_large"},
    "get_next_possible_cells": GRAPH_MISTAKES | {"unknown_cell", "malformed_id", "wall", "not_text"},
}
"""The classes of mistakes that a tool can report; of the others GRAPH_MISTAKES."""
AT_ONCE = 16


def test_every_tool_and_every_argument_is_tried() -> None:
    assert sorted(GOOD) == tool_names()
    for tool in load_tools(tool_names()):
        assert list(GOOD[tool.name]) == list(tool.parameters)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "every",
    [
        pytest.param(509, id="few"),
        pytest.param(31, id="some", marks=pytest.mark.extended),
        pytest.param(1, id="all", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("tool", GOOD)
async def test_nothing_is_changed_and_nothing_breaks(place: Place, tool: str, every: int) -> None:
    if tool == "run_cypher" and not place.store.takes_queries:
        pytest.skip("queries of a model run on the embedded engine alone")
    toolbox = await place.toolbox(tool)
    before = await place.digest()
    turns = asyncio.Semaphore(AT_ONCE)

    async def attack(name: str, arguments: str) -> ToolResult:
        async with turns:
            return await place.call(toolbox, name, arguments)

    calls = list(hostile_calls(tool))
    assert len(calls) >= 4 * 500
    for result in await asyncio.gather(*(attack(*call) for call in calls[::every])):
        in_words_or_rows(tool, result)
    good = await place.call(toolbox, tool, json.dumps(GOOD[tool]))
    assert good.error is None, good.content
    assert await place.digest() == before


def in_words_or_rows(tool: str, result: ToolResult) -> None:
    call = f"{result.call.name[:80]} {result.call.arguments[:200]}"
    assert "Traceback" not in result.content or "Traceback" in result.call.arguments, call
    assert "swordfish" not in result.content, call
    if result.error is not None:
        assert result.error in MISTAKES.get(tool, GRAPH_MISTAKES), f"{result.error}: {call}"
        assert result.content
        assert len(result.content) < 5_000, call
    elif tool not in ("think", "get_schema", "get_connected_path"):
        assert read_rows(result.content) is not None
