"""What every tool has to keep."""

import json
import re
from itertools import product
from pathlib import Path

from graphwalk.errors import ConfigError
from graphwalk.stores.cypher import Dialect, render_cypher
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.toolbox.graph_toolbox import GraphToolbox
from graphwalk.toolbox.tool import GRAPH_SWITCHES, SWITCHES, Tool, load_tool, load_tools
from graphwalk.types.chat import ToolCall
from graphwalk.types.graph import Node, PropertyGraph

_WRITES = re.compile(r"\b(CREATE|MERGE|DELETE|SET|REMOVE|CALL|LOAD|DROP|FOREACH)\b", re.IGNORECASE)
_NODE = re.compile(r"(?<!\w)\(\w*(?::`[^`]+`)*\)")
_HEADINGS = ("When to use it:", "What comes back:")


async def check_tool(tool: Tool | Path | str) -> None:
    """A tool that ships, by its name, or one of your own, by its path.

    Its description says when to use it and what comes back; its queries only read, quote every name and stay in their
    graph; a call like its example is refused for the unknown names alone.
    """
    tool = _loaded(tool)
    for heading in _HEADINGS:
        assert heading in tool.description, f"{tool.name}: the description lacks {heading!r}"
    for field in ("cypher", "matches", "count"):
        template = getattr(tool, field)
        if template is not None:
            _check_query(tool, field, template)
    await _check_example(tool)


def _loaded(tool: Tool | Path | str) -> Tool:
    if isinstance(tool, Tool):
        return tool
    return load_tool(Path(tool)) if str(tool).endswith((".yaml", ".yml")) else load_tools([str(tool)])[0]


def _check_query(tool: Tool, field: str, template: str) -> None:
    found = _WRITES.search(template)
    assert not found, f"{tool.name}: {field}: a tool only reads, and this says {found.group()}"
    for entity_type, switch in product(("node", "relationship"), (True, False)):
        names = dict.fromkeys(tool.resolution, "x y") | dict.fromkeys(tool.with_role("entity_type"), entity_type)
        switches = dict.fromkeys((*SWITCHES, *GRAPH_SWITCHES), switch)
        try:
            cypher = render_cypher(template, {**names, **switches}, Dialect("gw_1"))
        except ConfigError as error:
            raise AssertionError(f"{tool.name}: {field}: {error}") from error
        assert cypher.count("x y") == cypher.count("`x y`"), f"{tool.name}: {field}: a name is not quoted:\n{cypher}"
        unscoped = [node for node in _NODE.findall(cypher) if "`gw_1`" not in node]
        assert not unscoped, f"{tool.name}: {field}: {unscoped[0]} matches nodes of other graphs:\n{cypher}"


async def _check_example(tool: Tool) -> None:
    """On a graph without the example's names. A tool with messages of its own has a toolbox of its own."""
    if tool.messages:
        return
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows([Node("a", ("Zorep",), {})], []))
    toolbox = GraphToolbox(store, await store.schema(), [tool])
    result = await toolbox.call(ToolCall("1", tool.name, json.dumps(tool.example.arguments)))
    assert result.error in (None, "unknown_name"), f"{tool.name}: its own example is refused: {result.content}"
