"""An unexpected error of a tool or a store ends a call, one of a model or a callback an answer, and no more."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler

import graphwalk
from graphwalk.agent.loop import call_tool
from graphwalk.config.agent import AgentConfig
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec
from graphwalk.models.trajectory import ExitStatus
from graphwalk.tools.graph_toolbox import GraphToolbox
from tests.own_graph.mcp.servers import over_stdio

FILMS = Path(__file__).parent.parent / "data" / "films.json"
TOOL = """
name: find_nothing
description: Finds nothing.
parameters: {label: {role: label}}
cypher: "MATCH (n:{{ label | label }}) WHERE false RETURN n.key AS key"
no_match: "{{ label / 2 }}"
"""
CALL = ToolCall("c1", "find_nothing", '{"label": "Film"}')
FAILED = "The call failed by an error of the tool, and nothing is known of its result: "


@pytest.fixture
def tool(tmp_path: Path) -> str:
    path = tmp_path / "find_nothing.yaml"
    path.write_text(TOOL, encoding="utf-8")
    return str(path)


class PanicException(BaseException):
    """As libraries in Rust raise it."""


class Caller:
    """A model that calls a tool, and answers with its result."""

    async def complete(self, messages: list[Message], tools: list[ToolSpec], options: CallOptions) -> Reply:
        if messages[-1].role == "tool":
            return Reply(Message("assistant", messages[-1].content))
        return Reply(Message("assistant", tool_calls=(CALL,)))


class Broken(BaseCallbackHandler):
    raise_error = True

    def on_tool_start(self, *event: Any, **more: Any) -> None:
        raise KeyError("handler")


async def by_ask(graph: Any, tool: str) -> str | None:
    return (await graphwalk.aask("Which?", graph, model=Caller(), tools=[tool])).answer


async def by_langgraph(graph: Any, tool: str) -> Any:
    agent = graphwalk.build_agent(Caller(), graph, tools=[tool])
    return (await agent.ainvoke({"messages": [("user", "Which?")]}))["messages"][-1].content


async def by_openai(graph: Any, tool: str) -> str:
    function = {"name": CALL.name, "arguments": CALL.arguments}
    return (await graphwalk.openai_tools(graph, tools=[tool]).arun({"id": "c1", "function": function}))["content"]


async def by_langchain(graph: Any, tool: str) -> Any:
    (structured,) = graphwalk.langchain_tools(graph, tools=[tool])
    arguments = json.loads(CALL.arguments)
    return (await structured.ainvoke({"type": "tool_call", "id": "c1", "name": CALL.name, "args": arguments})).content


@pytest.mark.parametrize("use", [by_ask, by_langgraph, by_openai, by_langchain])
async def test_a_tool_or_a_store_that_raises_ends_the_call(
    use: Callable[[Any, str], Awaitable[str]], tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FILMS_PASSWORD", "dust-and-ferry")
    assert (await use(FILMS, tool)).startswith(f"{FAILED}ConfigError: {tool}: no_match")

    for error in (KeyError, PanicException):

        async def broken(*query: Any, error: type[BaseException] = error, **limits: Any) -> None:
            raise error("no dust-and-ferry here")

        async with graphwalk.aopen_store(FILMS) as store:
            monkeypatch.setattr(store, "first", broken)
            content = await use(store, tool)
        assert content.startswith(f"{FAILED}{error.__name__}: ")
        assert "no *** here" in content


@pytest.mark.parametrize("error", [asyncio.CancelledError, KeyboardInterrupt, SystemExit])
async def test_a_call_that_is_to_end_with_the_program_ends_with_it(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = AgentConfig()
    async with graphwalk.aopen_store(FILMS) as store:
        toolbox = GraphToolbox(store, await store.schema(), agent=agent)

        async def ended(call: ToolCall) -> None:
            raise error

        monkeypatch.setattr(toolbox, "call", ended)
        with pytest.raises(error):
            await call_tool(toolbox, CALL, agent)


async def test_a_tool_that_raises_ends_a_call_of_mcp(tool: str) -> None:
    async with over_stdio("--graph", FILMS, "--tool", tool) as client:
        for _ in range(2):
            result = await client.call_tool(CALL.name, json.loads(CALL.arguments))
            assert (result.is_error, result.content[0].text.startswith(FAILED)) == (True, True)


async def test_a_callback_or_a_model_that_raises_ends_the_answer(tool: str) -> None:
    answer = await graphwalk.aask("Which?", FILMS, model=Caller(), callbacks=[Broken()], tools=[tool])
    assert answer.exit_status is ExitStatus.MODEL_ERROR
    assert answer.error == "unexpected error: KeyError: 'handler'"

    class Failing:
        async def complete(self, *call: Any) -> Reply:
            raise KeyError("model")

    answer = await graphwalk.aask("Which?", FILMS, model=Failing(), tools=[tool])
    assert (answer.exit_status, answer.error) == (
        ExitStatus.MODEL_ERROR,
        "python/Failing failed: KeyError: 'model'",
    )
