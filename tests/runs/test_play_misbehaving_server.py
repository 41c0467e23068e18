"""Whole runs against a server that misbehaves: every episode ends in a documented status, nothing is lost, and no model is
scored for the server's failures.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from graphwalk.models.trajectory import ExitStatus
from graphwalk.variables import Variables
from tests.models.misbehaviour import MODELS_FAULT, SERVERS_FAULT
from tests.models.server import Answer, ModelServer, chat
from tests.models.test_openai_fuzz import BODIES, HEADERS, STATUSES
from tests.runs.runs import experiment, records, start

FAST = {"limits.retries": 1, "limits.call_seconds": 0.5, "limits.max_concurrency": 4, "limits.pause_seconds": 5}


def asked(**flags: Any) -> Any:
    """One task, so that the plan is made fast, and many episodes of it."""
    one = {"suite.questions": ["node_count"], "repeats": 3, "agent.turn_limit": 3}
    return experiment(models=["openai-api/local/m"], **{**FAST, **one, **flags})


def some(faults: dict[str, Answer], *names: str) -> list[Any]:
    """Return all faults; those without a name here are left to `make test-all`."""
    return [pytest.param(name, marks=() if name in names else pytest.mark.extended) for name in faults]


async def played(folder: Path, answer: Answer, **flags: Any) -> list[dict[str, Any]]:
    async with ModelServer(lambda _: answer, record=False) as server:
        await start(folder, asked(**flags), Variables({"LOCAL_BASE_URL": server.url}))
    return records(folder)


@pytest.mark.parametrize(
    "name", some(SERVERS_FAULT, "no JSON", "half a body", "silent", "storm", "overloaded", "refusal")
)
async def test_server_failures_have_no_score(tmp_path: Path, name: str) -> None:
    log = await played(tmp_path / "run", SERVERS_FAULT[name])
    assert len(log) == 3
    assert {record["exit_status"] for record in log} == {"model_error"}
    assert all(record["score"] is None and record["trajectory"]["error"] for record in log)
    assert all(record["trajectory"]["error"].isprintable() for record in log)


@pytest.mark.parametrize(
    "name", some(MODELS_FAULT, "hostile text", "huge integers", "broken arguments", "arguments of 2 MB", "nothing")
)
async def test_odd_replies_are_scored(tmp_path: Path, name: str) -> None:
    log = await played(tmp_path / "run", MODELS_FAULT[name], repeats=2, **{"limits.call_seconds": 30})
    assert len(log) == 2
    ends = {record["exit_status"]: record["trajectory"].get("error") for record in log}
    assert ends.keys() <= {"answered", "no_answer", "turn_limit"}, ends
    assert all(record["score"] is not None for record in log)
    json.dumps(log).encode()


async def test_any_replies_end_in_a_documented_status(tmp_path: Path) -> None:
    """Replies of any form are drawn beforehand, and served to all episodes of a run in turn."""
    answers: list[Answer] = []

    @hypothesis_settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(body=BODIES, status=STATUSES, headers=HEADERS)
    def draw(body: bytes, status: int, headers: dict[str, str]) -> None:
        answers.append(Answer(body, status, headers))

    draw()
    # The first reply is a good one: a model that never replied is soon left alone.
    replies = iter([Answer(chat(calls=[("think", {"thought": "hm"})])), *answers])

    async with ModelServer(lambda _: next(replies, answers[0]), record=False) as server:
        config = asked(**{"limits.retries": 0, "limits.max_concurrency": 1, "repeats": 20})
        await start(tmp_path / "run", config, Variables({"LOCAL_BASE_URL": server.url}))
    log = records(tmp_path / "run")
    assert len({record["repeat"] for record in log}) == 20
    for record in log:
        status = ExitStatus(record["exit_status"])
        assert (record["score"] is None) == status.infrastructure
        # Who is scored has said something, or said too much.
        assert status.infrastructure or record["trajectory"]["turns"] or status is ExitStatus.CONTEXT_OVERFLOW
