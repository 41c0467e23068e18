"""Runs of models whose servers want state back: it is logged, and survives kill, resume, verify, replay and rescore."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.rescore import rescore_run
from graphwalk.analysis.verify import verify_run
from graphwalk.runs.experiment import AnyExperiment
from graphwalk.runs.folder import RunFolder
from tests.models.stateful_servers import (
    SERVERS,
    SIGNED,
    TURNS,
    StatefulServer,
)
from tests.runs.runs import experiment, records, resume, start

EPISODES = 3
FAST = {"limits.retries": 0, "limits.max_concurrency": 2}


@pytest.fixture(params=["Chat", pytest.param("Responses", marks=pytest.mark.extended)])
def server(request: pytest.FixtureRequest) -> StatefulServer:
    """One server for each API."""
    return SERVERS[request.param]()


def asked(server: StatefulServer, **flags: Any) -> AnyExperiment:
    """One task, so that the plan is made fast, and several episodes of it."""
    fields = {"suite.questions": ["node_count"], "repeats": EPISODES, **FAST}
    return experiment(models=[server.spec], **{**fields, **flags})


def last(folder: Path) -> list[dict[str, Any]]:
    """The last record of each episode, in order."""
    outcome = {record["repeat"]: record for record in records(folder)}
    return [outcome[repeat] for repeat in sorted(outcome)]


def statuses(folder: Path) -> set[str]:
    return {record["exit_status"] for record in last(folder)}


def states(folder: Path) -> list[list[Any]]:
    """Return the state in each of the model's messages, by episode."""
    by_episode = []
    for record in last(folder):
        turns = record["trajectory"]["turns"]
        by_episode.append([turn["message"].get("provider_state") for turn in turns])
    return by_episode


def received(folder: Path) -> list[str]:
    """The states in the reply cache, sorted."""
    texts = []
    for line in (folder / "replies.jsonl").read_bytes().splitlines():
        message = json.loads(line)["reply"]["message"]
        texts.append(json.dumps(message.get("provider_state"), sort_keys=True))
    return sorted(texts)


async def test_a_run_is_answered_verified_and_rescored(server: StatefulServer, tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with server.serving() as settings:
        await start(run, asked(server), settings)
        assert statuses(run) == {"answered"}
        assert (server.replies, server.refusals) == (EPISODES * TURNS, [])
        assert [len(episode) for episode in states(run)] == [TURNS] * EPISODES
        assert all(SIGNED in json.dumps(state, sort_keys=True) for episode in states(run) for state in episode)
        assert received(run) == sorted(
            json.dumps(state, sort_keys=True) for episode in states(run) for state in episode
        )
        verification = await verify_run(RunFolder.open(run), settings)
        assert verification.holds, verification.error
    assert server.replies == EPISODES * TURNS, "verify calls nothing"

    before = states(run)
    assert rescore_run(RunFolder.open(run)) == (0, EPISODES)
    assert states(run) == before


def lose_replies(run: Path) -> int:
    """Remove the results and the last replies: the server accepts a state that was read from the cache."""
    (run / "results.jsonl").write_bytes(b"")
    replies, lost = run / "replies.jsonl", EPISODES + 1
    lines = replies.read_bytes().splitlines(keepends=True)
    replies.write_bytes(b"".join(lines[:-lost]) + lines[-lost][:100])
    return lost


@pytest.mark.filterwarnings("ignore::graphwalk.files.json_lines.TornTailWarning")
async def test_a_run_with_lost_replies_resumes_with_calls_for_these_only(
    server: StatefulServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    async with server.serving() as settings:
        await start(run, asked(server), settings)
        lost = lose_replies(run)
        await resume(run, settings)
        assert (server.replies, server.refusals) == (EPISODES * TURNS + lost, [])
        assert statuses(run) == {"answered"}
