"""Human player in a maze: typed lines become tool calls and an answer."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence

from graphwalk.console import data, prose, stdout
from graphwalk.suites.mazes.generate import neighbours
from graphwalk.suites.mazes.pictures import draw
from graphwalk.suites.mazes.score import walk_of
from graphwalk.suites.mazes.task import MazeTask
from graphwalk.suites.mazes.toolbox import CONNECTED_PATH, NEXT_CELLS
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec
from graphwalk.types.episode import ToolResult

HELP = """\
  31, cell 31    visit cell 31 and see the cells next to it
  path           get a path over the visited cells
  answer 21 31   answer with these cells; "answer" alone: with the last path
  map            draw the known part of the maze
  quit           give up"""


class HumanInMaze:
    """A human player for one episode. `read` returns the next typed line, or None at the end."""

    name = "human/maze"

    def __init__(self, task: MazeTask, read: Callable[[], Awaitable[str | None]]) -> None:
        self._task = task
        self._read = read
        self._made: dict[str, ToolCall] = {}
        self._shown = 0
        """Number of messages shown so far."""
        self._path: list[str] = []

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Read lines until one is a move. Without tools, at the turn limit, only an answer is one."""
        self._show(messages)
        while True:
            prose("cell, path, answer, map or quit?" if tools else "Call limit reached: answer … or quit?")
            line = await self._read()
            if line is None or line.strip() == "quit":
                return self._say({"path": []})
            words = line.split()
            if words == ["answer"] and not self._path:
                prose('There is no path yet; get one with "path". Submit an empty answer? yes or no')
                line = await self._read()
                if line is not None and line.strip().lower() not in ("y", "yes"):
                    continue
            reply = self._move(words, bool(tools), messages)
            if reply is not None:
                return reply

    async def close(self) -> None:
        return None

    def _move(self, words: list[str], tools: bool, messages: Sequence[Message]) -> Reply | None:
        if words == ["map"]:
            stdout().print(self._map(messages))
        elif words[:1] == ["answer"]:
            return self._say({"path": re.findall(r"[^\s,\[\]\"']+", " ".join(words[1:])) or self._path})
        elif tools and words == ["path"]:
            return self._call(CONNECTED_PATH, {})
        elif tools and (len(words) == 1 or (len(words) == 2 and words[0] == "cell")):
            return self._call(NEXT_CELLS, {"node_id": words[-1]})
        else:
            data(HELP)
        return None

    def _show(self, messages: Sequence[Message]) -> None:
        """Show new messages and the known part of the maze."""
        for message in messages[self._shown :]:
            if message.role != "assistant":
                prose(f"{message.content or ''}\n")
            call = self._made.get(message.tool_call_id or "")
            if call is not None and call.name == CONNECTED_PATH and (message.content or "").startswith("["):
                self._path = json.loads(message.content or "[]")
        self._shown = len(messages)
        if self._made:
            stdout().print(self._map(messages))

    def _map(self, messages: Sequence[Message]) -> object:
        """Return a drawing of the part that tool results have shown."""
        given = {m.tool_call_id: m.content or "" for m in messages if m.tool_call_id is not None}
        results = [
            ToolResult(call, given[key], error=None if given[key].startswith(("[", "Note")) else "refused")
            for key, call in self._made.items()
            if key in given
        ]
        maze, walk = self._task.maze, walk_of(self._task.maze, results)
        known = walk.seen | {other for cell in walk.visited for other in neighbours(cell, maze.size)}
        return draw(maze, walk.visited, [int(key) for key in self._path], known=known)

    def _call(self, tool: str, arguments: dict[str, str]) -> Reply:
        call = ToolCall(f"call_{len(self._made) + 1}", tool, json.dumps(arguments))
        self._made[call.id] = call
        return Reply(Message("assistant", tool_calls=(call,)), finish_reason="tool_calls", model=self.name)

    def _say(self, answer: dict[str, list[str]]) -> Reply:
        return Reply(Message("assistant", json.dumps(answer)), finish_reason="stop", model=self.name)
