"""A run divided into shards, and put together again: the same as the undivided one, or refused."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from graphwalk.analysis.reporting import report_of
from graphwalk.cli.app import app
from graphwalk.errors import ConfigError, RunLogError
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.listing import listed
from graphwalk.runs.play import start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.resolve import resolve
from graphwalk.runs.shards import Shard, merge_runs
from tests.runs.runs import NOTHING_SET, experiment, records, resume, without_time


async def play(folder: Path, shard: str, **flags: Any) -> RunFolder:
    new = NewRun.make("quickstart", folder)
    fields = {"suite.questions": ["node_count", "path_finding", "node_by_property"], **flags}
    part = None if shard == "1/1" else Shard.parse(shard)
    await start_run(resolve(experiment(**fields), NOTHING_SET), new, Progress(), shard=part)
    return new.folder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both shards, played once for all tests."""
    folder = tmp_path_factory.mktemp("shards")
    for number in (1, 2):
        asyncio.run(play(folder / f"part{number}", f"{number}/2"))
    return folder


@pytest.fixture
def shards(played: Path, tmp_path: Path) -> list[RunFolder]:
    """Copies of the shards, to be changed."""
    names = ("part1", "part2")
    return [RunFolder.open(Path(shutil.copytree(played / name, tmp_path / name))) for name in names]


async def test_merged_shards_are_the_undivided_run(tmp_path: Path, shards: list[RunFolder]) -> None:
    whole = await play(tmp_path / "whole", "1/1")
    new = NewRun.make("quickstart", tmp_path / "merged")
    assert merge_runs(shards, new) == 9
    merged, straight = (sorted(map(without_time, records(folder.path))) for folder in (new.folder, whole))
    assert merged == straight
    ours, theirs = report_of(new.folder), report_of(whole)
    assert ours.incomplete is None
    assert [row["accuracy"] for row in ours.rows] == [row["accuracy"] for row in theirs.rows]
    assert (await resume(new.folder.path)).finished == 9


async def test_shard_has_its_own_tasks(shards: list[RunFolder]) -> None:
    tasks = [{record["task_id"] for record in records(folder.path)} for folder in shards]
    assert [len(part) for part in tasks] == [2, 1]
    assert not tasks[0] & tasks[1]
    assert "SHARD 1 of 2: complete, 6 episodes; the whole run has 9" in (report_of(shards[0]).incomplete or "")
    assert (await resume(shards[0].path)).episodes == 6


async def test_a_shard_with_all_of_its_own_is_finished_and_one_with_fewer_is_not(shards: list[RunFolder]) -> None:
    done = listed(shards[1])
    assert (done.shard, done.state, done.done, done.episodes) == ("shard 2 of 2", "finished", 3, 3)
    lines = (shards[1].path / "results.jsonl").read_bytes().splitlines(keepends=True)
    shards[1].results_path.write_bytes(b"".join(lines[:2]))
    assert (listed(shards[1]).state, listed(shards[1]).done) == ("not finished", 2)
    assert "SHARD 2 of 2, NOT FINISHED: 2 of its 3 episodes" in (report_of(shards[1]).incomplete or "")


async def test_repeated_shard_is_refused(tmp_path: Path, shards: list[RunFolder]) -> None:
    again = RunFolder.open(tmp_path / "part2" / ".." / "part1")
    with pytest.raises(RunLogError, match="named twice"):
        merge_runs([*shards, again], NewRun.make("quickstart", tmp_path / "merged"))


async def test_a_missing_shard_is_refused(tmp_path: Path, shards: list[RunFolder]) -> None:
    with pytest.raises(RunLogError, match=r"3 planned episodes missing in .*part1"):
        merge_runs(shards[:1], NewRun.make("quickstart", tmp_path / "merged"))


async def test_a_shard_named_twice_or_of_another_division_is_refused(tmp_path: Path, shards: list[RunFolder]) -> None:
    other = await play(tmp_path / "other", "2/3")
    with pytest.raises(RunLogError, match="an episode is in"):
        merge_runs([*shards, other], NewRun.make("quickstart", tmp_path / "merged"))


async def test_a_shard_of_another_plan_is_refused_with_the_difference(tmp_path: Path, shards: list[RunFolder]) -> None:
    other = await play(tmp_path / "other", "2/2", seed=8)
    with pytest.raises(RunLogError, match="another plan") as caught:
        merge_runs([shards[0], other], NewRun.make("quickstart", tmp_path / "merged"))
    assert "config.seed: 7 → 8" in str(caught.value)


async def test_a_shard_that_is_being_worked_on_is_refused(tmp_path: Path, shards: list[RunFolder]) -> None:
    with shards[1].lock(), pytest.raises(RunLogError, match="another process"):
        merge_runs(shards, NewRun.make("quickstart", tmp_path / "merged"))


def test_the_commands(tmp_path: Path) -> None:
    cli = CliRunner()
    for number in (1, 2):
        words = ["run", "quickstart", "--limit", "2", "--shard", f"{number}/2", "--out", str(tmp_path / str(number))]
        assert cli.invoke(app, words).exit_code == 0
    words = ["merge", str(tmp_path / "1"), str(tmp_path / "2"), "--out"]
    assert cli.invoke(app, [*words, str(tmp_path / "merged")]).exit_code == 0
    assert len(records(tmp_path / "merged")) == 6
    assert cli.invoke(app, ["merge", str(tmp_path / "1"), "--out", str(tmp_path / "half")]).exit_code != 0
    assert not (tmp_path / "half").exists()


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "-1/2"])
def test_malformed_shards_are_errors(text: str) -> None:
    with pytest.raises(ConfigError, match="there is no shard"):
        Shard.parse(text)
