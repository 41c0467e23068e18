"""The tools over a graph for people who have an agent already: LangChain and LangGraph, OpenAI functions."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphwalk.api.stores import Store
from graphwalk.asynchronous import run_in_background
from graphwalk.config.agent import AgentConfig
from graphwalk.config.foreign import FOREIGN
from graphwalk.config.yaml_files import validate
from graphwalk.errors import ConfigError, StoreError
from graphwalk.stores.store import GraphStore
from graphwalk.toolbox.graph_toolbox import GRAPH_TOOLS, LOOK_CLOSER, GraphToolbox
from graphwalk.toolbox.tool import load_tools
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool

Call = Callable[[ToolCall], Awaitable[ToolResult]]

TOOLS = (*GRAPH_TOOLS, LOOK_CLOSER)
"""The four of the paper, and the one that shows the schema."""


@dataclass(frozen=True)
class OpenAITools:
    """Tools as functions of the Chat Completions API: `specs` for `tools=…`, `run` for the calls that come back."""

    specs: Sequence[dict[str, Any]]
    _call: Call

    def run(self, call: Any) -> dict[str, str]:
        """The message that answers a tool call (an object of the `openai` package, or the same as a dictionary).

        A mistake of the model, and a database that does not answer, are told in the message.
        """
        return run_in_background(self.arun(call))

    async def arun(self, call: Any) -> dict[str, str]:
        """`run`, to be awaited."""
        wire = call if isinstance(call, Mapping) else call.model_dump()
        asked = ToolCall(wire["id"], wire["function"]["name"], wire["function"]["arguments"])
        try:
            content = (await self._call(asked)).content
        except StoreError as error:
            content = f"The database does not answer: {error}"
        return {"role": "tool", "tool_call_id": asked.id, "content": content}


def openai_tools(store: Store, *, tools: Sequence[str] = TOOLS, **agent: Any) -> OpenAITools:
    """The tools over a graph as OpenAI functions, with what runs a call of them.

    `tools` are names (`graphwalk tools` lists them) or paths of YAML files; `agent` fields of an experiment's agent,
    such as `result_budget=20`.

        tools = graphwalk.openai_tools(graphwalk.open_store("movies.graphml"))
        reply = client.chat.completions.create(model=…, messages=messages, tools=tools.specs).choices[0].message
        messages += [reply, *(tools.run(call) for call in reply.tool_calls or ())]
    """
    return run_in_background(aopenai_tools(store.inner, tools=tools, **agent))


async def aopenai_tools(store: GraphStore, *, tools: Sequence[str] = TOOLS, **agent: Any) -> OpenAITools:
    """`openai_tools` for a store of `aopen_store`: its calls are awaited with `arun`, in the same event loop."""
    toolbox = await _toolbox(store, tools, agent)
    return OpenAITools([spec.as_openai() for spec in toolbox.specs], toolbox.call)


def langchain_tools(store: Store, *, tools: Sequence[str] = TOOLS, **agent: Any) -> "list[StructuredTool]":
    """The tools over a graph for LangChain and LangGraph: `create_agent(model, graphwalk.langchain_tools(store))`.

    They have the names, descriptions and JSON schemas that GraphWalk's own agent is given, and work with `invoke` and
    `ainvoke`. A mistake of the model, and a database that does not answer, come back as text with the status "error".
    `tools` and `agent` as for `openai_tools`. ConfigError where langchain-core is not installed.
    """
    toolbox = run_in_background(_toolbox(store.inner, tools, agent))

    def call(asked: ToolCall) -> ToolResult:
        return run_in_background(toolbox.call(asked))

    async def acall(asked: ToolCall) -> ToolResult:
        return await asyncio.to_thread(call, asked)

    return _structured(toolbox, acall, call)


async def alangchain_tools(store: GraphStore, *, tools: Sequence[str] = TOOLS, **agent: Any) -> "list[StructuredTool]":
    """`langchain_tools` for a store of `aopen_store`: for `ainvoke`, in the same event loop."""
    toolbox = await _toolbox(store, tools, agent)
    return _structured(toolbox, toolbox.call, None)


async def _toolbox(store: GraphStore, tools: Sequence[str], agent: Mapping[str, Any]) -> GraphToolbox:
    config = validate(AgentConfig, {**FOREIGN, **agent}, "agent")
    return GraphToolbox(store, await store.schema(config.schema_samples), load_tools(tools), config)


def _structured(
    toolbox: GraphToolbox, acall: Call, call: Callable[[ToolCall], ToolResult] | None
) -> "list[StructuredTool]":
    try:
        from langchain_core.tools import StructuredTool, ToolException
    except ImportError as error:
        raise ConfigError("langchain-core is not installed", hint="pip install langchain-core") from error

    def content(result: ToolResult) -> str:
        if result.error is not None:
            raise ToolException(result.content)
        return result.content

    def made(name: str, description: str, schema: Mapping[str, Any]) -> StructuredTool:
        def asked(arguments: dict[str, Any]) -> ToolCall:
            return ToolCall("", name, json.dumps(arguments, ensure_ascii=False))

        def run(**arguments: Any) -> str:
            assert call is not None
            try:
                return content(call(asked(arguments)))
            except StoreError as error:
                raise ToolException(f"The database does not answer: {error}") from error

        async def arun(**arguments: Any) -> str:
            try:
                return content(await acall(asked(arguments)))
            except StoreError as error:
                raise ToolException(f"The database does not answer: {error}") from error

        return StructuredTool(
            name=name,
            description=description,
            args_schema=dict(schema),
            func=None if call is None else run,
            coroutine=arun,
            handle_tool_error=True,
        )

    return [made(spec.name, spec.description, spec.parameters) for spec in toolbox.specs]
