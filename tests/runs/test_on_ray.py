"""A run with Ray whose workers are killed, and one whose driver is killed: no reply is asked for twice but those on the
way, no line is there twice, and the results are those of a run without Ray. `make ray` sets up what it takes."""

import asyncio
import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import psutil
import pytest

from graphwalk.analysis.report.report import report_of
from graphwalk.runs.folder import RunFolder
from graphwalk.variables import without_ray_statistics
from tests.models.server import Answer, ModelServer, Request, chat
from tests.runs.runs import records, without_time

without_ray_statistics()
pytest.importorskip("ray", reason="Ray is not installed: make ray")
pytestmark = pytest.mark.timeout(1500)

MODEL = "openai-api/local/m"
RUN = ["run", "quickstart", "--model", MODEL, "--setting", "tools", "--graphs", "1", "--max-concurrency", "2"]
ANSWERED = 3
"""Episodes that the server lets end before it holds the replies."""
IN_FLIGHT = 2


@pytest.fixture(autouse=True)
def no_cloud(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this file Ray asks other machines whether it runs in a cloud."""
    home = tmp_path_factory.mktemp("home")
    (home / "ray_bootstrap_config.yaml").write_text("{}")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("RAY_USAGE_STATS_REPORT_URL", "http://127.0.0.1:9/")


class Model:
    """Calls a tool first in each episode, then answers. After some answers it holds the others until it is released."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        """Digest of a request → how often it came."""
        self.held: set[str] = set()
        self.answers = 0
        self.is_holding = True

    def respond(self, request: Request) -> Answer:
        messages = request.body["messages"]
        digest = sha256(json.dumps(messages).encode()).hexdigest()
        self.requests[digest] += 1
        if messages[-1]["role"] != "tool":
            return Answer(chat(calls=[("get_schema", {})], usage=(100, 10)))
        if self.is_holding and self.answers >= ANSWERED:
            self.held.add(digest)
            return Answer(then="hang")
        self.answers += 1
        return Answer(chat(f"[{int(digest, 16) % 9}]", usage=(200, 10)))

    async def until_held(self, process: asyncio.subprocess.Process) -> None:
        """Wait until all episodes in flight wait for an answer."""
        async with asyncio.timeout(700):
            while len(self.held) < IN_FLIGHT:
                assert process.returncode is None
                await asyncio.sleep(0.05)

    def check_repeats(self) -> None:
        """No request came twice but those that were held, and these once more."""
        assert len(self.held) == IN_FLIGHT
        assert {digest: times for digest, times in self.requests.items() if times > 1} == dict.fromkeys(self.held, 2)


async def graphwalk(*words: object, server: ModelServer, **variables: str) -> asyncio.subprocess.Process:
    environment = {**os.environ, "LOCAL_BASE_URL": server.url, "COLUMNS": "200", **variables}
    arguments = [str(word) for word in words]
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "graphwalk",
        *arguments,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


async def output_of(process: asyncio.subprocess.Process, code: int) -> str:
    output, _ = await asyncio.wait_for(process.communicate(), 700)
    assert process.returncode == code, output.decode()
    return output.decode()


def workers_of(folder: Path) -> list[int]:
    """Return the process ids of the workers that have started."""
    return [int(number) for number in re.findall(r"worker: process (\d+) on", (folder / "run.log").read_text())]


def is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


async def play_without_ray(folder: Path) -> int:
    """Return the tokens of the run."""
    model = Model()
    model.is_holding = False
    async with ModelServer(model.respond) as server:
        await output_of(await graphwalk(*RUN, "--out", folder, server=server), 0)
    return sum(tokens_of(record["usage"]) for record in records(folder))


def tokens_of(usage: Mapping[str, Any]) -> int:
    return int(usage["input_tokens"] + usage["output_tokens"])


def check_same(folder: Path, without_ray: Path) -> None:
    """The run is the one that a command without Ray makes."""
    ours = sorted(without_time(record) for record in records(folder))
    theirs = sorted(without_time(record) for record in records(without_ray))
    assert ours == theirs
    assert table(folder) == table(without_ray)


def table(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a run's report, without times."""
    rows = []
    for row in report_of(RunFolder.open(folder)).rows:
        fields = row.as_dict()
        for values in (fields, fields["intervals"]):
            for name in [name for name in values if "seconds" in name]:
                del values[name]
        rows.append(fields)
    return rows


async def test_killed_workers_lose_the_calls_under_way_and_nothing_else(tmp_path: Path) -> None:
    model, out = Model(), tmp_path / "run"
    # A reply that is charged twice would spend this budget.
    budget = ("-o", f"limits.budget_tokens={await play_without_ray(tmp_path / 'without') + 1}")
    async with ModelServer(model.respond) as server:
        process = await graphwalk(*RUN, "--on", "ray", "--out", out, *budget, server=server)
        await model.until_held(process)
        workers = workers_of(out)
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        model.is_holding = False
        output = await output_of(process, 0)
    assert "will be played again" in output
    assert len(workers_of(out)) > len(workers)
    model.check_repeats()
    check_same(out, tmp_path / "without")


async def test_a_killed_driver_resumes_as_any_run(tmp_path: Path) -> None:
    model, out = Model(), tmp_path / "run"
    async with ModelServer(model.respond) as server:
        process = await graphwalk(*RUN, "--on", "ray", "--out", out, server=server)
        await model.until_held(process)
        workers = [psutil.Process(number) for number in workers_of(out)]
        process.kill()
        await process.communicate()
        async with asyncio.timeout(300):
            while any(map(is_alive, workers)):  # noqa: ASYNC110 -- processes of another parent
                await asyncio.sleep(0.05)
        assert len(records(out)) == ANSWERED
        model.is_holding = False
        await output_of(await graphwalk("resume", out, server=server), 0)
    model.check_repeats()
    await play_without_ray(tmp_path / "without")
    check_same(out, tmp_path / "without")


async def test_a_budget_holds_over_all_workers(tmp_path: Path) -> None:
    model, out = Model(), tmp_path / "run"
    model.is_holding = False
    async with ModelServer(model.respond) as server:
        budget = ("-o", "limits.budget_tokens=700")
        output = await output_of(await graphwalk(*RUN, "--on", "ray", "--out", out, *budget, server=server), 4)
        assert "Budget spent" in output
    lines = (out / "replies.jsonl").read_text().splitlines()
    tokens = [tokens_of(json.loads(line)["reply"]["usage"]) for line in lines]
    assert sum(tokens[:-IN_FLIGHT]) < 700 <= sum(tokens), "calls that are under way end, and no other begins"


async def test_missing_cluster_is_an_error(tmp_path: Path) -> None:
    async with ModelServer() as server:
        words = (*RUN, "--on", "ray", "--out", tmp_path / "run")
        output = await output_of(await graphwalk(*words, server=server, RAY_ADDRESS="127.0.0.1:1"), 2)
    assert "no Ray cluster at 127.0.0.1:1" in output
    assert not (tmp_path / "run").exists()
