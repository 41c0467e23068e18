"""The tools in agents that are not ours: LangChain's `create_agent` on LangGraph, and OpenAI's functions."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import openai
import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from openai.types.chat import ChatCompletionMessageFunctionToolCall

import graphwalk
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from tests.models.server import Answer, ModelServer, chat

FILMS = Path(__file__).parent.parent / "data" / "films.json"
LOOK_UP = {"label": "Film", "property_name": "key", "property_value": "f2"}
WRONG = {**LOOK_UP, "label": "Movie"}


class Scripted(GenericFakeChatModel):
    """A chat model with a fixed sequence of tool calls; `bind_tools` stores the tools."""

    bound: list[str] = []  # noqa: RUF012 - a field of pydantic

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        self.bound += [tool.name for tool in tools]
        return self


def scripted() -> Scripted:
    calls = [
        {"name": "get_node_by_property", "args": arguments, "id": str(number)}
        for number, arguments in enumerate([LOOK_UP, WRONG])
    ]
    messages: Iterator[AIMessage] = iter([AIMessage("", tool_calls=calls), AIMessage("Red Dust")])
    return Scripted(messages=messages, bound=[])


def check(model: Scripted, messages: list[Any]) -> None:
    assert list(dict.fromkeys(model.bound)) == list(OWN_GRAPH_TOOLS)
    result, refused = (message for message in messages if isinstance(message, ToolMessage))
    assert result.status == "success"
    assert json.loads(result.content)[0]["properties"]["title"] == "Red Dust"
    assert refused.status == "error"
    assert refused.content == 'There is no node label "Movie". The node labels are: City, Film, Person.'
    assert messages[-1].content == "Red Dust"


async def test_tools_in_a_langchain_agent() -> None:
    with graphwalk.open_store(FILMS) as store:
        tools = graphwalk.langchain_tools(store)
        for awaited in (False, True):
            model = scripted()
            agent: Any = create_agent(model, tools)
            state = {"messages": [("user", "Which film is f2?")]}
            check(model, (await agent.ainvoke(state) if awaited else agent.invoke(state))["messages"])


def test_openai_functions_are_run_and_answered() -> None:
    with graphwalk.open_store(FILMS) as store:
        tools = graphwalk.openai_tools(store, tools=["get_node_by_property"])
        (spec,) = tools.specs
        assert (spec["type"], spec["function"]["name"]) == ("function", "get_node_by_property")
        wire = {"id": "c1", "type": "function", "function": {"name": "get_node_by_property"}}
        for arguments, text in ((json.dumps(LOOK_UP), "Red Dust"), ("{", "could not be read")):
            call = ChatCompletionMessageFunctionToolCall.model_validate(
                {**wire, "function": {**wire["function"], "arguments": arguments}}  # type: ignore[dict-item]
            )
            for form in (call, call.model_dump()):
                message = tools.run(form)
                assert (message["role"], message["tool_call_id"]) == ("tool", "c1")
                assert text in message["content"]
        for arguments in (LOOK_UP, {"arguments": LOOK_UP}, json.dumps(json.dumps(LOOK_UP))):
            odd = {"id": "c1", "function": {"name": "functions.get_node_by_property", "arguments": arguments}}
            assert "Red Dust" in tools.run(odd)["content"]


async def test_store_failure_becomes_tool_text() -> None:
    with graphwalk.open_store(FILMS) as store:
        tools, structured = graphwalk.openai_tools(store), graphwalk.langchain_tools(store)
        await store.await_for(store.inner.drop())
        call = {"id": "c1", "function": {"name": "get_node_by_property", "arguments": json.dumps(LOOK_UP)}}
        assert (await tools.arun(call))["content"].startswith("The database does not answer: the graph was dropped")
        for tool, arguments in zip(structured, [{"text": "Red Dust"}, LOOK_UP], strict=False):
            message = await tool.ainvoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
            assert message.status == "error"
            assert "The database does not answer" in message.content


async def test_the_client_of_openai_sends_the_tools_and_the_messages_that_answer() -> None:
    """Of the version that is installed; `make openai` asks both ends of the range."""
    calls = [("get_node_by_property", LOOK_UP), ("get_node_by_property", WRONG)]
    async with ModelServer(
        lambda request: Answer(chat("Red Dust") if len(request.body["messages"]) > 1 else chat(calls=calls))
    ) as server:
        client = openai.AsyncOpenAI(api_key="k", base_url=server.url)
        async with client:
            store = graphwalk.open_store(FILMS)
            tools = graphwalk.openai_tools(store)
            messages: list[Any] = [{"role": "user", "content": "Which film is f2?"}]
            for _ in range(2):
                answer = await client.chat.completions.create(
                    model="m", messages=messages, tools=cast(Any, tools.specs)
                )
                reply = answer.choices[0].message
                messages += [reply, *[await tools.arun(call) for call in reply.tool_calls or ()]]
        assert reply.content == "Red Dust"
        assert server.requests[0].body["tools"] == tools.specs
        result, refused = (m["content"] for m in server.requests[1].body["messages"] if m["role"] == "tool")
    assert json.loads(result)[0]["properties"]["title"] == "Red Dust"
    assert refused == 'There is no node label "Movie". The node labels are: City, Film, Person.'


@pytest.mark.parametrize(
    "use",
    [
        lambda graph: graphwalk.ask("Which film is Red Dust?", graph, model="scripted/look"),
        lambda graph: graphwalk.build_agent("scripted/look", graph).invoke({"messages": [("user", "Red Dust?")]}),
        lambda graph: graphwalk.make_tasks(graph, questions=["node_count"]),
        graphwalk.schema_prompt,
        graphwalk.openai_tools,
        graphwalk.langchain_tools,
    ],
)
async def test_every_form_of_a_graph_is_accepted_alike(use: Callable[[Any], object]) -> None:
    graph = graphwalk.read_graph(FILMS)
    async with graphwalk.aopen_store(graph) as awaited:
        for form in (
            graph,
            FILMS,
            str(FILMS),
            {"file": FILMS},
            graphwalk.to_networkx(graph),
            graphwalk.open_store(graph),
            awaited,
        ):
            assert use(form)
    for wrong, cause, hint in (
        (None, "NoneType is not a graph", "open_store"),
        ("bolt://localhost:7687", "bolt://… is the address of a server", "NEO4J_URI"),
    ):
        with pytest.raises(graphwalk.ConfigError, match=cause) as error:
            use(wrong)
        assert hint in error.value.hint


def test_a_store_holds_the_chosen_labels_and_types_alone() -> None:
    with graphwalk.open_store("example", labels=["Voyage", "Harbour"], relationship_types=["LEFT_FROM"]) as store:
        schema = store.schema()
        assert {node.label for node in schema.nodes} == {"Voyage", "Harbour"}
        assert {relationship.type for relationship in schema.relationships} == {"LEFT_FROM"}
        with pytest.raises(graphwalk.ConfigError, match="open already"):
            graphwalk.open_store(store, labels=["Voyage"])
    with pytest.raises(graphwalk.ConfigError, match="no label 'Ship '"):
        graphwalk.open_store("example", labels=["Ship "])


@pytest.mark.parametrize("tool", MAZE_TOOLS)
def test_the_tools_of_mazes_are_refused_for_your_own_graph(tool: str) -> None:
    with pytest.raises(graphwalk.ConfigError, match=f"the tool {tool} walks generated mazes only"):
        graphwalk.openai_tools(FILMS, tools=[tool])
