"""The agent as a LangGraph graph: examples/langgraph_agent, against a real server."""

import asyncio
import importlib.util
import json
import warnings
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

import graphwalk
from tests.models.server import Answer, ModelServer, Request, chat, stream

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "langgraph_agent"
FILMS = ROOT / "tests" / "data" / "films.json"
LOOK_UP = {"label": "Film", "property_name": "key", "property_value": "f2"}
MODEL = "openai-api/local/m"
QUESTION = "Which film is f2?"
THREAD: Any = {"configurable": {"thread_id": "1"}}


def events(body: dict[str, Any]) -> Answer:
    """Return a reply as a server streams it: word by word, calls in one piece."""
    (choice,) = body["choices"]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"content": f"{word} "} for word in (message["content"] or "").split()]
    deltas += [{"tool_calls": [{"index": i, **call}]} for i, call in enumerate(message.get("tool_calls", ()))]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]})
    return stream(*({"choices": [one]} for one in choices), {"choices": [], "usage": body["usage"]})


def respond(request: Request) -> Answer:
    """Call a tool first, then answer."""
    body = request.body
    said = [message["role"] for message in body["messages"]]
    since = said[::-1].index("user")
    answering = "tool" in said[len(said) - since :] or not body.get("tools")
    reply = chat("It is Red Dust") if answering else chat(calls=[("get_node_by_property", LOOK_UP)])
    return events(reply) if body.get("stream") else Answer(reply)


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ModelServer]:
    async with ModelServer(respond) as running:
        monkeypatch.setenv("LOCAL_BASE_URL", running.url)
        yield running


@pytest.fixture
def example() -> Any:
    return module_of(EXAMPLE / "walk.py")


def module_of(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def with_agent(work: Callable[[Any], Any], **options: Any) -> Any:
    """Return what `work` does with an agent over the films, in a thread: it must not hold the loop of the server."""

    def run() -> Any:
        with graphwalk.open_store(FILMS) as store:
            return work(graphwalk.build_agent(MODEL, store, **options))

    return await asyncio.to_thread(run)


def asked(question: str = QUESTION) -> dict[str, Any]:
    return {"messages": [("user", question)]}


async def test_a_question_is_answered_by_invoke_and_ainvoke(server: ModelServer) -> None:
    for state in await with_agent(lambda agent: (agent.invoke(asked()), asyncio.run(agent.ainvoke(asked())))):
        human, call, found, answer = state["messages"]
        assert [type(m) for m in state["messages"]] == [HumanMessage, AIMessage, ToolMessage, AIMessage]
        assert (human.content, answer.content, state["exit_status"]) == (QUESTION, "It is Red Dust", "answered")
        assert call.tool_calls[0]["args"] == LOOK_UP
        assert found.artifact[0]["properties"]["title"] == "Red Dust"
        assert answer.usage_metadata == {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    system = server.requests[0].body["messages"][0]
    assert system["role"] == "system"
    assert "(:Film" in system["content"]


async def test_the_three_streaming_modes(server: ModelServer, example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def work(agent: Any) -> Any:
        example.show_steps(agent, QUESTION)
        example.show_tokens(agent, QUESTION)
        return [list(agent.stream(asked(), stream_mode=mode)) for mode in ("values", "updates", "messages")]

    values, updates, messages = await with_agent(work)
    assert [len(value["messages"]) for value in values] == [1, 2, 3, 4]
    assert [next(iter(update)) for update in updates] == ["model", "tools", "model"]
    words = [chunk.content for chunk, _ in messages if isinstance(chunk, AIMessageChunk)]
    assert words == ["It ", "is ", "Red ", "Dust "]
    whole = [message for message, _ in messages if not isinstance(message, AIMessageChunk)]
    assert [type(message) for message in whole] == [AIMessage, ToolMessage]  # the answer is not sent a second time
    shown = capsys.readouterr().out
    assert "model:  get_node_by_property" in shown
    assert shown.splitlines()[-1].strip() == "It is Red Dust"


async def test_an_interrupt_before_tools_and_an_edited_call(server: ModelServer) -> None:
    def work(agent: Any) -> Any:
        agent.invoke(asked(), THREAD, interrupt_before=["tools"])
        state = agent.get_state(THREAD)
        call = state.values["messages"][-1]
        edited = {**call.tool_calls[0], "args": {**LOOK_UP, "property_value": "f1"}}
        agent.update_state(THREAD, {"messages": [call.model_copy(update={"tool_calls": [edited]})]})
        return state.next, agent.invoke(None, THREAD)

    waiting, state = await with_agent(work, checkpointer=InMemorySaver())
    assert waiting == ("tools",)
    message = next(each for each in state["messages"] if isinstance(each, ToolMessage))
    assert message.artifact[0]["properties"]["key"] == "f1"
    assert state["exit_status"] == "answered"


@pytest.mark.filterwarnings("error")
async def test_checkpointers_know_every_type(server: ModelServer, tmp_path: Path) -> None:
    def work(agent: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            agent.invoke(asked(), THREAD)
            state = agent.invoke(asked("And again?"), THREAD)
        assert len(state["messages"]) == 8
        assert agent.get_state(THREAD).values["messages"][2].artifact[0]["properties"]["title"] == "Red Dust"

    with SqliteSaver.from_conn_string(str(tmp_path / "c.sqlite")) as sqlite:
        for saver in (InMemorySaver(), sqlite):
            await with_agent(work, checkpointer=saver)


async def test_a_conversation_continues_from_its_file(server: ModelServer, example: Any, tmp_path: Path) -> None:
    file = str(tmp_path / "threads.sqlite")

    def work() -> Any:
        with graphwalk.open_store(FILMS) as store:
            return example.ask_before_tools(MODEL, store, QUESTION, file), example.go_on(MODEL, store, file)

    state, answer = await asyncio.to_thread(work)
    assert (state.next, answer) == (("tools",), "It is Red Dust")
    assert len(server.requests) == 2


async def test_as_a_node_of_a_larger_graph(server: ModelServer, example: Any) -> None:
    assert await with_agent(lambda agent: example.as_part(agent, QUESTION)) == "It is Red Dust"


async def test_langgraph_json_names_a_factory(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = json.loads((EXAMPLE / "langgraph.json").read_text())
    assert "env" not in settings  # the server does not start without the file that is named there
    file, _, function = settings["graphs"]["graphwalk"].partition(":")
    monkeypatch.setenv("GRAPHWALK_MODEL", MODEL)
    monkeypatch.setenv("GRAPHWALK_GRAPH", str(FILMS))
    module = module_of(EXAMPLE / file)
    agent = await getattr(module, function)()
    assert (await asyncio.to_thread(agent.invoke, asked()))["exit_status"] == "answered"
