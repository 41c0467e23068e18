"""Progress: cost, rate and time left, on a terminal and in a pipe."""

import asyncio
import re
from pathlib import Path

import pytest

from graphwalk import long_work
from graphwalk.config.calls import Price
from graphwalk.console import stderr
from graphwalk.long_work import Pace, clock
from graphwalk.models.prices import KnownPrice
from graphwalk.runlog.result import EpisodeKey, Result
from graphwalk.runner.live_progress import Counts, live_progress
from graphwalk.types.chat import Usage
from graphwalk.types.episode import ExitStatus, Trajectory
from tests.runner.runs import experiment, start

KNOWN = {"openai/m": KnownPrice(price=Price(input=1, output=2), source="genai-prices", version="1")}


def shown(*usages: Usage, spent: Usage = Usage(), done: int = 0, episodes: int = 20) -> str:
    counts = Counts()
    counts.price(spent, KNOWN)
    counts.episodes, counts.done = episodes, done
    for number, usage in enumerate(usages):
        key = EpisodeKey(f"t{number}", "openai/m", "tools", 0)
        counts.add(
            Result(
                key,
                ExitStatus.ANSWERED,
                [],
                {"correct": True},
                Trajectory((), (), ExitStatus.ANSWERED),
                usage,
                0.0,
                {},
                {},
            )
        )
    return str(counts)


def test_cost_so_far_and_of_all() -> None:
    paid = Usage(100, 10, cost=0.25)
    assert "$0.2500 by genai-prices" in shown(paid)
    assert "$1.2500 of about $5.00 by genai-prices" in shown(*[paid] * 5)


def test_a_resumed_run_counts_what_was_spent_before() -> None:
    assert "$2.5000 of about $5.00" in shown(*[Usage(1, 1, cost=0.25)] * 5, spent=Usage(5, 5, cost=1.25), done=5)


def test_unknown_stays_unknown() -> None:
    assert "cost unknown" in shown(Usage(100, 10))
    assert "$0.2500 and unknown cost" in shown(Usage(1, 1, cost=0.25), Usage(1, 1))
    assert "cost" not in shown(Usage())


def test_estimated_tokens_are_marked() -> None:
    assert "about 110 tokens" in shown(Usage(100, 10, cost=0.1, estimated=True))


async def told_until(capsys: pytest.CaptureFixture[str], words: str) -> str:
    """What is said on stderr until it has these words."""
    told = ""
    async with asyncio.timeout(60):
        while words not in (told := told + capsys.readouterr().err):  # noqa: ASYNC110 - a thread is watched
            await asyncio.sleep(0.01)
    return told


async def test_a_pipe_is_told_now_and_then_and_data_stays_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(long_work, "QUIET_SECONDS", 0.05)
    stderr.cache_clear()
    with live_progress() as progress:
        progress.planning(7)
        early = await told_until(capsys, "7 tasks so far")
        await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=3), progress=progress)
    stderr.cache_clear()
    told = capsys.readouterr()
    assert told.out == ""
    assert "making tasks · 7 tasks so far" in early
    assert re.search(r"3/3 · [\d.,]+/(s|min) · 3/3 correct · \d+ tool calls · 0:\d\d", told.err)


def test_pace_tells_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(long_work.time, "monotonic", lambda: now[0])
    pace = Pace(120, done=20)
    assert str(pace) == "20/120"
    for _ in range(20):
        now[0] += 2
        pace.step()
    assert str(pace) == "40/120 · 30.0/min · 2:40 left"
    now[0] += 600
    for _ in range(80):
        now[0] += 0.5
        pace.step()
    assert pace.rate is not None
    assert pace.rate > 1.0, "a long pause is forgotten"
    assert (clock(7), clock(750), clock(11100)) == ("0:07", "12:30", "3:05:00")


async def test_long_work_without_steps_still_says_that_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(long_work, "QUIET_SECONDS", 0.05)
    stderr.cache_clear()
    with long_work.long_work("loading [red]x[/red]"):
        told = await told_until(capsys, "\n")
    stderr.cache_clear()
    assert capsys.readouterr().out == ""
    assert told.startswith("loading [red]x[/red] · 0:00\n")
