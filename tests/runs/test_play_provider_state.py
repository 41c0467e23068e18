"""Runs of models whose servers want state back: it is logged, and survives kill, resume, verify, replay and rescore."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.rescore import rescore_run
from graphwalk.analysis.verify import verify_run
from graphwalk.runs.experiment import AnyExperiment
from graphwalk.runs.folder import RunFolder
from graphwalk.variables import Variables
from tests.models.stateful_servers import (
    SERVERS,
    SIGNED,
    TURNS,
    StatefulServer,
)
from tests.runs.runs import experiment, records, resume, start

EPISODES = 3
FAST = {"limits.retries": 0, "limits.max_concurrency": 2}


@pytest.fixture(
    params=["Chat", *(pytest.param(name, marks=pytest.mark.extended) for name in ("Responses", "Anthropic"))]
)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> StatefulServer:
    """One server for each API."""
    if request.param == "Anthropic":
        pytest.importorskip("langchain_anthropic")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    return SERVERS[request.param]()


def asked(server: StatefulServer, **flags: Any) -> AnyExperiment:
    """One task, so that the plan is made fast, and several episodes of it."""
    one = {"suite.questions": ["node_count"], "repeats": EPISODES}
    arguments = {server.spec: server.arguments} if server.arguments else {}
    return experiment(models=[server.spec], model_arguments=arguments, **{**FAST, **one, **flags})


def last(folder: Path) -> list[dict[str, Any]]:
    """The last record of each episode, in order."""
    outcome = {record["repeat"]: record for record in records(folder)}
    return [outcome[repeat] for repeat in sorted(outcome)]


def statuses(folder: Path) -> set[str]:
    return {record["exit_status"] for record in last(folder)}


def messages(folder: Path) -> list[list[dict[str, Any]]]:
    """Return the model's messages, by episode."""
    return [[turn["message"] for turn in record["trajectory"]["turns"]] for record in last(folder)]


def states(folder: Path) -> list[list[Any]]:
    return [[message.get("provider_state") for message in episode] for episode in messages(folder)]


def received(folder: Path) -> list[str]:
    """The states in the reply cache, sorted."""
    lines = (folder / "replies.jsonl").read_bytes().splitlines()
    return sorted(
        json.dumps(json.loads(line)["reply"]["message"].get("provider_state"), sort_keys=True) for line in lines
    )


async def check_verified(folder: Path, variables: Variables, replies: int = EPISODES * TURNS) -> None:
    outcome = await verify_run(RunFolder.open(folder), variables)
    assert outcome.error is None, outcome.error
    unverified = {reason for check in outcome.checks.values() for reason in check.unverified}
    assert unverified <= {"ended by a failure of provider or store"}
    assert outcome.checks["replies"].verified >= replies


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
        await check_verified(run, settings)
    assert server.replies == EPISODES * TURNS, "verify calls nothing"

    before = states(run)
    assert rescore_run(RunFolder.open(run)) == (0, EPISODES)
    assert states(run) == before


def torn_results(run: Path) -> int:
    """Cut the log after its first line, as a kill does; return the number of lost replies."""
    lines = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
    (run / "results.jsonl").write_bytes(b"".join(lines[:1]) + lines[1][:200])
    return 0


def lost_replies(run: Path) -> int:
    """Remove the results and the last replies: the server accepts a state that was read from the cache."""
    (run / "results.jsonl").write_bytes(b"")
    replies, lost = run / "replies.jsonl", EPISODES + 1
    lines = replies.read_bytes().splitlines(keepends=True)
    replies.write_bytes(b"".join(lines[:-lost]) + lines[-lost][:100])
    return lost


@pytest.mark.filterwarnings("ignore::graphwalk.files.json_lines.TornTailWarning")
@pytest.mark.parametrize("damage", [pytest.param(torn_results, marks=pytest.mark.extended), lost_replies])
async def test_a_damaged_run_resumes_with_calls_for_lost_replies_only(
    server: StatefulServer, tmp_path: Path, damage: Callable[[Path], int]
) -> None:
    run = tmp_path / "run"
    async with server.serving() as settings:
        await start(run, asked(server), settings)
        whole = messages(run)
        lost = damage(run)
        await resume(run, settings)
        assert (server.replies, server.refusals) == (EPISODES * TURNS + lost, [])
        assert statuses(run) == {"answered"}
        if not lost:
            assert messages(run) == whole
            await check_verified(run, settings)


@pytest.mark.extended
async def test_a_run_whose_server_closed_resumes_without_a_second_call(server: StatefulServer, tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with server.serving() as settings:
        server.closes_after = TURNS + 2
        await start(run, asked(server), settings)
        assert "model_error" in statuses(run)
        server.closes_after = None
        await resume(run, settings)
        assert statuses(run) == {"answered"}
        assert (server.replies, server.refusals) == (EPISODES * TURNS, [])
        await check_verified(run, settings)
