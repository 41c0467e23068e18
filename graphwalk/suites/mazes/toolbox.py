"""Tools of a maze episode (docs/method.md, Mazes). Visits are kept here; nothing is written to the store."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult
from graphwalk.stores.base import GraphStore
from graphwalk.suites.mazes.generate import shortest_path
from graphwalk.tools.arguments import check_shape, parse_arguments
from graphwalk.tools.encodings import encode_result
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import Tool, load_tools

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
    unpaged = MAZE_TOOLS  # a cell has at most four neighbours

    def __init__(
        self,
        store: GraphStore,
        size: int,
        *,
        agent: AgentConfig | None = None,
        tools: Sequence[Tool] | None = None,
        schema: Schema | None = None,
    ) -> None:
        if tools is None:
            tools = load_tools(MAZE_TOOLS)
        super().__init__(store, schema or Schema((), ()), tools, agent)
        self._last = size * size - 1
        self._neighbours: dict[str, tuple[str, ...]] = {}
        """Key of each visited cell, in the order of first visits → adjacent open cells."""

    async def _run(self, call: ToolCall) -> ToolResult:
        tool = self.tools.get(ALIASES.get(call.name, call.name))
        if tool is None or tool.name not in MAZE_TOOLS:
            return await super()._run(call)
        arguments = parse_arguments(tool, call.arguments)
        if tool.name == CONNECTED_PATH:
            check_shape(tool, arguments)
            return self._connect(call)
        key = arguments.get("node_id", "")
        if not isinstance(key, str):
            return self._mistake(call, "not_text", "cell_not_text", key)
        check_shape(tool, arguments)
        if not _KEY.fullmatch(key):
            return self._mistake(call, "malformed_id", "cell_malformed", key)
        if int(key) > self._last:
            return self._mistake(call, "unknown_cell", "cell_unknown", key)
        visited = list(self._neighbours)
        if key not in self._neighbours:
            visited.append(key)
        cypher = self._store.render(tool.cypher or "", {})
        # A wall has no row, and an open cell with no open cell next to it one without a key.
        rows = await self._store.run(cypher, {"node_id": key, "visited": visited})
        if not rows:
            return self._mistake(call, "wall", "cell_wall", key)
        rows = [row for row in rows if row["key"] is not None]
        self._neighbours.setdefault(key, tuple(row["key"] for row in rows))
        notes = [] if rows else [tool.say("no_match", node_id=key)]
        return ToolResult(call, encode_result(rows, notes, self._agent.encoding), rows=len(rows), data=rows)

    def _connect(self, call: ToolCall) -> ToolResult:
        if not self._neighbours:
            return ToolResult(call, self._text("cells_not_visited"), rows=0)
        path = connected_path(self._neighbours)
        if path:
            return ToolResult(call, json.dumps(path), rows=1)
        visited = list(self._neighbours)
        return ToolResult(call, self._text("cells_not_connected", first=visited[0], last=visited[-1]), rows=0)

    def _mistake(self, call: ToolCall, kind: str, message: str, node_id: Any) -> ToolResult:
        # The example is the key that a malformed one probably means, as 12 for "cell 12", else the last key.
        example = str(self._last)
        text = node_id if isinstance(node_id, str) else repr(node_id)
        match = _KEY.search(text[:100])
        if match is not None:
            example = str(min(int(match[0]), self._last))
        return ToolResult(call, self._text(message, node_id=node_id, last=self._last, example=example), kind)


def connected_path(neighbours: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the shortest path over visited cells from the first to the last, [] if there is none (docs/method.md).

    `neighbours` maps the key of every visited cell, in the order of first visits, to the keys of the cells next to it.
    """
    visited = list(neighbours)

    def visited_neighbours(cell: str) -> list[str]:
        return [neighbour for neighbour in neighbours[cell] if neighbour in neighbours]

    return shortest_path(visited[0], visited[-1], visited_neighbours)
