"""Progress: cost, rate and time left, on a terminal and in a pipe."""

import asyncio
import re
from pathlib import Path

import pytest

from graphwalk import terminal as progress
from graphwalk.config.agent import Price
from graphwalk.models.chat import Usage
from graphwalk.models.prices import KnownPrice
from graphwalk.models.trajectory import ExitStatus, Trajectory
from graphwalk.runs.progress import RunProgress, run_progress
from graphwalk.runs.record import EpisodeKey, Result
from graphwalk.suites.setting import Setting
from graphwalk.terminal import ProgressBar, stderr
from tests.runs.runs import experiment, start

ANSWERED = ExitStatus.ANSWERED
KNOWN = {"openai/m": KnownPrice(price=Price(input=1, output=2), source="genai-prices", version="1")}


def shown(*usages: Usage, spent: Usage = Usage(), done: int = 0, episodes: int = 20) -> str:
    run = RunProgress(bar=ProgressBar("making tasks"))
    run.priced(spent, KNOWN)
    run.started(episodes, done)
    for number, usage in enumerate(usages):
        key = EpisodeKey(f"t{number}", "openai/m", Setting("tools"), 0)
        run.finished(Result(key, ANSWERED, [], {"correct": True}, Trajectory((), (), ANSWERED), usage, 0.0, {}))
    return run.counters()


PAID = Usage(100, 10, cost=0.25)


@pytest.mark.parametrize(
    ("usages", "text"),
    [
        ([PAID], "$0.2500 by genai-prices"),
        ([PAID] * 5, "$1.2500 of about $5.00 by genai-prices"),
        ([Usage(100, 10)], "cost unknown"),
        ([PAID, Usage(1, 1)], "$0.2500 and unknown cost"),
        ([Usage(100, 10, cost=0.1, estimated=True)], "about 110 tokens"),
    ],
)
def test_cost_so_far_and_of_all(usages: list[Usage], text: str) -> None:
    assert text in shown(*usages)


def test_what_a_resumed_run_spent_before_is_counted() -> None:
    counters = shown(*[PAID] * 5, spent=Usage(5, 5, cost=1.25), done=5)
    assert counters.startswith("5/5 correct since the resume · ")
    assert "$2.5000 of about $5.00" in counters


async def told_until(capsys: pytest.CaptureFixture[str], words: str) -> str:
    """Return the output on stderr up to these words."""
    output = ""
    async with asyncio.timeout(60):
        while words not in (output := output + capsys.readouterr().err):  # noqa: ASYNC110 - a thread is watched
            await asyncio.sleep(0.01)
    return output


async def test_progress_in_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.05)
    stderr.cache_clear()
    with run_progress() as shown_progress:
        shown_progress.planning(7)
        early = await told_until(capsys, "7 tasks so far")
        await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=3), progress=shown_progress)
    stderr.cache_clear()
    output = capsys.readouterr()
    assert output.out == ""
    assert "making tasks · 7 tasks so far" in early
    assert re.search(r"3/3 · 3/3 correct · \d+ tool calls · 0:\d\d", output.err)
