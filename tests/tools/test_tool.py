"""Tool files: one YAML makes a tool, and the error of a wrong one names file, line and field."""

import json
from pathlib import Path

import pytest

from graphwalk.analysis.evidence import shows_data
from graphwalk.errors import ConfigError
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import ToolCall
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.mazes.generate import Maze, maze_graph
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS, MazeToolbox
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import load_tool, load_tools

DEGREE = """\
name: get_types
description: Lists the types of relationships that begin at a node.
example:
  arguments: {label: Film, key: f7}
  rows: [{type: DIRECTED}]
parameters:
  label: {type: string, role: label, description: A label.}
  key: {type: string, role: value, description: A key.}
cypher: |
  MATCH (n:{{ label | label }})-[r]->({{ any_node }}) WHERE n.key = $key RETURN DISTINCT type(r) AS type
no_match: nothing begins at {{ key | quote }}.
"""


def write(folder: Path, text: str = DEGREE, name: str = "get_types") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


async def test_one_file_makes_a_tool(tmp_path: Path, store: GraphStore, schema: Schema) -> None:
    toolbox = GraphToolbox(store, schema, [load_tool(write(tmp_path))])
    assert [spec.name for spec in toolbox.specs] == ["get_types"]
    result = await toolbox.call(ToolCall("1", "get_types", json.dumps({"label": "Zorep", "key": "z1"})))
    assert result.content == '[{"type": "DRAP"}]'
    nothing = await toolbox.call(ToolCall("1", "get_types", json.dumps({"label": "Zorep", "key": "z3"})))
    assert nothing.content == 'Note: nothing begins at "z3".\n[]'


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("role: label", "role: lable", 7, "parameters.label.role"),
        ("role: value,", "role: property,", 7, "`of` must name a required parameter"),
        ("  key: {", "  page: {", 7, "`page` is added"),
        ("cypher: |", "request: |", 9, "request"),
        ("no_match: nothing", "operation: note\nno_match: nothing", 1, "either cypher or operation"),
        ("no_match: nothing", "shows: ways\nno_match: nothing", None, "'nodes', 'relationships', 'values' or 'path'"),
        ("key: f7", "kee: f7", 1, "its arguments must be all parameters"),
        ("$key", "{{ key | property }}", None, "cypher: there is no key; known:"),
        ("$key", "{{ key", None, "cypher: line"),
        ("{{ key | quote }}", "{{ kee }}", None, "no_match: there is no kee; known:"),
        ("parameters:", "parameters: [", 8, "not valid YAML"),
    ],
)
def test_a_wrong_file(tmp_path: Path, old: str, new: str, where: int | None, what: str) -> None:
    assert old in DEGREE
    path = write(tmp_path, DEGREE.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load_tool(path)
    message = str(caught.value)
    assert what in message
    assert message.startswith(f"{path}:{where}:" if where else f"{path}:")


def test_a_file_has_the_name_of_its_tool(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the tool is called get_types, its file other"):
        load_tool(write(tmp_path, name="other"))


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


def test_tools_by_name_and_path(tmp_path: Path) -> None:
    jot = str(write(tmp_path, JOT, "jot"))
    assert [tool.name for tool in load_tools(["think", jot, "get_node_by_property"])] == [
        "think",
        "jot",
        "get_node_by_property",
    ]
    mine = str(write(tmp_path, JOT.replace("jot", "think"), "think"))
    assert [tool.description for tool in load_tools([mine])] == ["Keeps a note."]
    with pytest.raises(ConfigError, match="the tool think is named twice"):
        load_tools(["think", mine])


async def test_notes_of_a_tool_are_no_evidence(tmp_path: Path, store: GraphStore, schema: Schema) -> None:
    toolbox = GraphToolbox(store, schema, [load_tool(write(tmp_path, JOT, "jot"))])
    note = await toolbox.call(ToolCall("1", "jot", json.dumps({"note": "z1, perhaps"})))
    assert (note.content, note.is_note, shows_data(note)) == ("z1, perhaps", True, False)


async def test_further_tools_in_a_maze(tmp_path: Path) -> None:
    store = await EmbeddedDatabase().load(maze_graph(Maze(4, (4, 5, 6, 10, 12), 0, 8, 10)))
    tools = load_tools([str(write(tmp_path, COUNT_CELLS, "count_cells")), *MAZE_TOOLS])
    toolbox = MazeToolbox(store, 4, tools=tools, schema=await store.schema())
    assert [spec.name for spec in toolbox.specs] == ["count_cells", *MAZE_TOOLS]
    counted = await toolbox.call(ToolCall("1", "count_cells", json.dumps({"label": "Cell"})))
    wrong = await toolbox.call(ToolCall("2", "count_cells", json.dumps({"label": "Cel"})))
    assert (counted.content, wrong.error) == ('[{"cells": 16}]', "unknown_name")
