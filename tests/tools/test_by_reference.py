"""Answers by reference: what they pick out of results, what is refused, and that they end an episode."""

import json
import re
from typing import Any

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.tools.by_reference import ReferenceToolbox
from graphwalk.tools.tool import load_tools
from graphwalk.types.chat import ToolCall, ToolSpec
from graphwalk.types.episode import ToolResult

ROWS = [
    {"center_key": "a", "direction": "outgoing", "neighbor_label": "X", "relationship_properties": {"w": 1}},
    {"center_key": "a", "direction": "outgoing", "neighbor_label": "Y", "relationship_properties": {"w": 2}},
    {"center_key": "b", "direction": "outgoing", "neighbor_label": "X", "relationship_properties": {}},
    {"center_key": "c", "direction": "incoming", "neighbor_label": "X", "relationship_properties": {"w": 2.0}},
]


class Shown:
    """Tools that show one row each, in order; the fifth call is refused."""

    ordered = False
    specs: tuple[ToolSpec, ...] = ()

    def __init__(self) -> None:
        self.calls = 0

    async def call(self, call: ToolCall) -> ToolResult:
        self.calls += 1
        if self.calls > len(ROWS):
            return ToolResult(call, "No.", error="unknown_name")
        return ToolResult(call, json.dumps([ROWS[self.calls - 1]]), rows=1)


async def answered(**arguments: Any) -> ToolResult:
    toolbox = ReferenceToolbox(Shown(), load_tools(["answer"])[0], AgentConfig())
    for number in range(5):
        shown = await toolbox.call(ToolCall(str(number), "look", "{}"))
    assert shown.content == "No.", "a refused call is no result, and has no number"
    return await toolbox.call(ToolCall("9", "answer", json.dumps({"results": "all", **arguments})))


async def of_rows(rows: list[dict[str, Any]], **arguments: str) -> Any:
    """The answer from one result of these rows, or what is said of the call."""

    class Rows(Shown):
        async def call(self, call: ToolCall) -> ToolResult:
            return ToolResult(call, json.dumps(rows), rows=len(rows))

    toolbox = ReferenceToolbox(Rows(), load_tools(["answer"])[0], AgentConfig())
    await toolbox.call(ToolCall("1", "look", "{}"))
    result = await toolbox.call(ToolCall("2", "answer", json.dumps({"results": "all", **arguments})))
    return json.loads(result.content) if result.final else result.content


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        ({"columns": "k=center_key"}, [{"k": "a"}, {"k": "b"}, {"k": "c"}]),
        ({"columns": "k=center_key", "results": "1, 3-4"}, [{"k": "a"}, {"k": "b"}, {"k": "c"}]),
        ({"columns": "k=center_key", "where": "direction=incoming"}, [{"k": "c"}]),
        ({"columns": "k=center_key, w=w", "where": "w=2"}, [{"k": "a", "w": 2}, {"k": "c", "w": 2.0}]),
        ({"columns": "k=center_key", "where": "w!=1"}, [{"k": "a"}, {"k": "c"}]),
        ({"columns": "k=center_key", "where": "neighbor_label=X", "also": 'neighbor_label="Y"'}, [{"k": "a"}]),
        ({"columns": "k=center_key", "where": "neighbor_label=X", "but_not": "w=1"}, [{"k": "b"}, {"k": "c"}]),
        ({"columns": "n=center_key", "where": "direction=outgoing", "count": "different"}, [{"n": 2}]),
        ({"columns": "n", "where": "direction=outgoing", "count": "rows"}, [{"n": 3}]),
        ({"columns": "k=center_key, n", "count": "most"}, [{"k": "a", "n": 2}]),
        ({"columns": "n=center_key", "where": "direction=neither", "count": "rows"}, [{"n": 0}]),
        ({"columns": "center_key", "where": "direction == 'incoming'"}, [{"center_key": "c"}]),
        ({"columns": "node_key", "results": "1"}, [{"node_key": "a"}]),
        (
            {"columns": "k=center_key", "where": "neighbor_label='Y', w=2", "also": "", "but_not": "", "count": ""},
            [{"k": "a"}],
        ),
    ],
)
async def test_references_select_rows(arguments: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    result = await answered(**arguments)
    assert result.error is None, result.content
    assert result.final
    assert json.loads(result.content) == rows


async def test_a_key_alone_is_the_key_of_nodes_that_were_looked_up_and_of_nothing_else() -> None:
    rows = [{"label": "X", "properties": {"key": "f7", "monkey": "p"}}]
    assert await of_rows(rows, columns="node_key") == [{"node_key": "f7"}]
    assert await of_rows(rows, columns="monkey, properties.key") == [{"monkey": "p", "properties.key": "f7"}]
    assert "No row there has a column" in await of_rows(rows, columns="turkey")
    both = [{"center_key": "a", "neighbor_properties": {"key": "b"}}]
    assert "center_key, neighbor_properties.key" in await of_rows(both, columns="node_key")
    assert await of_rows(both, columns="center_key, k=key") == [{"center_key": "a", "k": "b"}]


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ({"columns": "k=center_key", "results": "5"}, 'no result "5"; the results so far are 1 to 4'),
        ({"columns": "k=nothing"}, 'a column "nothing".*center_key'),
        ({"columns": "k="}, "is written like"),
        ({"columns": "k=center_key,"}, "is written like"),
        ({"columns": "n", "count": ""}, 'a column "n".*center_key'),
        ({"columns": "k=center_key", "where": "direction='out' or 'in'"}, "No row"),
        ({"columns": "k=center_key", "where": "direction"}, "A condition is written like"),
        ({"columns": "k=center_key", "where": "direction=neither"}, "No row"),
        ({"columns": "k=center_key", "count": "all"}, '"count" is'),
        ({}, "columns"),
    ],
)
async def test_unresolved_references_are_errors(arguments: dict[str, Any], cause: str) -> None:
    result = await answered(**arguments)
    assert result.error in ("bad_reference", "bad_arguments")
    assert not result.final
    assert re.search(cause, result.content), result.content


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ("key=1.10", ["1.10"]),
        ('key="1.10"', ["1.10"]),
        ("key!=1.1", ["1.10", "true"]),
        ("key=True", []),
        ("key=true", ["true"]),
        ("w=2.0", ["1.1"]),
        ('w="2"', ["1.1"]),
        ("w=True", ["true"]),
    ],
)
async def test_a_condition_compares_by_the_type_in_the_result(where: str, keys: list[str]) -> None:
    rows = [{"key": "1.1", "w": 2}, {"key": "1.10", "w": "two"}, {"key": "true", "w": True}]
    found = await of_rows(rows, columns="key", where=where)
    assert found == [{"key": key} for key in keys] if keys else "No row" in found


async def test_keys_that_look_like_one_number_are_counted_apart() -> None:
    rows = [{"key": "1.1"}, {"key": "1.10"}, {"key": "1.1"}]
    assert await of_rows(rows, columns="n=key", count="different") == [{"n": 2}]
    assert await of_rows(rows, columns="key, n", count="most") == [{"key": "1.1", "n": 2}]
