"""Runs by the protocol `json`: played, resumed and verified."""

import json
from pathlib import Path
from typing import Any

from graphwalk.analysis.verify import verify_run
from graphwalk.runs.folder import RunFolder
from tests.models.server import Answer, ModelServer, Request, allows, chat, error, schema_of
from tests.runs.runs import NOTHING_SET, records, resume, start, without_time
from tests.runs.test_play import local, served

JSON: dict[str, Any] = {
    "agent.tool_format": "json",
    "suite.graphs.*.nodes": 20,
    "suite.questions": ["node_count", "node_by_property"],
    "agent.turn_limit": 4,
    "limits.retries": 0,
}
THOUGHT = {"calls": [{"tool": "think", "arguments": {"thought": "hm"}}]}


def walker(request: Request) -> Answer:
    """Is cut off once, thinks once, and answers. Writes nothing that the schema does not allow."""
    heard = [message["content"] for message in request.body["messages"] if message["role"] == "assistant"]
    if "tools" in request.body:
        return error(418, "native tools beside response_format")
    if not heard:
        return Answer(chat(json.dumps(THOUGHT)[:-9], reason="length"))
    reply = THOUGHT if len(heard) == 1 else {"thought": "Nothing.", "answer": []}
    if not allows(schema_of(request.body), reply):
        return error(418, f"the schema does not allow {reply}")
    return Answer(chat(json.dumps(reply)))


async def test_a_run_is_played_verified_and_resumed(tmp_path: Path) -> None:
    run, config = tmp_path / "run", local(**JSON)
    async with ModelServer(walker) as server:
        await start(run, config, served(server))
        played = records(run)
        straight = sorted(map(without_time, played))
        assert len(played) == 2
        for record in played:
            assert record["exit_status"] == "answered", record
            turns = record["trajectory"]["turns"]
            errors = [[result.get("error") for result in turn.get("results", ())] for turn in turns]
            assert errors == [["cut_off"], [None], []]
            last = turns[-1]["message"]
            assert (last["content"], last["reasoning"]) == ("[]", "Nothing.")
        log = run / "results.jsonl"
        log.write_bytes(log.read_bytes().splitlines(keepends=True)[0])
        requests = len(server.requests)
        await resume(run, served(server))
        assert len(server.requests) == requests  # the replies are in the cache
        assert sorted(map(without_time, records(run))) == straight
    verification = await verify_run(RunFolder.open(run), NOTHING_SET)
    assert verification.holds, verification.as_json()
    assert verification.checks["tool results"].verified == 4
