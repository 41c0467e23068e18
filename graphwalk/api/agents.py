"""The agent as a LangGraph graph, and its tools and prompt for LangChain, LangGraph and OpenAI."""

import json
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphwalk.agent import Episode
from graphwalk.api.graphs import AnyGraph, open_store
from graphwalk.api.langgraph_agent import compile_agent
from graphwalk.api.questions import LOOK, AnyModel, as_model
from graphwalk.config.agent import FOREIGN, AgentConfig
from graphwalk.config.calls import Limits
from graphwalk.config.yaml_files import validate
from graphwalk.errors import ConfigError, StoreError
from graphwalk.levers.setup import tools_with_levers
from graphwalk.models.protocols import with_tools
from graphwalk.models.wrappers import Budget, wrap
from graphwalk.runs.background import blocking
from graphwalk.stores.base import GraphStore
from graphwalk.suites.mazes.generate import CELL
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS, MazeToolbox
from graphwalk.suites.task import Prompt
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.schema_text import schema_text
from graphwalk.tools.tool import load_tools
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import CallOptions, Message, ToolCall, ToolSpec
from graphwalk.types.episode import ToolResult
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool
    from langgraph.graph.state import CompiledStateGraph


def build_agent(
    model: AnyModel,
    store: AnyGraph,
    *,
    prompt: str | None = None,
    turn_limit: int = 30,
    checkpointer: Any = None,
    interrupt_before: Sequence[str] | None = None,
    name: str = "graphwalk",
    callbacks: Iterable[Any] | None = None,
    **agent: Any,
) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """Build the agent as a compiled LangGraph graph with the nodes `model` and `tools`; runs use the same nodes.

        agent = graphwalk.build_agent("openai/gpt-4.1-mini", graphwalk.open_store("movies.graphml"))
        state = agent.invoke({"messages": [("user", "Who directed …?")]})
        state["messages"][-1].content

    The state has `messages`, `exit_status` ("answered", "no_answer", or a limit: "turn_limit", …) and `error`. `prompt`
    replaces the instructions of the system prompt, to which the schema is added; None: `schema_prompt(store)`. After
    `turn_limit` turns, or near LangGraph's `recursion_limit`, the model is asked for its answer. `checkpointer`,
    `interrupt_before` and `name` are those of `StateGraph.compile`. `store` and `callbacks`: as for `ask`. `agent`: as
    for `openai_tools`. The model "scripted/look" looks up the words of a question, without a language model or a key.

    ConfigError for a wrong model or tool. While it runs, the graph raises ModelError and StoreError.
    """
    opened = open_store(store)
    episode = opened.wait_for(_episode(model, opened.inner, _config({"turn_limit": turn_limit, **agent}), prompt))
    opened.close_first(episode.model.close)
    compiled = compile_agent(episode, opened, checkpointer=checkpointer, interrupt_before=interrupt_before, name=name)
    return compiled.with_config(callbacks=list(callbacks)) if callbacks else compiled


def schema_prompt(store: AnyGraph, **agent: Any) -> str:
    """Return the system prompt of the agent: the schema of the graph, and how to work and answer with the tools.

    `agent`: as for `openai_tools`; `schema_tokens` bounds the schema.
    """
    config = _config(agent)
    return _render(config, schema_text(open_store(store).schema(config.schema_samples), config))


def _render(config: AgentConfig, schema: str) -> str:
    search = any(tool.search for tool in load_tools(config.tools or ()))
    return config.render("ask.j2", schema=schema, search=search)


async def _episode(model: AnyModel, store: GraphStore, config: AgentConfig, prompt: str | None) -> Episode:
    """Return the state shared by all conversations of an agent."""
    if model == LOOK and config.tool_protocol in ("text", "json"):
        raise ConfigError(f"tool_protocol: {config.tool_protocol}: {LOOK} has native calls only", hint="leave it out")
    opened = with_tools(wrap(as_model(model, read_variables()), Limits(), budget=Budget()), config)
    schema = schema_text(await store.schema(config.schema_samples), config)
    system = _render(config, schema) if prompt is None else f"{prompt}\n\n{schema}"
    start = Prompt((Message("system", system),), await _toolbox(store, config))
    return Episode(start, opened, config, CallOptions(parallel_tool_calls=config.parallel_tool_calls), raises=True)


@dataclass(frozen=True)
class OpenAITools:
    """Tools as functions of the Chat Completions API: `specs` for `tools=…`, `run` for the calls that come back."""

    specs: Sequence[dict[str, Any]]
    _call: Callable[[ToolCall], Awaitable[ToolResult]]

    async def arun(self, call: Any) -> dict[str, str]:
        """Answer a tool call, an `openai` object or a dictionary, by a message, which also reports any error."""
        wire = call if isinstance(call, Mapping) else call.model_dump()
        tool_call = ToolCall(wire["id"], wire["function"]["name"], wire["function"]["arguments"])
        try:
            content = (await self._call(tool_call)).content
        except StoreError as error:
            content = f"The database does not answer: {error}"
        return {"role": "tool", "tool_call_id": tool_call.id, "content": content}

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
    toolbox = opened.wait_for(_toolbox(opened.inner, _config(agent)))
    return OpenAITools([spec.as_openai() for spec in toolbox.specs], lambda call: opened.await_for(toolbox.call(call)))


def langchain_tools(store: AnyGraph, **agent: Any) -> "list[StructuredTool]":
    """Return the tools over a graph for LangChain and LangGraph.

        agent = create_agent(model, graphwalk.langchain_tools(store), system_prompt=graphwalk.schema_prompt(store))

    Names, descriptions and JSON schemas are those of GraphWalk's agent. The tools work with `invoke` and `ainvoke`. The
    `artifact` of a result contains its rows. Invalid calls and database errors are returned as text with the status
    "error". `store` and `agent`: as for `openai_tools`. `tools=graphwalk.MAZE_TOOLS` walks one maze
    (`graphwalk.generate_maze`) once: visited cells are remembered.
    """
    from langchain_core.tools import StructuredTool, ToolException

    opened = open_store(store)
    toolbox = opened.wait_for(_toolbox(opened.inner, _config(agent)))

    async def call(name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        try:
            result = await toolbox.call(ToolCall("", name, json.dumps(arguments, ensure_ascii=False)))
        except StoreError as error:
            raise ToolException(f"The database does not answer: {error}") from error
        if result.error is not None:
            raise ToolException(result.content)
        return result.content, result.data

    def structured_tool(spec: ToolSpec) -> StructuredTool:
        def run(**arguments: Any) -> tuple[str, Any]:
            return opened.wait_for(call(spec.name, arguments))

        async def arun(**arguments: Any) -> tuple[str, Any]:
            return await opened.await_for(call(spec.name, arguments))

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


def _config(agent: Mapping[str, Any]) -> AgentConfig:
    return validate(AgentConfig, {**FOREIGN, "tools": OWN_GRAPH_TOOLS, **agent}, "agent")


async def _toolbox(store: GraphStore, config: AgentConfig) -> Toolbox:
    schema, tools = await store.schema(config.schema_samples), load_tools(config.tools or ())
    if not {tool.name for tool in tools} & set(MAZE_TOOLS):
        return tools_with_levers(GraphToolbox(store, schema, tools, config), config)
    if schema.node(CELL) is None:
        raise ConfigError(
            "MAZE_TOOLS require a maze", hint="open_store(graphwalk.maze_graph(graphwalk.generate_maze(…)))"
        )
    cypher = store.render("MATCH (cell:{{ label | label }}) RETURN count(cell) AS cells", {"label": CELL})
    size = math.isqrt((await store.run(cypher))[0]["cells"])
    return MazeToolbox(store, size, agent=config, tools=tools, schema=schema)
