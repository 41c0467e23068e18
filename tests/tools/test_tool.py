"""Tool files: one YAML makes a tool, and the error of a wrong one names file, line and field."""

import json
from pathlib import Path

import pytest

from graphwalk.errors import ConfigError
from graphwalk.stores.base import GraphStore
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import load_tool
from graphwalk.types.chat import ToolCall
from graphwalk.types.schema import Schema

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
        ("type: string, role: value", "type: text, role: value", 8, "parameters.key.type"),
        ("role: value,", "role: value, of: label,", 7, "remove `of`"),
        ("role: value,", "role: property,", 7, "`of` must name a required parameter"),
        ("role: value,", "role: value, size: 3,", 8, "parameters.key.size"),
        ("  key: {", "  page: {", 7, '"page" is kept'),
        ("name: get_types", "name: get types", 1, "name"),
        ("cypher: |", "request: |", 9, "request"),
        ("no_match: nothing", "note: nothing", 11, "note"),
        ("no_match: nothing", "operation: note\nno_match: nothing", 1, "either cypher or operation"),
        ("no_match: nothing", "shows: nodes\nno_match: nothing", 1, "shows: nodes needs a column `label`"),
        ("key: f7", "kee: f7", 1, "its arguments must be all parameters"),
        ("$key", "{{ key | property }}", None, "cypher: there is no key; known:"),
        ("$key", "{{ key", None, "cypher: line"),
        ("{{ key | quote }}", "{{ kee }}", None, "no_match: there is no kee; known:"),
        ("description: Lists", "description: '{{ label }}'  # ", None, "description: there is no label; known:"),
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
