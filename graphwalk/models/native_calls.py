"""Strict function schemas, where a server supports them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphwalk.models.provider_replies import json_object
from graphwalk.models.wrappers import Wrapper
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec


class StrictTools(Wrapper):
    """A model with strict function schemas, in which a parameter is left out by null; calls come without these."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        strict = [replace(tool, parameters=strict_schema(tool.parameters), strict=True) for tool in tools]
        reply = await self.inner.complete(messages, strict, options)
        schemas = {tool.name: tool.parameters for tool in tools}
        calls = tuple(_without_nulls(call, schemas.get(call.name, {})) for call in reply.message.tool_calls)
        return replace(reply, message=replace(reply.message, tool_calls=calls))


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON schema in which all properties are required, the optional ones nullable, and no others allowed."""
    strict = dict(schema)
    if "items" in schema:
        strict["items"] = strict_schema(schema["items"])
    if "properties" in schema or schema.get("type") == "object":
        forms = {name: strict_schema(form) for name, form in schema.get("properties", {}).items()}
        required = schema.get("required", ())
        strict["properties"] = {name: form if name in required else _nullable(form) for name, form in forms.items()}
        strict |= {"required": [*forms], "additionalProperties": False}
    return strict


def _nullable(form: Mapping[str, Any]) -> dict[str, Any]:
    kinds = form.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else [*kinds]
    nullable = dict(form)
    if kinds and "null" not in kinds:
        nullable["type"] = [*kinds, "null"]
    if "enum" in form and None not in form["enum"]:
        nullable["enum"] = [*form["enum"], None]
    return nullable


def _without_nulls(call: ToolCall, schema: Mapping[str, Any]) -> ToolCall:
    arguments = json_object(call.arguments)
    optional = schema.get("properties", {}).keys() - {*schema.get("required", ())}
    if arguments is None or not any(arguments.get(name, "") is None for name in optional):
        return call
    rest = {name: value for name, value in arguments.items() if value is not None or name not in optional}
    return replace(call, arguments=json.dumps(rest, ensure_ascii=False))
