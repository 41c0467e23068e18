"""What clients are told about a tool, and what a call gives back: text for the model, and the same as data."""

import json
from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mcp_types import Tool as Offer

from graphwalk.toolbox.encodings import decode_notes, next_page, read_rows
from graphwalk.toolbox.tool import Tool
from graphwalk.types.chat import ToolSpec
from graphwalk.types.episode import ToolResult


def offer(tool: Tool, spec: ToolSpec) -> Offer:
    """A tool as a client lists it; `spec` is what models are told anyway."""
    title = tool.name.replace("_", " ").capitalize()
    hints = ToolAnnotations(
        title=title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    return Offer(
        name=spec.name,
        title=title,
        description=spec.description,
        input_schema=dict(spec.parameters),
        output_schema=_output_schema(tool, spec),
        annotations=hints,
    )


def called(tool: Tool | None, result: ToolResult) -> CallToolResult:
    """The result of a call. A mistake in it is an error with advice, as models get it anywhere."""
    text = TextContent(type="text", text=result.content)
    if tool is None or result.error is not None:
        return CallToolResult(content=[text], is_error=True)
    return CallToolResult(content=[text], structured_content=_structured(tool, result))


def failed(message: str) -> CallToolResult:
    """The database failed, and not the caller."""
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)


def arguments_text(arguments: Mapping[str, Any] | None) -> str:
    """The arguments as a model would have sent them, for the toolbox to check."""
    return json.dumps(arguments or {})


def _structured(tool: Tool, result: ToolResult) -> dict[str, Any]:
    if tool.operation is not None:
        return {"text": result.content}
    text = result.content
    return {
        "rows": read_rows(text),
        "notes": decode_notes(text),
        "total": result.rows,
        "next_page": next_page(text),
    }


def _output_schema(tool: Tool, spec: ToolSpec) -> dict[str, Any]:
    """A JSON schema of `_structured`; the columns of a tool are those of the example that ends its description."""
    if tool.operation is not None:
        return _object({"text": {"type": "string", "description": "What the tool says."}})
    row: dict[str, Any] = {"type": "object"}
    if tool.cypher is not None and (example := read_rows(spec.description.rpartition("\n")[2])):
        row = _object({name: {"type": "object"} if isinstance(v, dict) else {} for name, v in example[0].items()})
    return _object(
        {
            "rows": {"type": "array", "items": row, "description": "The rows of this page."},
            "notes": {"type": "array", "items": {"type": "string"}, "description": "Remarks on the result."},
            "total": {"type": ["integer", "null"], "description": "Rows in all, on all pages; null: not known."},
            "next_page": {"type": ["integer", "null"], "description": "The next page; null on the last one."},
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}
