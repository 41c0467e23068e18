"""The wrappers around a provider: retries, deadlines, rate limits, budgets, the reply cache, and all of them together."""

import asyncio
import itertools
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphwalk.config.agent import Limits, Price
from graphwalk.errors import ModelError, RunLogError
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolCall, Usage
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.prices import STATED, KnownPrice
from graphwalk.models.registry import Guarded
from graphwalk.models.wrappers import Budget, BudgetSpentError, Cached, ReplyCache, priced
from graphwalk.variables import Variables
from tests.models.player import ASK, LOOK, WALK, Player, in_run, said
from tests.models.server import Answer, ModelServer, chat, error, in_turn

CLOCK = 0.001
"""Seconds by which a timer may be early: the resolution of the clock."""
PRICE = KnownPrice(price=Price(input=10.0, output=100.0), source="genai-prices")


AGAIN = ModelError("busy", retryable=True)


@pytest.mark.parametrize(
    ("outcomes", "cause", "calls"),
    [
        ([AGAIN, AGAIN, said("ok")], None, 3),
        ([AGAIN], "busy", 4),
        ([ModelError("wrong key")], "wrong key", 1),
    ],
    ids=["success in the end", "the last error", "permanent"],
)
async def test_retryable_errors_are_retried(outcomes: list[Any], cause: str | None, calls: int) -> None:
    player = Player(*outcomes)
    model = in_run(player, Limits(retries=3))
    if cause is None:
        assert (await model.complete(ASK, (), CallOptions())).message.content == "ok"
    else:
        with pytest.raises(ModelError, match=cause):
            await model.complete(ASK, (), CallOptions())
    assert len(player.sent) == calls


async def test_the_first_failure_is_noted() -> None:
    notes: list[str] = []
    player = Player(ModelError("busy", retryable=True))
    with pytest.raises(ModelError, match="busy"):
        await in_run(player, Limits(retries=2), note=notes.append).complete(ASK, (), CallOptions())
    assert notes == [f"{player.name}: busy; retry 1 of 2"]


async def test_no_call_is_earlier_than_the_server_allows(model: OpenAIModel, server: ModelServer) -> None:
    refusal = error(429, "slow down", retry_after="0.2s")
    server.respond = in_turn(refusal, refusal, "ok")
    await in_run(model, Limits(retries=5)).complete(ASK, (), CallOptions())
    times = [request.time for request in server.requests]
    assert all(later - earlier >= 0.2 - CLOCK for earlier, later in itertools.pairwise(times))


async def test_all_calls_wait_if_the_server_asks_one() -> None:
    player = Player(ModelError("429", retryable=True, retry_after=0.3), said("ok"))
    model = in_run(player, Limits())
    first = asyncio.create_task(model.complete(ASK, (), CallOptions()))
    while not player.sent or player.running:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await asyncio.gather(first, *(model.complete(ASK, (), CallOptions()) for _ in range(5)))
    assert all(time - player.times[0] >= 0.3 - CLOCK for time in player.times[1:])


async def test_an_endless_pause_fails(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = in_turn(error(429, "slow down", retry_after="1000000000"), "ok")
    caller = in_run(model, Limits(pause_seconds=120))
    with pytest.raises(ModelError, match=r"asks to wait 1,000,000,000 s") as failure:
        await caller.complete(ASK, (), CallOptions())
    assert not failure.value.retryable
    assert "limits.pause_seconds" in failure.value.hint
    # Other calls do not wait for the end of the pause.
    assert (await caller.complete(ASK, (), CallOptions())).message.content == "ok"


@pytest.mark.parametrize("limits", [{"requests_per_minute": 1200}, {"tokens_per_minute": 120_000}])
async def test_calls_are_spaced_by_a_rate_limit(limits: dict[str, float]) -> None:
    player, started = Player(said("x", usage=Usage(90, 10))), asyncio.get_running_loop().time()
    model = in_run(player, Limits.model_validate(limits))
    for _ in range(5):
        await model.complete(ASK, (), CallOptions())
    assert all(time - started >= 0.05 * number - CLOCK for number, time in enumerate(player.times))


HANGING = {
    "silence": Answer(chat("late"), delay=60),
    "endless": Answer(b"{", then="endless"),
}


@pytest.mark.parametrize("answer", HANGING.values(), ids=HANGING.keys())
async def test_the_deadline_is_kept(model: OpenAIModel, server: ModelServer, answer: Answer) -> None:
    server.respond = lambda _: answer
    caller = in_run(model, Limits(call_seconds=0.2, retries=0))
    calls = [caller.complete(ASK, (), CallOptions()) for _ in range(4)]
    failures: Sequence[object] = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(f, ModelError) and f.retryable for f in failures)
    await _until_no_connection(server)


async def test_a_cancelled_call_leaves_no_connection_and_frees_its_place(
    model: OpenAIModel, server: ModelServer
) -> None:
    server.respond = in_turn(Answer(chat("late"), delay=60), "ok")
    caller = in_run(model, Limits(call_seconds=60, max_concurrency=1), budget=Budget(tokens=100))
    call = asyncio.create_task(caller.complete(ASK, (), CallOptions()))
    async with asyncio.timeout(30):
        while not server.requests:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert server.connections == 1
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await _until_no_connection(server)
    async with asyncio.timeout(60):
        assert (await caller.complete(ASK, (), CallOptions())).message.content == "ok"


async def _until_no_connection(server: ModelServer) -> None:
    async with asyncio.timeout(30):
        while server.connections:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_only_calls_in_flight_go_over_the_budget() -> None:
    player = Player(said("x", usage=Usage(40, 6, cost=0.001)), seconds=0.005)
    budget = Budget(usd=0.2)
    model = in_run(player, Limits(max_concurrency=16), budget=budget)

    async def episode() -> None:
        with suppress(BudgetSpentError):
            while True:
                await model.complete(ASK, (), CallOptions())

    async with asyncio.timeout(60):
        await asyncio.gather(*(episode() for _ in range(16)))
    assert budget.exhausted
    assert 200 <= len(player.sent) < 200 + 16


NAN = float("nan")


@pytest.mark.parametrize(
    "wrong",
    [
        *(Usage(tokens, tokens, cost=0.001) for tokens in (NAN, -(10**9), float("inf"), 10**400, 2.5, "40", True)),
        *(Usage(40, 6, cost=cost) for cost in (NAN, -1.0, float("-inf"), 10**400, "0.1", True)),
        Usage(40, 6, reasoning_tokens=-1, cached_tokens=NAN),
        {"input_tokens": 40},
        None,
    ],
    ids=repr,
)
async def test_a_figure_that_is_none_does_not_switch_the_budget_off(wrong: Any, tmp_path: Path) -> None:
    """The first reply has it; tokens are estimated and cost is computed instead, also after a resume."""
    notes, cache = list[str](), ReplyCache(tmp_path / "c")
    player = Player(said("hello", usage=wrong), said("hello", usage=Usage(40, 6)))
    for limit in (Budget(tokens=200), Budget(usd=0.01)):
        model = in_run(player, budget=limit, price=PRICE, note=notes.append, cache=cache, key=str(limit))
        async with asyncio.timeout(60):
            with pytest.raises(BudgetSpentError):  # noqa: PT012
                while True:
                    usage = (await model.complete(ASK, (), CallOptions())).usage
                    assert (usage.input_tokens or 0) > 0
                    assert 0 < (usage.output_tokens or 0) < 10**6
                    assert 0 < (usage.cost or 0.0) < 1
        assert len(player.sent) < 20
    assert len(notes) <= 1
    cache.close()
    ReplyCache(tmp_path / "c").close()


@pytest.mark.parametrize(
    ("usage", "stated", "published"),
    [
        (Usage(1_000_000, 500_000, cost=0.5), 4.0, 0.5),
        (Usage(1_000_000, 500_000, cost=0.0), 4.0, 4.0),
        (Usage(1_000_000, 500_000, cached_tokens=400_000), 3.4, 3.4),
        (Usage(1_000_000, None), None, None),
    ],
)
def test_a_stated_price_has_priority_over_the_cost_that_a_provider_reports(
    usage: Usage, stated: float | None, published: float | None
) -> None:
    price = Price(input=2.0, output=4.0, cached_input=0.5)
    of_stated, of_published = (
        priced(usage, KnownPrice(price=price, source=source)) for source in (STATED, "genai-prices")
    )
    assert (of_stated.cost, of_published.cost) == (stated, published)


async def test_a_cached_reply_is_charged_again(model: OpenAIModel, server: ModelServer, tmp_path: Path) -> None:
    """A resumed run ends where an undisturbed one does."""
    server.respond = in_turn(error(503), Answer(chat("ok", usage=(1000, 100))))
    for _ in range(2):
        cache, budget = ReplyCache(tmp_path / "cache"), Budget(tokens=1000)
        caller = in_run(model, budget=budget, price=PRICE, cache=cache)
        reply = await caller.complete(ASK, (LOOK,), CallOptions())
        assert reply.usage == Usage(1000, 100, cost=0.02) == budget.used
        with pytest.raises(BudgetSpentError):
            await caller.complete(ASK, (LOOK,), CallOptions())
        cache.close()
    assert len(server.requests) == 2


async def test_an_episode_that_is_played_again_in_the_same_process_is_charged_once(tmp_path: Path) -> None:
    cache, budget, player = ReplyCache(tmp_path / "cache"), Budget(), Player(said("ok", usage=Usage(10, 5)))
    for _ in range(2):
        await in_run(player, budget=budget, cache=cache).complete(ASK, (LOOK,), CallOptions())
    cache.close()
    assert (len(player.sent), budget.used.total_tokens) == (1, 15)


FULL = Reply(
    Message(
        "assistant",
        "\ud800\u0000 ✓",
        (ToolCall("1", "look", "{}"),),
        reasoning="hm",
        provider_state={"format": "x", "message": {"signature": "\ud800=", "parts": [1, None, {"a": 0.5}]}},
    ),
    Usage(10, 5, 1, 2, 0.25),
    "tool_calls",
    1.5,
    "m-1",
)


def cached(player: Model, cache: ReplyCache, episode: str) -> Cached:
    return in_run(player, Limits(retries=0), cache=cache, key=episode)


async def replies(path: Path, player: Player, episode: str = "e", calls: int = 3) -> list[Reply]:
    cache = ReplyCache(path)
    model = cached(player, cache, episode)
    try:
        return [await model.complete(ASK, (LOOK,), CallOptions()) for _ in range(calls)]
    finally:
        cache.close()


async def test_a_resumed_episode_pays_nothing(tmp_path: Path) -> None:
    player = Player(FULL, said("b", usage=Usage(1, 1)), said("c", usage=Usage(2, 1)))
    first = await replies(tmp_path / "c", player)
    assert first[0] == FULL
    later = Player(ModelError("must not be called"))
    assert first == await replies(tmp_path / "c", later)
    assert later.sent == []


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        float("-inf"),
        -0.0,
        1e300,
        10**40,
        "\ud800",
        ("a", 1),
        {1: "x", None: [float("nan")]},
    ],
    ids=repr,
)
async def test_a_reply_is_used_as_it_is_read_after_a_resume(tmp_path: Path, value: Any) -> None:
    """A field that JSON does not give back as it was changes no key of a later request."""
    state = {"format": "x", "message": {"avg_logprob": value}}
    odd = replace(FULL, message=replace(FULL.message, provider_state=state))

    async def episode(player: Player) -> list[Message]:
        cache, messages = ReplyCache(tmp_path / "c"), [*ASK]
        model = cached(player, cache, "e")
        try:
            for _ in range(3):
                messages.append((await model.complete(messages, (LOOK,), CallOptions())).message)
        finally:
            cache.close()
        return messages

    first, later = Player(odd), Player(ModelError("must not be called"))
    messages = await episode(first)
    again = await episode(later)
    assert [message.digest for message in again] == [message.digest for message in messages]
    assert (len(first.sent), later.sent) == (3, [])


async def test_every_part_of_a_request_counts(tmp_path: Path) -> None:
    cache, player, other = ReplyCache(tmp_path / "c"), Player(), Player()
    other.name = "test/other"
    requests: list[tuple[Player, str, Any, Any, CallOptions]] = [
        (player, "e", ASK, (LOOK,), CallOptions()),
        (other, "e", ASK, (LOOK,), CallOptions()),
        (player, "f", ASK, (LOOK,), CallOptions()),
        (player, "e", (*ASK, Message("assistant", "x")), (LOOK,), CallOptions()),
        (player, "e", ASK, (LOOK, WALK), CallOptions()),
        (player, "e", ASK, (LOOK,), CallOptions(temperature=1.0)),
    ]
    for _ in range(2):
        for model, episode, *request in requests:
            await cached(model, cache, episode).complete(*request)
        assert len(player.sent) + len(other.sent) == len(cache) == len(requests)
    cache.close()


@pytest.mark.parametrize("lost", [1, 2, 50])
async def test_a_torn_last_line_is_dropped(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "c"
    await replies(path, Player(said("a"), said("b")), calls=2)
    path.write_bytes(path.read_bytes()[:-lost])
    again = await replies(path, Player(said("again")), calls=2)
    assert [reply.message.content for reply in again] == ["a", "again"]
    assert path.read_bytes().count(b"\n") == 2


async def test_a_damaged_line_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "c"
    await replies(path, Player(said("a"), said("b"), said("c")))
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = lines[0] + lines[1].replace(b'"b"', b'"x"') + lines[2]
    path.write_bytes(damaged)
    with pytest.raises(RunLogError, match=r"c:2: the line is damaged"):
        ReplyCache(path)
    assert path.read_bytes() == damaged


async def test_secrets_are_taken_out_before_use(tmp_path: Path) -> None:
    secret = "sk-planted-987654"
    cache = ReplyCache(tmp_path / "c")
    variables = Variables({"SOME_API_KEY": secret})
    call = ToolCall("1", "look", json.dumps({"key": secret}))
    state = {"format": "x", "message": {"signature": f"signed {secret}"}}
    reply = replace(FULL, message=Message("assistant", f"my key is {secret}", (call,), provider_state=state))
    player = Guarded(Player(reply), variables, "test/player")
    used = await cached(player, cache, "e").complete(ASK, (), CallOptions())
    assert secret not in (tmp_path / "c").read_text()
    assert used.message.content == "my key is ***"
    assert used.message.provider_state == {"format": "x", "message": {"signature": "signed ***"}}
    assert used == await cached(Player(), cache, "e").complete(ASK, (), CallOptions())
    cache.close()
