"""The tools and the prompt of your own graph for agents of LangChain, LangGraph and OpenAI."""

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphwalk.background import blocking
from graphwalk.models.chat import ToolCall, ToolSpec
from graphwalk.models.trajectory import ToolResult
from graphwalk.own_graph.graph_agent import answer_call, ask_config, has_search, toolbox_over
from graphwalk.stores.open import AnyGraph, open_store
from graphwalk.suites.graph_prompts import own_graph_system

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool


def schema_prompt(store: AnyGraph, **agent: Any) -> str:
    """Return the system prompt of the agent: the schema of the graph, and how to work and answer with the tools.

    `agent`: as for `openai_tools`; `schema_tokens` bounds the schema.
    """
    config = ask_config(agent).agent
    schema = open_store(store).schema(config.schema_samples)
    return own_graph_system(schema, config, search=has_search(config))


@dataclass(frozen=True)
class OpenAITools:
    """Tools as functions of the Chat Completions API: `specs` for `tools=…`, `run` for the calls that come back."""

    specs: Sequence[dict[str, Any]]
    _call: Callable[[ToolCall], Coroutine[Any, Any, ToolResult]]

    async def arun(self, call: Any) -> dict[str, str]:
        """Answer a tool call, an `openai` object or a dictionary, by a message, which also reports any error."""
        wire = call if isinstance(call, Mapping) else call.model_dump()
        arguments = wire["function"]["arguments"]
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)  # some servers send an object
        tool_call = ToolCall.of_model(wire["id"], wire["function"]["name"], text)
        result = await self._call(tool_call)
        return {"role": "tool", "tool_call_id": tool_call.id, "content": result.content}

    run = blocking(arun)


def openai_tools(store: AnyGraph, **agent: Any) -> OpenAITools:
    """Return the tools over a graph as OpenAI functions, with a function that executes a call.

    `store`: as for `ask`. `agent`: fields of an experiment's agent: `result_tokens=2000`, or `tools=[…]`, names
    (`graphwalk list tools` lists them) or paths of YAML files.

        tools = graphwalk.openai_tools(graphwalk.open_store("movies.graphml"))
        reply = client.chat.completions.create(model=…, messages=messages, tools=tools.specs).choices[0].message
        messages += [reply, *(tools.run(call) for call in reply.tool_calls or ())]
    """
    opened = open_store(store)
    config = ask_config(agent).agent
    toolbox = toolbox_over(opened.inner, opened.schema(config.schema_samples), config)

    def run(call: ToolCall) -> Coroutine[Any, Any, ToolResult]:
        return opened.await_for(answer_call(toolbox, call, config))

    return OpenAITools([spec.as_openai() for spec in toolbox.specs], run)


def langchain_tools(store: AnyGraph, **agent: Any) -> "list[StructuredTool]":
    """Return the tools over a graph for LangChain and LangGraph.

        agent = create_agent(model, graphwalk.langchain_tools(store), system_prompt=graphwalk.schema_prompt(store))

    Names, descriptions and JSON schemas are those of GraphWalk's agent. The tools work with `invoke` and `ainvoke`. The
    `artifact` of a result contains its rows. Invalid calls and database errors are returned as text with the status
    "error". `store` and `agent`: as for `openai_tools`.
    """
    from langchain_core.tools import StructuredTool, ToolException

    opened = open_store(store)
    config = ask_config(agent).agent
    toolbox = toolbox_over(opened.inner, opened.schema(config.schema_samples), config)

    async def run_call(name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        call = ToolCall("", name, json.dumps(arguments, ensure_ascii=False))
        result = await answer_call(toolbox, call, config)
        if result.error is not None:
            # LangChain makes a ToolMessage with the status "error" of it, see handle_tool_error.
            raise ToolException(result.content)
        return result.content, result.data

    def structured_tool(spec: ToolSpec) -> StructuredTool:
        def run(**arguments: Any) -> tuple[str, Any]:
            return opened.wait_for(run_call(spec.name, arguments))

        async def arun(**arguments: Any) -> tuple[str, Any]:
            return await opened.await_for(run_call(spec.name, arguments))

        return StructuredTool(
            name=spec.name,
            description=spec.description,
            args_schema=dict(spec.parameters),
            func=run,
            coroutine=arun,
            handle_tool_error=True,
            response_format="content_and_artifact",
        )

    return list(map(structured_tool, toolbox.specs))
