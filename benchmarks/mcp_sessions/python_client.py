"""The same walk with the client of the official Python SDK."""

import os
from collections.abc import Sequence
from typing import Any

from mcp import Client, StdioServerParameters


async def walk(command: str, words: Sequence[str], steps: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return the output of `typescript_client.mjs`, in the same form."""
    async with Client(StdioServerParameters(command=command, args=list(words), env=dict(os.environ))) as client:
        tools = (await client.list_tools()).tools
        (resource,) = (await client.list_resources()).resources
        (content,) = (await client.read_resource(str(resource.uri))).contents
        answers = [await client.call_tool(name, arguments) for name, arguments in steps]
        return {
            "server": _plain(client.server_info),
            "instructions": client.instructions,
            "tools": [_plain(tool) for tool in tools],
            "schema": content.model_dump()["text"],
            "answers": [_plain(answer) for answer in answers],
        }


def _plain(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
