"""A session with one server, by the official client, and what its calls cost."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TextIO

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from benchmarks.peers.contestants import Call, Contestant
from graphwalk.models.tokens import count_tokens

_MODEL = "gpt-4.1"
_PART = 100_000
"""Characters; a cut may add a token."""
_NOWHERE = Path(os.devnull).open("w")  # noqa: SIM115 - what servers log; it lives as long as the benchmark


@dataclass(frozen=True)
class Answer:
    """What a call gave: its text, whether that is an error, and the milliseconds until it came."""

    text: str
    error: bool
    milliseconds: float

    @property
    def tokens(self) -> int:
        return tokens(self.text)


def tokens(text: str) -> int:
    """Of a tokenizer that many models share, so that servers can be compared. It takes long texts in parts only."""
    return sum(count_tokens(text[start : start + _PART], _MODEL)[0] for start in range(0, len(text), _PART))


def middle(numbers: Sequence[float]) -> float:
    return median(numbers) if numbers else 0.0


@asynccontextmanager
async def session(contestant: Contestant, log: TextIO | None = None) -> AsyncIterator[Client]:
    """A client of a server that was started for it; what the server logs goes to `log`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    program = StdioServerParameters(
        command=contestant.command, args=list(contestant.words), env={**kept, **contestant.variables}
    )
    async with Client(stdio_client(program, errlog=log or _NOWHERE), mode="legacy") as client:
        yield client


async def asked(client: Client, call: Call, seconds: float = 120.0) -> Answer:
    """The answer to one call; an error where there is none in `seconds`, and the call is then cancelled."""
    name, arguments = call
    begun = perf_counter()
    try:
        async with asyncio.timeout(seconds):
            result: Any = await client.call_tool(name, arguments)
    except TimeoutError:
        return Answer(f"no answer in {seconds:.0f} s", True, 1000 * seconds)
    except MCPError as error:
        return Answer(str(error), True, 1000 * (perf_counter() - begun))
    spent = 1000 * (perf_counter() - begun)
    return Answer("\n".join(getattr(block, "text", "") for block in result.content), bool(result.is_error), spent)


async def told_at_once(client: Client) -> str:
    """What a model reads before its first call: the tools, and what the server says of itself."""
    tools = (await client.list_tools()).tools
    offers = [tool.model_dump_json(include={"name", "description", "input_schema"}) for tool in tools]
    return "\n".join([client.instructions or "", *offers])
