"""The estimate of a run, compared with its real requests."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis import estimate as estimating
from graphwalk.analysis.estimate import check_setup, estimate_run
from graphwalk.models.chat import CallOptions, Message, Reply, ToolSpec, from_dict
from graphwalk.models.tokens import count_messages, count_tokens, tools_text
from graphwalk.models.trajectory import Trajectory
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun
from graphwalk.runs.play import start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.resolve import ResolvedExperiment, resolve
from tests.forked_commands import graphwalk
from tests.models.server import Answer, ModelServer
from tests.runs.runs import NOTHING_SET, experiment, records, start


async def estimated(**flags: Any) -> estimating.RunEstimate:
    return await estimate_run(resolve(experiment(**flags), NOTHING_SET, keys=False), {})


class Straight:
    """A model without a tokenizer that replies as the expert did, and counts its calls and input tokens."""

    name = "python/straight"

    def __init__(self, run: Path) -> None:
        episodes = [from_dict(Trajectory, record["trajectory"]) for record in records(run)]
        self.by_question = {episode.prompt[-1].content: episode for episode in episodes}
        self.tokens = self.calls = 0

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        self.calls += 1
        self.tokens += count_messages(messages) + count_tokens(tools_text(tools))
        question = next(message.content for message in messages if message.role == "user")
        turn = self.by_question[question].turns[sum(message.role == "assistant" for message in messages)]
        return Reply(turn.message)

    async def close(self) -> None:
        return None


@pytest.mark.parametrize("compaction", ["none", pytest.param("window", marks=pytest.mark.extended)])
async def test_an_estimate_is_what_a_model_receives_that_calls_as_the_expert(tmp_path: Path, compaction: str) -> None:
    agent = {"agent.compaction": compaction, "agent.compaction_window": 1, "agent.tool_format": "native"}
    await start(tmp_path / "expert", experiment(models=["scripted/expert"], **agent))
    straight = Straight(tmp_path / "expert")
    config = experiment(models=[straight.name], **agent)
    resolved = resolve(config, NOTHING_SET, objects={straight.name: straight})
    row = (await estimate_run(resolved, {})).rows[0]
    await start_run(resolved, NewRun.make("real", tmp_path / "real"), Progress())
    assert (straight.calls, straight.tokens) == (row.model_calls, row.new_tokens + row.repeated_tokens)


async def test_repeated_tokens_are_counted_apart() -> None:
    estimate = await estimated(models=["openai/gpt-4.1-mini"], settings=["tools", "no_tools"])
    tools, whole = estimate.rows
    assert tools.repeated_tokens > tools.new_tokens / 4
    assert whole.repeated_tokens == 0
    price = 0.4 * tools.new_tokens + 0.1 * tools.repeated_tokens + 1.6 * tools.output_tokens
    assert estimate.rows[0].usd == pytest.approx(price / 1e6)


async def test_the_price_of_the_user_comes_first_and_unknown_stays_unknown() -> None:
    prices = {"openai/gpt-4.1-mini": {"input": 1000.0, "output": 0.0}}
    estimate = await estimated(models=["openai/gpt-4.1-mini", "openai-api/local/m"], prices=prices)
    own, unknown = estimate.rows
    assert own.usd == pytest.approx((own.new_tokens + own.repeated_tokens) / 1000)
    assert unknown.usd is None
    assert any(note.startswith("Cost unknown") for note in estimate.notes)


async def test_of_a_large_plan_a_sample_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = {"models": ["openai-api/local/m"], "suite.graphs.*.count": 4, "settings": ["tools", "no_tools"]}
    whole = await estimated(**flags)
    monkeypatch.setattr(estimating, "SAMPLE", 20)
    sampled = await estimated(**flags)
    for one, other in zip(whole.rows, sampled.rows, strict=True):
        assert other.episodes == one.episodes
        assert other.new_tokens == pytest.approx(one.new_tokens, rel=0.5)
    assert any("20 of 48 tasks" in note for note in sampled.notes)


PRIMARY = ["tools", "no_tools"]
AGAINST = "Primary comparison tools against no_tools"


@pytest.mark.parametrize(
    ("models", "primary", "line"),
    [
        (1, PRIMARY, f"{AGAINST}: 5 graphs can show a difference (p ≥ 0.031 after Holm)."),
        (
            2,
            PRIMARY,
            f"{AGAINST} (2 comparisons): cannot be significant with 5 graphs (p ≥ 0.062 after Holm); it takes 6.",
        ),
        (
            2,
            None,
            "All pairs of contestants (6 comparisons): cannot be significant with 5 graphs (p ≥ 0.18 after Holm); it takes 7.",
        ),
    ],
)
async def test_whether_the_primary_comparison_can_be_significant(
    models: int, primary: list[str] | None, line: str
) -> None:
    names = [f"openai-api/local/{number}" for number in range(models)]
    flags = {"models": names, "settings": PRIMARY, "primary": primary, "suite.graphs.*.count": 5}
    assert line in (await estimated(**flags)).notes


async def test_on_one_graph_questions_are_counted_and_a_contestant_alone_has_no_comparison() -> None:
    both = await estimated(models=["openai-api/local/m"], settings=["tools", "no_tools"])
    assert (
        "All pairs of contestants: 12 questions of one graph can show a difference (p ≥ 0.00024 after Holm)."
        in both.notes
    )
    alone = await estimated(models=["openai-api/local/m"], settings=["tools"])
    assert not any("after Holm" in note for note in alone.notes)
    unplayed = await estimated(models=["openai-api/local/m"], settings=["tools"], primary=["tools", "no_tools"])
    assert "Primary comparison tools against no_tools: no model plays both settings." in unplayed.notes


LARGE, SMALL = "openai-api/local/large", "openai-api/local/small"

PAPER_100: dict[str, Any] = {
    "name": "p",
    "seed": 5,
    "suite": {"name": "questions", "graphs": [{"preset": "paper-100"}]},
}


def paper_100(**flags: Any) -> ResolvedExperiment:
    return resolve(load_experiment(PAPER_100, flags=flags), NOTHING_SET, keys=False)


async def solved(**flags: Any) -> dict[str, tuple[int, int] | None]:
    return await check_setup(paper_100(**flags), {})


@pytest.mark.parametrize(
    ("limits", "right"),
    [
        ({"agent.turn_limit": 1}, 2),
        ({"agent.turn_limit": 2}, 7),
        ({"agent.turn_limit": 3}, 12),
        ({"agent.call_limit": 20}, 9),
        ({"agent.tool_format": "text", "limits.context_tokens": 8192}, 2),
        ({"options.max_output_tokens": 256}, 9),
        ({"options.max_output_tokens": 256, "agent.max_calls_per_turn": 1}, 9),
    ],
    ids=str,
)
async def test_limits_of_the_run_hold_for_the_expert(limits: dict[str, object], right: int) -> None:
    assert await solved(**limits) == {"tools": (right, 12)}


async def test_the_limits_of_an_episode_hold_for_the_expert() -> None:
    """At one dollar a million, 20,000 tokens are 2 cents; the dearer model spends twice as much."""
    prices = {"openai/a": {"input": 1.0, "output": 1.0}, "openai/b": {"input": 2.0, "output": 2.0}}
    flags = {"models": list(prices), "prices": prices, "limit": 6}
    by_tokens = await solved(**flags, **{"limits.episode_tokens": 20_000})
    assert by_tokens["tools"] is not None
    assert 0 < by_tokens["tools"][0] < 6
    assert await solved(**flags, **{"limits.episode_usd": 0.04}) == by_tokens


@pytest.mark.parametrize("limit", ["limits.episode_tokens", "limits.episode_usd"])
async def test_an_estimate_ends_at_the_limit_of_an_episode(limit: str) -> None:
    flags = {"models": [LARGE], "prices": {LARGE: {"input": 1e6, "output": 1e6}}}
    row = (await estimate_run(paper_100(**flags, limit=3, **{limit: 1}), {})).rows[0]
    assert row.model_calls == row.episodes


async def test_a_schema_that_is_cut_leaves_the_expert_unknown() -> None:
    assert await solved(**{"agent.schema_tokens": 40}) == {"tools": None}


async def test_it_is_not_known_where_no_scripted_agent_plays() -> None:
    flags = {"settings": ["tools", "no_tools"], "models": ["openai/gpt-4.1-mini"], "limit": 2}
    assert await solved(**flags) == {"tools": (2, 2), "no_tools": None}


@pytest.mark.parametrize(
    ("limit", "windows", "right"),
    [(None, {LARGE: 100_000, SMALL: 8192}, 2), (8192, {LARGE: 100_000}, 2), (100_000, {}, 12)],
    ids=["server's", "limit's", "large"],
)
async def test_the_smallest_window_holds_for_the_setup(limit: int | None, windows: dict[str, int], right: int) -> None:
    flags = {"models": [LARGE, SMALL], "agent.tool_format": "text", "limits.context_tokens": limit}
    assert await check_setup(paper_100(**flags), windows) == {"tools": (right, 12)}


async def test_an_estimate_stops_at_the_window_of_each_model() -> None:
    models = paper_100(models=[LARGE, SMALL], **{"agent.tool_format": "text"})
    estimate = await estimate_run(models, {SMALL: 8192})
    large, small = estimate.rows
    assert small.model_calls < large.model_calls
    assert estimate.notes[0] == f"Context window of {SMALL}, as its server reports it: 8,192 tokens."


@pytest.mark.parametrize(
    ("window", "output", "words"),
    [
        (300, None, "of 300 tokens is smaller than the first prompt"),
        (20_000, 30_000, "options.max_output_tokens (30,000)"),
    ],
)
async def test_a_window_that_is_too_small_is_named_before_the_first_call(
    window: int, output: int | None, words: str
) -> None:
    experiment = paper_100(models=[SMALL], limit=1, **{"options.max_output_tokens": output})
    notes = (await estimate_run(experiment, {SMALL: window})).notes
    assert words in notes[1]
    large = (await estimate_run(experiment, {SMALL: 1_000_000})).notes
    assert not any("is smaller than the first prompt" in note for note in large)


async def test_the_command_reads_the_window_from_the_server(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.facts["/props"] = Answer({"default_generation_settings": {"n_ctx": 500}})
        words = ("--graphs", "1", "--limit", "4", "-m", LARGE, "-o", f"servers.local={server.url}")
        command = ("run", "quickstart", *words, "--check-setup", "--json")
        done = await asyncio.to_thread(graphwalk, *command, folder=tmp_path)
    assert json.loads(done.stdout)["expert"] == {"tools": 0.0}
    assert not server.requests
