"""A human player as a model: messages are shown in the terminal, typed lines become tool calls and answers."""

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import yaml

from graphwalk.terminal.console import data, prose
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec

_HELP = """\
  TOOL name=value …      call a tool, for example: {example}
  answer …               answer; the text goes as it is
  tools                  what the tools are
  quit                   give up"""


class HumanPlayer:
    """A human player of one episode. `read` returns the next typed line, None at the end of input."""

    name = "human/terminal"

    def __init__(self, read: Callable[[], Awaitable[str | None]]) -> None:
        self._read = read
        self._shown = self._calls = 0

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Read lines until one is a tool call or an answer. Without tools, every line is an answer."""
        for message in messages[self._shown :]:
            if message.role != "assistant":
                prose(f"{message.content or ''}\n")
        self._shown = len(messages)
        while True:
            prose("TOOL name=value …, answer …, tools, help or quit?" if tools else "Your answer?")
            line = await self._read()
            if line is None or line.strip() == "quit":
                return self._say("")
            reply = self._move(line.strip(), tools)
            if reply is not None:
                return reply

    async def close(self) -> None:
        return None

    def _move(self, line: str, tools: Sequence[ToolSpec]) -> Reply | None:
        first, _, rest = line.partition(" ")
        if first == "answer" or (line and not tools):
            return self._say(rest if first == "answer" else line)
        tool = next((tool for tool in tools if tool.name == first), None)
        if tool is not None:
            arguments = rest if rest.lstrip().startswith("{") else json.dumps(_arguments(rest, tool))
            self._calls += 1
            call = ToolCall(f"call_{self._calls}", tool.name, arguments)
            return Reply(Message("assistant", tool_calls=(call,)), finish_reason="tool_calls", model=self.name)
        if first == "tools":
            prose("\n".join(f"{tool.name}\n{tool.description}\n" for tool in tools))
        else:
            example = f"{tools[0].name} " + " ".join(f"{name}=…" for name in tools[0].parameters["properties"])
            data(_HELP.format(example=example))
        return None

    def _say(self, text: str) -> Reply:
        return Reply(Message("assistant", text), finish_reason="stop", model=self.name)


def _arguments(text: str, tool: ToolSpec) -> dict[str, Any]:
    """Parse `name=value` for each parameter; a value ends at the next name, and stays text for a text parameter."""
    properties = tool.parameters["properties"]
    values: dict[str, str] = {}
    for word in text.split(" "):
        name, sign, value = word.partition("=")
        if sign and name in properties:
            values[name] = value
        elif values:
            last = next(reversed(values))
            values[last] = f"{values[last]} {word}"
    return {name: value if properties[name]["type"] == "string" else _read(value) for name, value in values.items()}


def _read(text: str) -> Any:
    """Return the number or boolean that a text is, else the text without quotes."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if isinstance(value, str | int | float | bool) else text


class LineReader:
    """A reader of lines of a file descriptor, in a thread, so that a signal ends the game at once."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._thread: threading.Thread | None = None

    async def __call__(self) -> str | None:
        """Return the next line without its line break, None at the end of input."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._pump, args=(asyncio.get_running_loop(),), daemon=True)
            self._thread.start()
        return await self._lines.get()

    def _pump(self, loop: asyncio.AbstractEventLoop) -> None:
        rest = b""
        with suppress(RuntimeError):  # the game is over, and its event loop is closed
            # Not a file object: its lock, held by this thread, would keep the interpreter from ending.
            while block := os.read(self._descriptor, 4096):
                *whole, rest = (rest + block).split(b"\n")
                for line in whole:
                    loop.call_soon_threadsafe(self._lines.put_nowait, line.decode("utf-8", "replace"))
            if rest:
                loop.call_soon_threadsafe(self._lines.put_nowait, rest.decode("utf-8", "replace"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)
