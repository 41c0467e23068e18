"""Paths judged by Cypher, on the embedded engine and on real servers, and by the scorer: never differently."""

import random
from collections import Counter
from pathlib import Path

import pytest

from graphwalk.config.loading import load_experiment
from graphwalk.errors import OracleError, StoreError
from graphwalk.runs.playing.execute import start_run
from graphwalk.runs.playing.resolve import resolve
from graphwalk.runs.playing.run_progress import Progress
from graphwalk.runs.run_folder import NewRun
from graphwalk.settings import Settings
from graphwalk.stores.base import Database
from graphwalk.suites.mazes import suite as maze_suite
from graphwalk.suites.mazes.generate import Maze, maze_graph
from graphwalk.suites.mazes.score import MazeVerification, check_target, cypher_error, score_path
from graphwalk.suites.mazes.task import PATH_ERRORS, MazeScore, MazeTask
from graphwalk.suites.suite import Extraction
from graphwalk.types.chat import Message
from graphwalk.types.episode import ExitStatus, Trajectory, Turn
from tests.suites.mazes.stage import Stage, random_stage, stage

ODD_KEYS = ("", "-1", "007", "x", "100", "9" * 20, "\ud800", "\0", "1.0", " 3", "é")


def scored(task: MazeTask, path: list[str]) -> MazeScore:
    trajectory = Trajectory((), (Turn(Message("assistant", "")),), ExitStatus.ANSWERED)
    return score_path(task, "tools", trajectory, Extraction(path, "strict"))


def spoiled(task: MazeTask, draw: random.Random) -> list[str]:
    """The right path, or one with a few changes: detours, gaps, walls, other ends, cells that do not exist."""
    path = list(task.gold)
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        place = draw.randrange(len(path))
        match draw.randrange(6):
            case 0:
                path[place : place + 1] = [path[place], draw.choice(path), path[place]]
            case 1:
                path[place] = str(draw.randrange(task.size**2))
            case 2:
                path[place] = draw.choice(ODD_KEYS)
            case 3:
                del path[place + 1 :]
            case 4:
                path[place:place] = [path[place], *path[place - 1 : place + 1]]
            case 5:
                path.reverse()
    return path


async def agreements(here: Stage, draw: random.Random, paths: int) -> Counter[str]:
    task, counted = here.task, Counter[str]()
    for _ in range(paths):
        path = spoiled(task, draw)
        score = scored(task, path)
        await MazeVerification().cross_check(task, here.store, path, score)
        counted[score.error_class or "valid"] += 1
    return counted


@pytest.mark.extended
async def test_hundreds_of_paths_are_judged_alike(any_database: Database) -> None:
    draw, counted = random.Random(5), Counter[str]()
    for seed in range(6):
        here = await random_stage(seed, any_database, walls=(0.5, 0.3)[seed % 2])
        await check_target(here.task, here.store, maze_graph(here.task.maze))
        counted += await agreements(here, draw, 60)
    assert counted.keys() == {"valid", *PATH_ERRORS} - {"no_answer", "unreadable"}
    assert 30 < counted["valid"] < 300


async def test_a_path_that_is_sent_in_parts() -> None:
    here = await stage()
    long = here.task.gold[:1] + ["1", "0"] * 1_500 + here.task.gold[1:]
    assert await cypher_error(here.task, here.store, long) is None
    assert await cypher_error(here.task, here.store, [*long[:-1], "10"]) == "through_wall"


@pytest.mark.parametrize(
    "wrong",
    [
        {"valid": False},
        {"error_class": "wrong_goal"},
        {"optimal": False},
        {"path_length": 3},
        {"valid": False, "path_length": None},
    ],
    ids=str,
)
async def test_a_wrong_score_is_refused_with_the_path(wrong: dict[str, object]) -> None:
    here = await stage()
    score = scored(here.task, here.task.gold).model_copy(update=wrong)
    with pytest.raises(OracleError, match=r"path: \['0', '1', '2'"):
        await MazeVerification().cross_check(here.task, here.store, here.task.gold, score)


async def test_a_wrong_target_is_refused() -> None:
    here = await stage(Maze(3, (), 0, 8, 4))
    graph = maze_graph(here.task.maze)
    for gold, cause in ((["0", "1", "9"], "out_of_grid"), (["0", "1", "0", "1", "2", "5", "8"], "networkx")):
        with pytest.raises(OracleError, match=cause):
            await check_target(here.task.model_copy(update={"gold": gold}), here.store, graph)


async def test_a_run_asks_the_store_and_stops_where_it_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scorer that takes every path for valid is found out by the first one that is not."""
    config = load_experiment("paper-table-1", flags={"models": ["scripted/random"]}, graphs=1)
    experiment = resolve(config, Settings())

    def lenient(task: MazeTask, setting: str, trajectory: Trajectory, extraction: Extraction) -> MazeScore:
        score = score_path(task, setting, trajectory, extraction)
        return score.model_copy(update={"error_class": None, "valid": True})

    await start_run(experiment, NewRun.make(config.name, tmp_path / "right"), Progress())
    monkeypatch.setattr(maze_suite, "score_path", lenient)
    with pytest.raises(OracleError, match="differ on a path"):
        await start_run(experiment, NewRun.make(config.name, tmp_path / "wrong"), Progress())


async def test_a_database_that_is_gone_by_then_is_no_mistake_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_: object) -> None:
        raise StoreError("gone")

    monkeypatch.setattr(MazeVerification, "cross_check", gone)
    config = load_experiment("paper-table-1", flags={"models": ["scripted/expert"]}, graphs=1)
    new = NewRun.make(config.name, tmp_path / "run")
    summary = await start_run(resolve(config, Settings()), new, Progress())
    (record,) = new.folder.records()
    assert (summary.failed, record["exit_status"], record["score"]) == (1, "store_error", None)
    assert record["trajectory"]["error"] == "cross-check: gone"
