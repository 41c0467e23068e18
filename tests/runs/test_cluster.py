"""Shards that are handed to machines, with a disk in common and without: together they are the undivided run."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphwalk.asynchronous import run_async
from graphwalk.config.calls import Limits
from graphwalk.errors import ConfigError, GraphwalkError, RunLogError
from graphwalk.runs import cluster
from graphwalk.runs.cluster import Play, PlayedShard, ShardedRun, ShardWork, divided, play_shard
from graphwalk.runs.counters import RunSummary
from graphwalk.runs.execute import start_run
from graphwalk.runs.experiment import Experiment, resolve
from graphwalk.runs.reporting import report_of
from graphwalk.runs.run_folder import NewRun
from tests.runs.runs import NOTHING_SET, experiment, records, resume, start, without_time

PLAYED = {"suite.questions": ["node_count", "path_finding", "node_by_property"]}


def sharded(folder: Path, **flags: object) -> ShardedRun:
    made = resolve(experiment(**PLAYED, **flags), NOTHING_SET)
    return ShardedRun(made, NewRun.make(made.config.name, folder))


def play(run: ShardedRun, how: Play, number: int = 2) -> RunSummary:
    return run.play(how, number, "info", lambda: None)


def here(works: Sequence[ShardWork]) -> Iterator[PlayedShard]:
    return map(play_shard, works)


def elsewhere(works: Sequence[ShardWork]) -> Iterator[PlayedShard]:
    """On machines that do not see the folder of the shards."""
    for work in works:
        played = play_shard(replace(work, shards="/no/such/folder"))
        assert played.packed is not None
        yield played


@pytest.mark.parametrize("how", [here, elsewhere])
def test_the_whole_is_the_undivided_run(tmp_path: Path, how: Play) -> None:
    run = sharded(tmp_path / "run", **{"limits.budget_tokens": 1_000_000})
    summary = play(run, how)
    assert (summary.episodes, summary.finished, summary.failed) == (9, 9, 0)
    run_async(start(tmp_path / "undivided", experiment(**PLAYED)))
    ours, theirs = (sorted(map(without_time, records(tmp_path / name))) for name in ("run", "undivided"))
    assert ours == theirs
    assert report_of(run.new.folder).incomplete is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "undivided"]
    assert run.new.folder.read_manifest()["config"]["limits"]["budget_tokens"] == 1_000_000
    assert run_async(resume(tmp_path / "run")).finished == 9


def test_shards_that_were_played_stay_when_another_fails(tmp_path: Path) -> None:
    def lost(works: Sequence[ShardWork]) -> Iterator[PlayedShard]:
        yield play_shard(works[0])
        raise GraphwalkError("lost")

    run = sharded(tmp_path / "run")
    with pytest.raises(GraphwalkError, match="lost"):
        play(run, lost)
    first = (run.shards / "0001" / "results.jsonl.gz").stat().st_mtime_ns
    with pytest.raises(ConfigError, match="another run: experiment"):
        play(sharded(tmp_path / "run", seed=8), here)
    again = sharded(tmp_path / "run")
    assert again.number(None, 16) == 2
    times = []

    def watched(works: Sequence[ShardWork]) -> Iterator[PlayedShard]:
        for played in here(works):
            times.append((run.shards / "0001" / "results.jsonl.gz").stat().st_mtime_ns)
            yield played

    assert play(again, watched).finished == 9
    assert set(times) == {first}


def test_a_link_out_of_a_shard_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def played_with_link(experiment: Experiment, new: NewRun, *given: Any, **named: Any) -> RunSummary:
        summary = await start_run(experiment, new, *given, **named)
        (new.folder.texts_path / "x").symlink_to(tmp_path)
        return summary

    monkeypatch.setattr(cluster, "start_run", played_with_link)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(RunLogError, match="texts/x is a link to a place outside its folder"):
        play(sharded(tmp_path / "run"), elsewhere)


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
        divided(replace_budget(whole, 3), 4)


def replace_budget(limits: Limits, tokens: int) -> Limits:
    return limits.model_copy(update={"budget_tokens": tokens})
