"""Ends of replies: the model's, a limit's, the server's, and words that are not known."""

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.chat import CallOptions, Usage
from graphwalk.models.finish_reasons import is_broken_off, is_cut_off, is_of_model, is_unknown
from graphwalk.models.wrappers import Budget, WholeReplies
from tests.models.player import ASK, LOOK, Player, in_run, said


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "stop",
        "STOP",
        "end_turn",
        "tool_calls",
        "function_call",
        "length",
        "content_filter",
        "eos_token",
        "COMPLETE",
        "FinishReason.MAX_TOKENS",
        "function_call_filter: MALFORMED_FUNCTION_CALL",
        "guardrail_intervened",
    ],
)
def test_ends_of_the_model(reason: str) -> None:
    assert is_of_model(reason)
    assert not is_broken_off(reason)
    assert not is_unknown(reason)


@pytest.mark.parametrize(
    "reason",
    [
        "abort",
        "aborted",
        "error",
        "ERROR",
        "network_error",
        "insufficient_system_resource",
        "in_progress",
        "incomplete",
        "cancelled",
        "failed",
        "timeout",
        "server_error",
        "engine_overloaded",
        "queued",
        "time_limit",
    ],
)
def test_ends_of_the_server(reason: str) -> None:
    assert is_broken_off(reason)
    assert not is_of_model(reason)


def test_cut_off() -> None:
    assert [is_cut_off(reason) for reason in ("length", "MAX_TOKENS", "model_length", "stop")] == [True] * 3 + [False]


async def test_a_reply_that_was_broken_off_is_tried_again_and_charged() -> None:
    budget = Budget()
    model = Player(said("The owner of", finish_reason="abort", usage=Usage(10, 5)), said("Ida", usage=Usage(10, 5)))
    reply = await in_run(model, budget=budget).complete(ASK, (), CallOptions())
    assert reply.message.content == "Ida"
    assert budget.used.total_tokens == 30


async def test_a_reply_that_is_broken_off_each_time_fails() -> None:
    model = WholeReplies(Player(said("half", finish_reason="network_error")), lambda text: None)
    with pytest.raises(ModelError, match="broke the reply off") as failure:
        await model.complete(ASK, (), CallOptions())
    assert failure.value.retryable


async def test_an_end_that_is_not_known_is_shown_once() -> None:
    notes: list[str] = []
    model = WholeReplies(Player(said("Ida", finish_reason="finito")), notes.append)
    for _ in range(2):
        assert (await model.complete(ASK, (), CallOptions())).message.content == "Ida"
    (note,) = notes
    assert '"finito"' in note


async def test_a_call_that_stands_in_the_text_is_named() -> None:
    notes: list[str] = []
    model = WholeReplies(Player(said("<tool_call>\n<function=look>\n</function>\n</tool_call>")), notes.append)
    await model.complete(ASK, (LOOK,), CallOptions())
    await model.complete(ASK, (), CallOptions())
    (note,) = notes
    assert "agent.tool_format=text" in note
