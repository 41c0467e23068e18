"""Reports to LangChain's callbacks: by OpenInference's instrumentor, by LangSmith's variables, by handlers."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import graphwalk
from graphwalk.graphs.graph import Node
from tests.models.server import Answer, ModelServer, Request, chat, error, in_turn
from tests.models.test_langchain import ToolChat

SECRET = "sk-live-0123456789abcdefABCDEF42"
MODEL = "openai-api/local/m"
LOOK_UP = {"label": "Shop", "property_name": "key", "property_value": "s1"}
GRAPH = graphwalk.PropertyGraph.from_rows([Node("s1", ("Shop",), {"note": "open at nine"})], [])


def respond(request: Request) -> Answer:
    """Call a tool, then answer."""
    last = request.body["messages"][-1]["role"]
    return Answer(chat("It says so.") if last == "tool" else chat(calls=[("get_node_by_property", LOOK_UP)]))


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ModelServer]:
    async with ModelServer(respond) as running:
        monkeypatch.setenv("LOCAL_BASE_URL", running.url)
        monkeypatch.setenv("LOCAL_API_KEY", SECRET)
        yield running


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    """The spans that the instrumentor exports, in memory."""
    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    LangChainInstrumentor().instrument(tracer_provider=provider)
    yield memory
    LangChainInstrumentor().uninstrument()


def attributes_of(spans: "list[ReadableSpan]", kind: str) -> list[Any]:
    return [span.attributes for span in spans if (span.attributes or {}).get("openinference.span.kind") == kind]


def roots(exporter: InMemorySpanExporter) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.parent is None]


class Together:
    """A model whose first calls wait for each other, then plays as `scripted/expert` would: badly."""

    name = "python/together"

    def __init__(self, episodes: int) -> None:
        self.barrier = asyncio.Barrier(episodes)

    async def complete(self, messages: Any, tools: Any, options: Any) -> graphwalk.Reply:
        question = next(message.content for message in messages if message.role == "user")
        if messages[-1].role == "tool":
            return graphwalk.Reply(graphwalk.Message("assistant", f"[{json.dumps(question)}]"))
        await asyncio.wait_for(self.barrier.wait(), 60)
        call = graphwalk.ToolCall("1", "get_node_by_property", json.dumps({**LOOK_UP, "label": question}))
        return graphwalk.Reply(graphwalk.Message("assistant", None, (call,)))


async def test_episodes_at_once_are_trees_of_their_own(exporter: InMemorySpanExporter, tmp_path: Path) -> None:
    how: dict[str, Any] = {"graphs": 1, "limit": 3, "settings": ["tools"], "out": tmp_path / "run"}
    run = await graphwalk.arun("quickstart", models=[Together(3)], **how)
    results = {result.key.task_id: result for result in run.results()}
    assert len(roots(exporter)) == len(results) == 3
    for root in roots(exporter):
        attributes: Any = root.attributes
        about, outcome = json.loads(attributes["input.value"]), json.loads(attributes["output.value"])
        result = results[about["task"]]
        assert (about["model"], about["setting"]) == ("python/together", "tools")
        assert about["question"] == result.task["question"]
        assert outcome["score"].items() <= json.loads(json.dumps(result.score)).items()
        assert outcome["answer"] == result.answer
        tree = [s for s in exporter.get_finished_spans() if s.context.trace_id == root.context.trace_id]
        assert len(attributes_of(tree, "LLM")) == len(result.trajectory.turns) == 2
        (tool,), (called,) = attributes_of(tree, "TOOL"), result.trajectory.results
        assert (tool["tool.name"], tool["input.value"]) == (called.call.name, called.call.arguments)
        assert json.loads(tool["output.value"])["data"]["content"] == called.content


async def test_calls_have_messages_tools_and_tokens(exporter: InMemorySpanExporter, server: ModelServer) -> None:
    await graphwalk.aask("What does s1 say?", GRAPH, model=MODEL)
    _, last = attributes_of(list(exporter.get_finished_spans()), "LLM")
    sent = server.requests[1].body
    assert [last[f"llm.input_messages.{n}.message.role"] for n in range(4)] == [m["role"] for m in sent["messages"]]
    assert last["llm.input_messages.0.message.content"] == sent["messages"][0]["content"]
    assert last["llm.output_messages.0.message.content"] == "It says so."
    assert (last["llm.token_count.prompt"], last["llm.token_count.completion"]) == (10, 5)
    offered = json.loads(last["llm.invocation_parameters"])["tools"]
    assert [tool["function"] for tool in offered] == [tool["function"] for tool in sent["tools"]]


async def test_langchain_models_report_themselves(exporter: InMemorySpanExporter, server: ModelServer) -> None:
    call = {"id": "1", "name": "get_node_by_property", "args": LOOK_UP}
    model = ToolChat(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("It says so.")]))
    await graphwalk.aask("What does s1 say?", GRAPH, model=model)
    calls = attributes_of(list(exporter.get_finished_spans()), "LLM")
    assert calls[1]["llm.output_messages.0.message.content"] == "It says so."
    assert len(roots(exporter)) == 1


class Everything(AsyncCallbackHandler):
    """A handler that keeps all names and texts, and raises."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.texts = ""

    async def on_chain_start(self, serialized: Any, inputs: Any, **more: Any) -> None:
        self._take(more["name"], inputs)

    async def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
        self._take(serialized["name"], messages)

    async def on_tool_start(self, serialized: Any, input_str: str, **more: Any) -> None:
        self._take(serialized["name"], input_str)

    async def on_chain_error(self, error: BaseException, **more: Any) -> None:
        self._take("", [error, error.__cause__])

    def _take(self, name: str, texts: Any) -> None:
        self.names.append(name)
        self.texts += repr(texts)
        raise ValueError("a handler that fails")


async def test_agents_report_failures_without_secrets(server: ModelServer) -> None:
    failed = Everything()
    server.respond = in_turn(error(401, f"bad key {SECRET}"))
    with graphwalk.open_store(GRAPH) as store:
        agent = graphwalk.build_agent(MODEL, store, callbacks=[failed])
        with pytest.raises(graphwalk.ModelError):
            await agent.ainvoke({"messages": [("user", "What does s1 say?")]})
    assert MODEL in failed.names
    assert "bad key ***" in failed.texts
