"""The tool protocol of an agent, by its name in `agent.tool_protocol`, and models that speak it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.models.base import Model, Wrapper
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, json_object
from graphwalk.models.json_protocol import JsonProtocol
from graphwalk.models.text_protocol import TextProtocol


def protocol_of(agent: AgentConfig) -> TextProtocol | None:
    """Return the protocol of an agent; None for native calls."""
    if agent.tool_protocol == "native":
        return None
    if agent.tool_protocol == "json":
        return JsonProtocol(agent.texts, agent.max_calls_per_turn)
    return TextProtocol(agent.texts)


def with_tools(model: Model, agent: AgentConfig) -> Model:
    """Return a shared model that calls tools as an agent does; each episode adds `Cached`."""
    if (protocol := protocol_of(agent)) is not None:
        model = TextTools(model, protocol)
    return StrictTools(model) if agent.strict_tools else model


class TextTools(Wrapper):
    """A model with tools by a protocol."""

    def __init__(self, inner: Model, protocol: TextProtocol) -> None:
        super().__init__(inner)
        self._protocol = protocol

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = await self.inner.complete(*self._protocol.outgoing(messages, tools, options))
        return self._protocol.incoming(reply, tools, len(messages))


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
