"""Tools of a maze episode (docs/method.md, Mazes). Visits are kept here; nothing is written to the store."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError
from graphwalk.stores.base import GraphStore
from graphwalk.tools.arguments import check_shape, parse_arguments
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import OPERATIONS, Tool, load_tools
from graphwalk.types.chat import ToolCall
from graphwalk.types.encodings import encode_result
from graphwalk.types.episode import ToolResult
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

NEXT_CELLS = "get_next_possible_cells"
CONNECTED_PATH = "get_connected_path"
MAZE_TOOLS = (NEXT_CELLS, CONNECTED_PATH)
ALIASES: Mapping[str, str] = {"get_possible_next_cells": NEXT_CELLS}
"""Alternative tool name → name; the paper uses both."""
_KEY = re.compile(r"0|[1-9][0-9]{0,11}")


class MazeToolbox(GraphToolbox):
    """The tools on one stored maze; create a new toolbox for every episode.

    `tools` are by default the two of the paper. Others run as on any graph and check names against `schema`.

    Classes of mistakes: "wall", "unknown_cell", "malformed_id", "not_text", and those of all tools ("unknown_tool",
    "bad_json", "bad_arguments").
    """

    ordered = True

    def __init__(
        self,
        store: GraphStore,
        size: int,
        *,
        agent: AgentConfig | None = None,
        tools: Sequence[Tool] | None = None,
        schema: Schema | None = None,
    ) -> None:
        super().__init__(store, schema or Schema((), ()), load_tools(MAZE_TOOLS) if tools is None else tools, agent)
        self._last = size * size - 1
        self._neighbours: dict[str, tuple[str, ...]] = {}
        """Key of each visited cell, in the order of first visits → adjacent open cells."""

    async def _run(self, call: ToolCall) -> ToolResult:
        tool = self._tools.get(ALIASES.get(call.name, call.name))
        if tool is None or tool.name not in MAZE_TOOLS:
            return await super()._run(call)
        arguments = parse_arguments(tool, call.arguments)
        if tool.name == NEXT_CELLS:
            if mistake := await self._mistake(tool, arguments):
                kind = {"unknown": "unknown_cell", "malformed": "malformed_id"}.get(mistake, mistake)
                return ToolResult(call, self._advice(tool, mistake, arguments["node_id"]), kind)
            content, rows = await self._next_cells(tool, str(arguments["node_id"]))
            return ToolResult(call, content, rows=len(rows), data=rows)
        check_shape(tool, arguments)
        text, row_count = self._connected_path(tool)
        return ToolResult(call, text, rows=row_count)

    def _has_pages(self, tool: Tool) -> bool:
        # A cell has at most four neighbours, so that the maze's own tools need no pages.
        return tool.name not in MAZE_TOOLS and super()._has_pages(tool)

    async def _next_cells(self, tool: Tool, key: str) -> tuple[str, list[Row]]:
        """Visit a cell. Return the text for the model, and the adjacent open cells."""
        visited = [*self._neighbours, *([] if key in self._neighbours else [key])]
        parameters = {"node_id": key, "visited": visited}
        rows = await self._store.run(self._store.render(tool.cypher or "", {}), parameters)
        if rows and "key" not in rows[0]:
            raise ConfigError(
                f"the Cypher of {tool.name} lacks the column `key`", hint=f"graphwalk list tools {tool.name}"
            )
        self._neighbours.setdefault(key, tuple(row["key"] for row in rows))
        notes = [] if rows else [tool.say("empty", node_id=key)]
        return encode_result(rows, notes, self._agent.encoding), rows

    async def _mistake(self, tool: Tool, arguments: dict[str, Any]) -> str:
        """Return the name of the message about a cell that cannot be visited, else ""."""
        if not isinstance(arguments.get("node_id", ""), str):
            return "not_text"
        check_shape(tool, arguments)
        key = str(arguments["node_id"])
        if not _KEY.fullmatch(key):
            return "malformed"
        rows = await self._store.run(self._store.render(tool.matches or "", {}), {"node_id": key})
        if not rows:
            return "unknown"
        return "" if rows[0]["open"] else "wall"

    def _connected_path(self, tool: Tool) -> tuple[str, int]:
        if not self._neighbours:
            return tool.say("messages.nothing_visited"), 0
        path = OPERATIONS[tool.operation or ""]({"neighbours": self._neighbours})
        if path:
            return path, 1
        visited = [*self._neighbours]
        return tool.say("messages.not_connected", first=visited[0], last=visited[-1]), 0

    def _advice(self, tool: Tool, message: str, node_id: Any) -> str:
        # The example is the key that a malformed one probably means, else the last key.
        match = _KEY.search(node_id[:100] if isinstance(node_id, str) else repr(node_id)[:100])
        example = str(min(int(match[0]), self._last)) if match else str(self._last)
        return tool.say(f"messages.{message}", node_id=node_id, last=self._last, example=example)
