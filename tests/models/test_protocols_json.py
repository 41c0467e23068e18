"""The protocol `json`: what is sent, what is read, and what a server may refuse."""

import json
from typing import Any

import pytest

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, run_episode
from graphwalk.agent.prompt import AnswerForm, Prompt
from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.models.chat import CallOptions, Message, ToolCall, ToolSpec
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory
from graphwalk.models.wrappers import Cached
from tests.models.player import ASK, LOOK, WALK, Player, in_run, said
from tests.models.server import Answer, ModelServer, allows, chat, in_turn, schema_of

KEY = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"], "additionalProperties": False}
KEYS = {"type": "array", "items": KEY}
STEP = ToolSpec("step", "Step to a node.", {**KEY, "properties": {"key": {"type": "string", "enum": ["a", "b"]}}})
CALL = {"thought": "a first", "calls": [{"tool": "step", "arguments": {"key": "a"}}]}


class Steps:
    """A toolbox that counts its calls."""

    ordered = False

    def __init__(self) -> None:
        self.specs = (STEP,)
        self.calls: list[ToolCall] = []

    async def call(self, call: ToolCall) -> ToolResult:
        self.calls.append(call)
        return ToolResult(call, '[{"key": "b"}]', rows=1)


def speaking(model: Any, **agent: Any) -> Cached:
    config = AgentConfig.model_validate({"tool_format": "json", **agent})
    return in_run(model, Limits(retries=0), config)


async def played(model: OpenAIModel, form: AnswerForm | None = None, **agent: Any) -> tuple[Trajectory, Steps]:
    steps = Steps()
    config = AgentConfig.model_validate({"tool_format": "json", "turn_limit": 4, **agent})
    prompt = Prompt((Message("user", "Which keys?"),), steps, answer=form)
    options = CallOptions(parallel_tool_calls=config.parallel_tool_calls)
    return await run_episode(Episode(Conversation(prompt, config), speaking(model, **agent), options)), steps


FORM = AnswerForm(KEYS, json.dumps)


@pytest.mark.parametrize("kind", ["chat", "responses"])
async def test_an_episode_by_either_api(
    server: ModelServer, model: OpenAIModel, reasoning_model: OpenAIModel, kind: str
) -> None:
    model = reasoning_model if kind == "responses" else model
    answer = {"thought": "b follows", "answer": [{"key": "b"}]}
    server.respond = in_turn(json.dumps(CALL), json.dumps(answer))
    trajectory, steps = await played(model, FORM)
    assert trajectory.error is None
    assert [(call.name, json.loads(call.arguments)) for call in steps.calls] == [("step", {"key": "a"})]
    assert (trajectory.reply, trajectory.exit_status) == ('[{"key": "b"}]', ExitStatus.ANSWERED)
    assert [turn.message.reasoning for turn in trajectory.turns] == ["a first", "b follows"]
    first, second = (request.body for request in server.requests)
    assert "tools" not in first
    schema = schema_of(first)
    assert allows(schema, CALL)
    assert allows(schema, answer)
    wrong: list[Any] = [
        {"calls": [{"tool": "fly", "arguments": {}}]},
        {"calls": [{"tool": "step", "arguments": {"key": "c"}}]},
        {"calls": [*CALL["calls"]] * 9},
        {"calls": []},
        {"answer": "b"},
        {"answer": [{"label": "X"}]},
        {"thought": "only"},
    ]
    assert not any(allows(schema, value) for value in wrong)
    said, told = (second["messages"] if kind == "chat" else second["input"])[-2:]
    assert json.loads(said["content"]) == CALL
    assert 'Result of step:\n[{"key": "b"}]' in told["content"]


async def test_one_call_at_a_time_is_one_object(server: ModelServer, model: OpenAIModel) -> None:
    one = {"tool": "step", "arguments": {"key": "a"}}
    server.respond = in_turn(json.dumps(one), '{"answer": "b"}')
    trajectory, steps = await played(model, max_calls_per_turn=1)
    assert (len(steps.calls), trajectory.reply) == (1, "b")
    schema = schema_of(server.requests[0].body)
    assert allows(schema, {"thought": "…", **one})
    assert not allows(schema, {"calls": [one]})
    for alternative in schema["anyOf"]:
        assert next(iter(alternative["properties"])) == "thought"  # llama.cpp keeps the order


async def test_a_forced_answer_allows_only_the_answer(server: ModelServer, model: OpenAIModel) -> None:
    server.respond = in_turn(json.dumps(CALL), '{"answer": []}')
    trajectory, _ = await played(model, FORM, turn_limit=1)
    assert (trajectory.reply, trajectory.exit_status) == ("[]", ExitStatus.TURN_LIMIT)
    schema = schema_of(server.requests[-1].body)
    assert allows(schema, {"answer": []})
    assert not allows(schema, CALL)


async def test_a_first_call_can_be_required(server: ModelServer, model: OpenAIModel) -> None:
    server.respond = in_turn(json.dumps(CALL), '{"answer": "b"}')
    trajectory, steps = await played(model, tool_choice="required")
    assert (len(steps.calls), trajectory.reply) == (1, "b")
    first, second = (schema_of(request.body) for request in server.requests)
    assert [allows(schema, {"answer": "b"}) for schema in (first, second)] == [False, True]
    assert allows(first, CALL)
    assert allows(second, CALL)
    assert "tool_choice" not in server.requests[0].body


async def test_the_tool_answer_replaces_the_answer(server: ModelServer, model: OpenAIModel) -> None:
    server.respond = in_turn("{}")
    answer = ToolSpec("answer", "Answers.", {"type": "object", "properties": {}})
    await speaking(model).complete(ASK, (LOOK, answer), CallOptions())
    schema = schema_of(server.requests[0].body)
    assert not allows(schema, {"answer": "b"})
    assert allows(schema, {"calls": [{"tool": "answer", "arguments": {}}]})


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (chat('{"thought": "long", "calls": [{"tool": "step", "arguments": {"key"', reason="length"), "cut_off"),
        (chat(json.dumps(CALL), reason="length"), "cut_off"),
        (chat('{"calls": [{"tool": "step", "arguments": {"key": "a"}}, {"tool": "st'), "no_json"),
        (chat("I should look at a first."), "no_json"),
        (chat('{"calls": "step"}'), "no_json"),
    ],
    ids=["cut off", "cut off after a call", "ends early", "prose", "no list"],
)
async def test_no_call_of_a_broken_reply_is_made(
    server: ModelServer, model: OpenAIModel, body: Any, error: str
) -> None:
    server.respond = in_turn(Answer(body), '{"answer": "b"}')
    trajectory, steps = await played(model)
    assert steps.calls == []
    assert {result.error for result in trajectory.turns[0].results} == {error}
    assert trajectory.reply == "b"
    assert trajectory.turns[0].results[0].content in server.requests[1].body["messages"][-1]["content"]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"tool": "look", "arguments": {"key": "a"}}),
        "<think>{…}</think>\n" + json.dumps({"tool": "look", "arguments": {"key": "a"}}),
        "```json\n" + json.dumps({"thought": "…", "tool": "look", "arguments": {"key": "a"}}) + "\n```",
        json.dumps({"name": "look", "arguments": {"key": "a"}}),
    ],
)
async def test_a_server_without_grammar_is_read_leniently(content: str) -> None:
    reply = await speaking(Player(said(content))).complete(ASK, (LOOK, WALK), CallOptions())
    assert [(call.name, json.loads(call.arguments)) for call in reply.message.tool_calls] == [("look", {"key": "a"})]
    assert reply.message.content == content
