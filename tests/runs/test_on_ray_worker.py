"""A worker of a run with Ray, without Ray: its events, and what it refuses. `make ray` plays whole runs."""

from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ModelError, RunLogError
from graphwalk.models.chat import Message, Reply
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.on_ray import ModelCall, Worker
from graphwalk.runs.record import Result, key_of
from graphwalk.variables import Variables
from tests.models.server import Answer, ModelServer, chat
from tests.runs.runs import experiment, records, start

MODEL = "openai-api/local/m"


async def run_of_one_episode(folder: Path) -> dict[str, Any]:
    """Play a run without Ray, and return its run.json."""
    async with ModelServer(lambda _: Answer(chat("[40]"))) as server:
        await start(folder, experiment(models=[MODEL], limit=1), Variables({"LOCAL_BASE_URL": server.url}))
    return RunFolder(folder).read_manifest()


async def play(worker: Worker, key: str, answer: Reply | Exception) -> tuple[list[ModelCall], Result]:
    """Play an episode whose calls get this answer. Return the calls and the result."""
    calls: list[ModelCall] = []
    async for _, event in worker.play(0, key):
        if isinstance(event, Result):
            return calls, event
        calls.append(event)
        await worker.replied(0, event.number, answer)
    raise AssertionError("no result")


async def test_a_worker_asks_the_driver_for_each_reply_and_needs_no_key(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    manifest = await run_of_one_episode(folder)
    (record,) = records(folder)
    worker = Worker(manifest, folder, tmp_path)
    assert "process" in await worker.start()
    (call,), result = await play(worker, key_of(record).text, Reply(Message("assistant", "[40]")))
    assert call.messages[-1].role == "user"
    assert result.score == record["score"]
    assert (result.answer, result.exit_status) == (record["answer"], record["exit_status"])
    await worker.close()


async def test_a_failure_of_the_model_is_in_the_result(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    manifest = await run_of_one_episode(folder)
    (record,) = records(folder)
    worker = Worker(manifest, folder, tmp_path)
    await worker.start()
    _, result = await play(worker, key_of(record).text, ModelError("the server is down"))
    assert (result.exit_status, result.trajectory.error) == ("model_error", "the server is down")
    await worker.close()


async def test_a_worker_that_makes_another_plan_is_refused_with_the_difference(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    manifest = await run_of_one_episode(folder)
    manifest["fingerprint"]["tasks"]["count"] = 2
    worker = Worker(manifest, folder, tmp_path)
    with pytest.raises(RunLogError, match=r"makes another plan than this machine:\n  tasks\.count: 2 → 1"):
        await worker.start()
    await worker.close()
