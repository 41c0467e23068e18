"""A worker of a run with Ray, without Ray: its messages, and what it refuses. `make ray` plays whole runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import RunLogError
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.on_ray import Worker
from graphwalk.runs.record import Result, key_of
from graphwalk.variables import Variables
from tests.models.server import Answer, ModelServer, chat
from tests.runs.runs import experiment, records, start, without_time

MODEL = "openai-api/local/m"


async def run_of_one_episode(folder: Path, server: ModelServer) -> dict[str, Any]:
    """Play a run without Ray, and return its run.json; `.env` beside its folder has the address of the server."""
    (folder.parent / ".env").write_text(f"LOCAL_BASE_URL={server.url}\n")
    await start(folder, experiment(models=[MODEL], limit=1), Variables({"LOCAL_BASE_URL": server.url}))
    return RunFolder(folder).read_manifest()


async def test_a_worker_asks_before_its_call_and_hands_the_reply_over_before_the_result(tmp_path: Path) -> None:
    folder, worker, names = tmp_path / "run", Worker(), list[str]()
    async with ModelServer(lambda _: Answer(chat("[40]"))) as server:
        manifest = await run_of_one_episode(folder, server)
        (record,) = records(folder)
        await worker.start(json.dumps(manifest), str(folder), str(tmp_path))
        await worker.begin(0, key_of(record).text)
        while "result" not in names:
            for message in await worker.next_messages():
                name, arguments, number = json.loads(message)
                names.append(name)
                if number is not None:
                    # No reply is in the cache; the budget is not spent.
                    await worker.answer(number, json.dumps({"turn": False}.get(name)))
        await worker.close()
    assert names == ["read", "turn", "charge", "replied", "write", "result"]
    assert without_time(Result.from_dict(arguments[1]).as_dict()) == without_time(record)


async def test_a_worker_that_makes_another_plan_is_refused_with_the_difference(tmp_path: Path) -> None:
    folder, worker = tmp_path / "run", Worker()
    async with ModelServer(lambda _: Answer(chat("[40]"))) as server:
        manifest = await run_of_one_episode(folder, server)
        manifest["fingerprint"]["tasks"]["count"] = 2
        with pytest.raises(RunLogError, match=r"makes another plan than this machine:\n  tasks\.count: 2 → 1"):
            await worker.start(json.dumps(manifest), str(folder), str(tmp_path))
        await worker.close()
