"""A clock that jumps by years, forwards and back, changes nothing but the dates that are written down (R01, R12)."""

import asyncio
import random
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from graphwalk.runs.folder.run_folder import RunFolder
from tests.integration.test_kills import begin, environment, start_words, table, thinker, wait_for_results
from tests.models.server import Answer, ModelServer, Request

_JUMPING = """
import datetime, random, runpy, sys, time
draw, real = random.Random(sys.argv.pop(1)), time.time
time.time = lambda: real() + draw.uniform(-1e8, 1e8)
class Jumping(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)
datetime.datetime = Jumping
runpy.run_module("graphwalk", run_name="__main__", alter_sys=True)
"""
"""Every look at the clock gives another time, up to three years away."""


async def jumping(url: str, seed: int, *words: str | Path) -> asyncio.subprocess.Process:
    command = [sys.executable, "-c", _JUMPING, str(seed), *map(str, words)]
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(*command, env=environment(url), stdout=pipe, stderr=pipe)


@pytest.mark.extended
async def test_a_run_whose_clock_jumps_ends_like_any_other(tmp_path: Path) -> None:
    draw, asked = random.Random(1), 0

    def respond(request: Request) -> Answer:
        nonlocal asked
        asked += 1
        if asked % 9:
            return thinker(request)
        # The server's clock is wrong too; it asks to wait for no time at all.
        now = format_datetime(datetime.now(UTC) + timedelta(days=draw.uniform(-1000, 1000)), usegmt=True)
        return Answer({"error": "busy"}, 429, {"Date": now, "Retry-After": now})

    async with ModelServer(thinker) as server:
        await (await begin(server.url, *start_words(tmp_path / "calm", 1))).communicate()
        server.respond = respond
        process = await jumping(server.url, 1, *start_words(tmp_path / "jumping", 1))
        await wait_for_results(tmp_path / "jumping", 8)
        process.kill()
        await process.communicate()
        process = await jumping(server.url, 2, "resume", tmp_path / "jumping")
        _, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        keys = [record["task_id"] for record in RunFolder.open(tmp_path / "jumping").records()]
        assert len(keys) == len(set(keys)) == 24
        assert table(tmp_path / "jumping") == table(tmp_path / "calm")
