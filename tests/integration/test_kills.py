"""The promises about being killed, with real processes, real signals and a real server (P3, P4)."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.report.formats import to_json
from graphwalk.analysis.report.report import report_of
from graphwalk.runs.folder import RunFolder
from tests.forked_commands import start, wait
from tests.models.server import Answer, ModelServer, Request, chat

IN_FLIGHT = 4
WALL_CLOCK = ("seconds", "seconds_per_question")


def thinker(request: Request) -> Answer:
    """Thinks twice, then answers with nothing; every reply takes 20 ms."""
    thoughts = sum(message["role"] == "tool" for message in request.body["messages"])
    body = chat("[]") if thoughts == 2 else chat(calls=[("think", {"thought": f"{thoughts}"})])
    return Answer(body, delay=0.02)


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "graphwalk", *map(str, words)]


def environment(url: str) -> dict[str, str]:
    return {**os.environ, "LOCAL_BASE_URL": url, "LOCAL_API_KEY": "none", "NO_COLOR": "1"}


async def begin(url: str, *words: str | Path) -> asyncio.subprocess.Process:
    pipe = subprocess.PIPE
    return await asyncio.create_subprocess_exec(*command(*words), env=environment(url), stdout=pipe, stderr=pipe)


def start_words(folder: Path, graphs: int) -> list[str | Path]:
    """A run of twelve questions on each graph; each question takes three requests."""
    size = [
        "--graphs",
        str(graphs),
        "-o",
        "suite.graphs.*.nodes=40",
        "--max-concurrency",
        str(IN_FLIGHT),
        "--seed",
        "1",
    ]
    return ["run", "quickstart", "--model", "openai-api/local/m", *size, "--out", folder]


async def forked(url: str, folder: Path, *words: str | Path) -> ForkServerProcess:
    """Start a command that is forked from a process with its imports; `folder` gets its output."""
    streams = [folder / name for name in ("stdin", "stdout", "stderr")]
    for stream in streams:
        stream.touch()
    return await asyncio.to_thread(start, words, environment(url), Path.cwd(), streams)


def table(folder: Path) -> dict[str, Any]:
    """Return the report of a run, without what depends on the clock."""
    report: dict[str, Any] = json.loads(to_json(report_of(RunFolder.open(folder))))
    rows = list(report["rows"])
    for rows_of_group in report["groups"].values():
        rows += rows_of_group
    for row in rows:
        for name in WALL_CLOCK:
            row.pop(name, None)
            row["intervals"].pop(name, None)
    return report


async def wait_for_results(folder: Path, some: int) -> None:
    """Until so many are in the log."""
    path, deadline = folder / "results.jsonl", time.monotonic() + 120
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError):
            if path.read_bytes().count(b"\n") >= some:
                return
        await asyncio.sleep(0.005)
    assert time.monotonic() < deadline, "the run makes no progress"


async def killed_and_resumed(folder: Path, graphs: int, kills: int, draw: random.Random) -> None:
    """A run that is killed again and again at random moments ends like an undisturbed one."""
    episodes = graphs * 12
    async with ModelServer(thinker) as server:
        undisturbed = folder / "undisturbed"
        await asyncio.to_thread(wait, await forked(server.url, folder, *start_words(undisturbed, graphs)))
        asked = len(server.requests)
        server.requests.clear()

        disturbed = folder / "disturbed"
        words = start_words(disturbed, graphs)
        for number in range(kills):
            process = await forked(server.url, folder, *words)
            await wait_for_results(disturbed, number * episodes // (kills + 1))
            await asyncio.sleep(draw.uniform(0.0, 0.3))
            process.kill()
            await asyncio.to_thread(process.join)
            if (disturbed / "run.json").exists():
                words = ["resume", disturbed]
        process = await forked(server.url, folder, *words)
        assert await asyncio.to_thread(wait, process) == 0, (folder / "stderr").read_text()

        keys = [(r["task_id"], r["model"], r["setting"], r["repeat"]) for r in RunFolder.open(disturbed).records()]
        assert len(keys) == len(set(keys)) == episodes
        assert table(disturbed) == table(undisturbed)
        # A reply that was on its way at the moment of a kill is all that may be asked for again.
        assert asked == episodes * 3
        assert asked <= len(server.requests) <= asked + kills * IN_FLIGHT


async def test_a_killed_run_loses_and_repeats_nothing(tmp_path: Path) -> None:
    await killed_and_resumed(tmp_path, 1, 2, random.Random(7))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
async def test_many_kills_lose_and_repeat_nothing(tmp_path: Path, seed: int) -> None:
    await killed_and_resumed(tmp_path, 2, 6, random.Random(seed))


@pytest.mark.extended
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_a_signal_ends_a_run_in_order(tmp_path: Path, signum: signal.Signals, code: int) -> None:
    def slow_later(request: Request) -> Answer:
        return thinker(request) if len(server.requests) <= 36 else replace(thinker(request), delay=5)

    async with ModelServer(slow_later) as server:
        process = await begin(server.url, *start_words(tmp_path / "run", 2))
        await wait_for_results(tmp_path / "run", 3)
        process.send_signal(signum)
        _, errors = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == code
        assert f"graphwalk resume {tmp_path / 'run'}" in errors.decode()
        assert "Traceback" not in errors.decode()
        finished = len(list(RunFolder.open(tmp_path / "run").records()))
        assert 3 <= finished < 24
        server.respond = thinker
        process = await begin(server.url, "resume", tmp_path / "run")
        await process.communicate()
        assert len(list(RunFolder.open(tmp_path / "run").records())) == 24


@pytest.mark.extended
async def test_two_processes_on_one_folder_do_not_double_anything(tmp_path: Path) -> None:
    async with ModelServer(thinker) as server:
        first = await begin(server.url, *start_words(tmp_path / "run", 2))
        await wait_for_results(tmp_path / "run", 1)
        server.respond = lambda request: replace(thinker(request), delay=5)
        second = await begin(server.url, "resume", tmp_path / "run")
        _, errors = await second.communicate()
        server.respond = thinker
        assert second.returncode == 3
        assert "another process" in errors.decode()
        await first.communicate()
        assert first.returncode == 0
        assert len(list(RunFolder.open(tmp_path / "run").records())) == 24
