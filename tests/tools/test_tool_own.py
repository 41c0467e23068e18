"""Tools by name and by path, tools that take notes, and further tools in mazes."""

import json
from pathlib import Path

import pytest

from graphwalk.errors import ConfigError
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.mazes.generate import Maze, maze_graph
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS, MazeToolbox
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.observed_values import tool_evidence
from graphwalk.tools.tool import load_tools
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import ExitStatus, Trajectory, Turn
from graphwalk.types.schema import Schema

JOT = """\
name: jot
description: Keeps a note.
example: {arguments: {note: n}, text: n}
parameters:
  note: {type: string, role: text, description: The note.}
operation: note
"""
COUNT_CELLS = """\
name: count_cells
description: Counts.
example: {arguments: {label: Cell}, rows: [{cells: 3}]}
parameters:
  label: {type: string, role: label, description: A label.}
cypher: "MATCH (n:{{ label | label }}) RETURN count(n) AS cells"
no_match: nothing
"""
MAZE = Maze(4, (4, 5, 6, 10, 12), 0, 8, 10)


def write(folder: Path, text: str) -> str:
    path = folder / f"{text.split()[1]}.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def call(tool: str, **arguments: object) -> ToolCall:
    return ToolCall("1", tool, json.dumps(arguments))


def test_names_and_paths_in_their_order(tmp_path: Path) -> None:
    tools = load_tools(["think", write(tmp_path, JOT), "get_node_by_property"])
    assert [tool.name for tool in tools] == ["think", "jot", "get_node_by_property"]
    assert tools[1].file_text == JOT


def test_file_replaces_the_shipped_tool_of_its_name(tmp_path: Path) -> None:
    own = JOT.replace("jot", "think").replace("Keeps a note.", "Mine.")
    (tool,) = load_tools([write(tmp_path, own)])
    assert (tool.name, tool.description) == ("think", "Mine.")
    with pytest.raises(ConfigError, match="the tool think is named twice"):
        load_tools(["think", write(tmp_path, own)])


async def test_notes_are_counted_apart_whatever_the_tool_is_called(
    tmp_path: Path, store: GraphStore, schema: Schema
) -> None:
    tools = load_tools([write(tmp_path, JOT), "get_node_by_property"])
    toolbox = GraphToolbox(store, schema, tools)
    note = await toolbox.call(call("jot", note="z1, perhaps"))
    found = await toolbox.call(call("get_node_by_property", label="Zorep", property_name="key", property_value="z2"))
    assert (note.content, note.is_note, found.is_note) == ("z1, perhaps", True, False)
    turns = (Turn(Message("assistant"), results=(note, found)), Turn(Message("assistant", "z2")))
    trajectory = Trajectory((), turns, ExitStatus.ANSWERED)
    assert [tool_evidence(trajectory).holds(key) for key in ("z1", "z2")] == [False, True]


async def test_further_tools_in_a_maze(tmp_path: Path) -> None:
    store = await EmbeddedDatabase().load(maze_graph(MAZE))
    tools = load_tools([write(tmp_path, COUNT_CELLS), *MAZE_TOOLS, "think"])
    toolbox = MazeToolbox(store, 4, tools=tools, schema=await store.schema())
    assert [spec.name for spec in toolbox.specs] == ["count_cells", *MAZE_TOOLS, "think"]
    counted = await toolbox.call(call("count_cells", label="Cell"))
    assert (counted.content, counted.rows) == ('[{"cells": 16}]', 1)
    thought = await toolbox.call(call("think", thought="on"))
    wrong = await toolbox.call(call("count_cells", label="Cel"))
    unknown = await toolbox.call(call("count_cell", label="Cell"))
    assert (thought.is_note, wrong.error, unknown.error) == (True, "unknown_name", "unknown_tool")
    assert "Did you mean count_cells" in unknown.content
