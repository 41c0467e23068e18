"""The estimate of a run, compared with its real requests."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis import estimate as estimating
from graphwalk.analysis.estimate import estimate_run
from graphwalk.cli.run import dry_run_text
from graphwalk.models.tokens import count_messages, count_tokens, tools_text
from graphwalk.runs.episodes.resolve import recorded_episodes, resolve
from graphwalk.runs.folder.run_folder import NewRun
from graphwalk.runs.playing.execute import start_run
from graphwalk.runs.playing.run_progress import Progress
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.episode import Trajectory
from tests.runs.runs import NOTHING_SET, experiment, start


async def estimated(**flags: Any) -> estimating.RunEstimate:
    return await estimate_run(resolve(experiment(**flags), NOTHING_SET, keys=False))


async def test_scripted_agents_cost_nothing() -> None:
    estimate = await estimated(models=["scripted/expert"])
    assert sum(estimate.tasks.values()) == 12
    assert (estimate.rows[0].episodes, estimate.rows[0].usd) == (12, 0.0)
    assert estimate.rows[0].figures.tool_calls > 12


class Straight:
    """A model without a tokenizer that replies as the expert did, and counts its calls and input tokens."""

    name = "python/straight"

    def __init__(self, episodes: Mapping[Any, Trajectory]) -> None:
        self.by_question = {episode.prompt[-1].content: episode for episode in episodes.values()}
        self.tokens = self.calls = 0

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        self.calls += 1
        self.tokens += count_messages(messages) + count_tokens(tools_text(tools))
        question = next(message.content for message in messages if message.role == "user")
        turn = self.by_question[question].turns[sum(message.role == "assistant" for message in messages)]
        return Reply(turn.message)

    async def close(self) -> None:
        return None


@pytest.mark.parametrize("compaction", ["none", "window"])
async def test_an_estimate_is_what_a_model_receives_that_calls_as_the_expert(tmp_path: Path, compaction: str) -> None:
    agent = {"agent.compaction": compaction, "agent.compaction_window": 1, "agent.tool_protocol": "native"}
    await start(tmp_path / "expert", experiment(models=["scripted/expert"], **agent))
    straight = Straight(recorded_episodes(f"replay/{tmp_path / 'expert'}"))
    config = experiment(models=[straight.name], **agent)
    resolved = resolve(config, NOTHING_SET, objects={straight.name: straight})
    row = (await estimate_run(resolved)).rows[0]
    await start_run(resolved, NewRun.make("real", tmp_path / "real"), Progress())
    assert (straight.calls, straight.tokens) == (row.figures.model_calls, row.figures.input_tokens)


async def test_repeated_tokens_are_counted_apart() -> None:
    estimate = await estimated(models=["openai/gpt-4.1-mini"], settings=["tools", "no_tools"])
    tools, whole = (row.figures for row in estimate.rows)
    assert tools.repeated_tokens > tools.new_tokens / 4
    assert whole.repeated_tokens == 0
    price = 0.4 * tools.new_tokens + 0.1 * tools.repeated_tokens + 1.6 * tools.output_tokens
    assert estimate.rows[0].usd == pytest.approx(price / 1e6)  # of every prefix, since all have the 1,024 tokens


async def test_the_price_of_the_user_comes_first_and_unknown_stays_unknown() -> None:
    prices = {"openai/gpt-4.1-mini": {"input": 1000.0, "output": 0.0}}
    estimate = await estimated(models=["openai/gpt-4.1-mini", "openai-api/local/m"], prices=prices)
    own, unknown = estimate.rows
    assert own.usd == pytest.approx(own.figures.input_tokens / 1000)
    assert unknown.usd is None
    assert "unknown" in dry_run_text(estimate)


async def test_of_a_large_plan_a_sample_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = {"models": ["openai-api/local/m"], "suite.graphs.*.count": 4, "settings": ["tools", "no_tools"]}
    whole = await estimated(**flags)
    monkeypatch.setattr(estimating, "SAMPLE", 20)
    sampled = await estimated(**flags)
    assert (whole.played, sampled.played, sampled.pairs) == (48, 40, 96)
    for one, other in zip(whole.rows, sampled.rows, strict=True):
        assert other.episodes == one.episodes
        assert other.figures.input_tokens == pytest.approx(one.figures.input_tokens, rel=0.5)
    assert any("20 of 48 tasks" in note for note in sampled.notes)


async def test_the_text_fits_a_terminal_and_the_json_holds_all() -> None:
    models = ["openai/gpt-4.1-mini", "openai-responses/a-model-with-a-very-long-name-of-its-own"]
    estimate = await estimated(models=models, settings=["tools", "no_tools"])
    assert max(map(len, dry_run_text(estimate).splitlines())) <= 80
    wire = json.loads(estimate.as_json())
    assert len(wire["rows"]) == 4
    assert {"model", "setting", "episodes", "tool_calls", "input_tokens", "usd"} <= set(wire["rows"][0])
    assert wire["prices"]["openai/gpt-4.1-mini"]["source"] == "genai-prices"
