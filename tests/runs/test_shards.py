"""A run divided into shards, and put together again: the same as the undivided one, or refused."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.report.report import report_of
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
    assert [row.figures["accuracy"] for row in ours.rows] == [row.figures["accuracy"] for row in theirs.rows]
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


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (["1/2"], {}, "3 planned episodes missing in .*part1"),
        (["1/2", "1/2", "2/2"], {}, "named twice"),
        (["1/2", "2/2"], {"shard": "2/3"}, "an episode is in"),
        (["1/2"], {"shard": "2/2", "seed": 8}, r"another plan(.|\n)*config\.seed: 7 → 8"),
    ],
    ids=["missing", "named twice", "of another division", "of another plan"],
)
async def test_shards_that_are_not_the_whole_run_are_refused(
    tmp_path: Path, shards: list[RunFolder], first: list[str], second: dict[str, Any], message: str
) -> None:
    folders = [shards[int(name[0]) - 1] for name in first]
    if second:
        folders.append(await play(tmp_path / "other", **second))
    with pytest.raises(RunLogError, match=message):
        merge_runs(folders, NewRun.make("quickstart", tmp_path / "merged"))


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "-1/2"])
def test_malformed_shards_are_errors(text: str) -> None:
    with pytest.raises(ConfigError, match="there is no shard"):
        Shard.parse(text)
