"""The text protocol, seen from both sides."""

import pytest

from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.models.chat import CallOptions, Message, Model, ToolCall, ToolSpec
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.wrappers import Cached
from tests.models.player import ASK, LOOK, Player, in_run, said
from tests.models.server import ModelServer, in_turn

PROMPT = (Message("system", "You walk."), Message("user", "Where?"))
CALL = 'Let me see.\n```json\n{"name": "look", "arguments": {"key": "a"}}\n```'


WALK_CALL = '{"name": "walk", "arguments": {}}'


def speaking(model: Model) -> Cached:
    return in_run(model, Limits(retries=0), AgentConfig(tool_format="text"))


async def test_a_conversation_in_text() -> None:
    player = Player(said(CALL), said("done"))
    model = speaking(player)
    reply = await model.complete(PROMPT, (LOOK,), CallOptions())
    (system, _), tools, _ = player.sent[0]
    assert (system.content or "").startswith("You walk.\n\n# Tools\n")
    assert tools == []
    assert reply.message == Message("assistant", CALL, (ToolCall("text_call_2_0", "look", '{"key": "a"}'),))
    result = Message("tool", '[{"key": "a"}]', tool_call_id="text_call_2_0")
    again = [*PROMPT, reply.message, result, Message("user", "Now answer.")]
    assert (await model.complete(again, (LOOK,), CallOptions())).message == Message("assistant", "done")
    assert player.sent[1][0][1:3] == [Message("user", "Where?"), Message("assistant", CALL)]
    assert (player.sent[1][0][3].content or "").startswith(
        'Result of look:\n[{"key": "a"}]\n\nNow answer.\n\n(If the results show'
    )


async def test_calls_made_natively_are_written_out() -> None:
    player = Player()
    calls = (ToolCall("1", "look", '{"key": "a"}'), ToolCall("2", "walk", ""))
    results = [Message("tool", "A", tool_call_id="1"), Message("tool", "B", tool_call_id="2")]
    await speaking(player).complete([*ASK, Message("assistant", "Hm.", calls), *results], (), CallOptions())
    blocks = (f"```json\n{call}\n```" for call in ('{"name": "look", "arguments": {"key": "a"}}', WALK_CALL))
    assert player.sent[0][0] == [
        *ASK,
        Message("assistant", "\n\n".join(["Hm.", *blocks])),
        Message("user", "Result of look:\nA\n\nResult of walk:\nB"),
    ]


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([], "Call a tool now"),
        (["Note: no node has it.\n[]"], "Call get_unique_property_values"),
        (["[]", '[["label"],["X"]]'], "If the results show all"),
    ],
    ids=["before a call", "nothing found", "found at last"],
)
async def test_short_prompt_names_the_next_step(results: list[str], words: str) -> None:
    """Small models give up after an empty result, unless the prompt names the next step."""
    player = Player()
    config = AgentConfig.model_validate({"tool_format": "text", "prompts": "short"})
    calls = tuple(ToolCall(str(n), "look", "{}") for n in range(len(results)))
    calling = [Message("assistant", None, calls)] if calls else []
    messages = [*PROMPT, *calling, *(Message("tool", text, tool_call_id=str(n)) for n, text in enumerate(results))]
    values = ToolSpec("get_unique_property_values", "Lists values.", {"type": "object", "properties": {}})
    await in_run(player, Limits(), config).complete(messages, (LOOK, values), CallOptions())
    assert words in (player.sent[0][0][-1].content or "")
    await in_run(player, Limits(), config).complete(messages, (LOOK,), CallOptions())
    assert "get_unique_property_values" not in (player.sent[1][0][-1].content or "")


async def test_a_reply_ends_where_it_would_invent_a_result(server: ModelServer, model: OpenAIModel) -> None:
    """A server that knows no stop strings sends it all; the conversation keeps what was called."""
    invented = f'{CALL}\n\nResult of look:\n[{{}}]\n\n```json\n{{"name": "walk", "arguments": {{}}}}\n```'

    server.respond = in_turn(invented)
    speaker = speaking(model)
    reply = await speaker.complete(PROMPT, (LOOK,), CallOptions())
    assert [call.name for call in reply.message.tool_calls] == ["look"]
    assert reply.message.content == CALL
    await speaker.complete(PROMPT, (), CallOptions())
    assert [request.body.get("stop") for request in server.requests] == [["\nResult of"], None]
