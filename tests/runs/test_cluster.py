"""Shards that are handed to machines: together they are the undivided run."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from graphwalk.analysis.report.report import report_of
from graphwalk.config.agent import Limits
from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.runs.cluster import Play, ShardedRun, ShardWork, divided, play_shard
from graphwalk.runs.folder import NewRun
from graphwalk.runs.play import RunSummary
from graphwalk.runs.resolve import resolve
from graphwalk.terminal import run_async
from tests.runs.runs import NOTHING_SET, experiment, records, resume, start, without_time

PLAYED = {"suite.questions": ["node_count", "path_finding", "node_by_property"]}


def sharded(folder: Path, **flags: object) -> ShardedRun:
    resolved = resolve(experiment(**PLAYED, **flags), NOTHING_SET)
    return ShardedRun(resolved, NewRun.make(resolved.config.name, folder))


def play(run: ShardedRun, how: Play, number: int = 2) -> RunSummary:
    return run.play(how, number, lambda: None)


def here(works: Sequence[ShardWork]) -> Iterator[RunSummary]:
    return map(play_shard, works)


def test_merged_shards_are_the_undivided_run(tmp_path: Path) -> None:
    run = sharded(tmp_path / "run", **{"limits.budget_tokens": 1_000_000})
    summary = play(run, here)
    assert (summary.episodes, summary.finished, summary.failed) == (9, 9, 0)
    run_async(start(tmp_path / "undivided", experiment(**PLAYED)))
    ours, theirs = (sorted(map(without_time, records(tmp_path / name))) for name in ("run", "undivided"))
    assert ours == theirs
    assert report_of(run.new.folder).incomplete is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "undivided"]
    assert run.new.folder.read_manifest()["config"]["limits"]["budget_tokens"] == 1_000_000
    assert run_async(resume(tmp_path / "run")).finished == 9


def test_shards_that_were_played_stay_when_another_fails(tmp_path: Path) -> None:
    def lost(works: Sequence[ShardWork]) -> Iterator[RunSummary]:
        yield play_shard(works[0])
        raise GraphwalkError("lost")

    run = sharded(tmp_path / "run")
    with pytest.raises(GraphwalkError, match="lost"):
        play(run, lost)
    first = (run.shards / "0001" / "results.jsonl").stat().st_mtime_ns
    with pytest.raises(ConfigError, match="another run: experiment"):
        play(sharded(tmp_path / "run", seed=8), here)
    again = sharded(tmp_path / "run")
    assert again.number(None, 16) == 2
    times = []

    def watched(works: Sequence[ShardWork]) -> Iterator[RunSummary]:
        for summary in here(works):
            times.append((run.shards / "0001" / "results.jsonl").stat().st_mtime_ns)
            yield summary

    assert play(again, watched).finished == 9
    assert set(times) == {first}


def test_limits_are_never_passed_together() -> None:
    whole = Limits(max_concurrency=8, requests_per_minute=100, tokens_per_minute=9000, budget_tokens=10, budget_usd=3)
    for shards in range(1, 9):
        parts = [Limits(**divided(whole, shards)) for _ in range(shards)]
        assert sum(part.max_concurrency for part in parts) <= 8
        assert sum(part.requests_per_minute or 0 for part in parts) == pytest.approx(100)
        assert sum(part.tokens_per_minute or 0 for part in parts) == pytest.approx(9000)
        assert sum(part.budget_tokens or 0 for part in parts) <= 10
        assert sum(part.budget_usd or 0 for part in parts) == pytest.approx(3)
    with pytest.raises(ConfigError, match="9 shards"):
        divided(whole, 9)
    with pytest.raises(ConfigError, match="budget of 3 tokens"):
        divided(whole.model_copy(update={"budget_tokens": 3}), 4)
