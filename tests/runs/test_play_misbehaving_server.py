"""Whole runs against a server that misbehaves: every episode ends in a documented status, nothing is lost, and no model is
scored for the server's failures (reliability R11–R18).
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from graphwalk.models import wrappers
from graphwalk.types.chat import Reply
from graphwalk.types.episode import ExitStatus
from graphwalk.variables import Variables
from tests.models.misbehaviour import MODELS_FAULT, SERVERS_FAULT, drawn
from tests.models.server import Answer, ModelServer, Request, chat
from tests.models.test_openai_fuzz import BODIES, HEADERS, STATUSES
from tests.runs.runs import experiment, records, resume, start

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


@pytest.mark.parametrize("name", some(MODELS_FAULT, "hostile text", "huge integers", "broken arguments", "nothing"))
async def test_odd_replies_are_scored(tmp_path: Path, name: str) -> None:
    log = await played(tmp_path / "run", MODELS_FAULT[name], repeats=2, **{"limits.call_seconds": 30})
    assert len(log) == 2
    assert {record["exit_status"] for record in log} <= {"answered", "no_answer", "turn_limit"}
    assert all(record["score"] is not None for record in log)
    json.dumps(log).encode()


def nested(depth: int) -> Any:
    value: Any = "end"
    for level in range(depth):
        value = [value] if level % 2 else {"deeper": value}
    return value


async def test_an_unknown_field_is_kept_sent_back_and_resumed(tmp_path: Path) -> None:

    def respond(request: Request) -> Answer:
        if any(message["role"] == "tool" for message in request.body["messages"]):
            return Answer(chat('[{"count": 3}]'))
        body = chat(calls=[("think", {"thought": "hm"})])
        body["choices"][0]["message"]["unknown"] = nested(10)
        return Answer(body)

    async with ModelServer(respond) as server:
        variables = Variables({"LOCAL_BASE_URL": server.url})
        await start(tmp_path / "run", asked(), variables)
        (message,) = [m for m in server.requests[-1].body["messages"] if m["role"] == "assistant"]
        requests = len(server.requests)
        await resume(tmp_path / "run", variables)
    assert len(server.requests) == requests
    assert {record["exit_status"] for record in records(tmp_path / "run")} == {"answered"}
    assert message["unknown"] == nested(10)


async def test_a_reply_that_cannot_be_recorded_fails_its_episode_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its cause: the other episodes continue, and a resume tries again."""
    write, failing = wrappers.to_dict, True

    def to_dict(value: Any) -> dict[str, Any]:
        if failing and isinstance(value, Reply) and "[]" in (value.message.content or ""):
            raise ValueError("Maximum serialization depth exceeded")
        return write(value)

    monkeypatch.setattr(wrappers, "to_dict", to_dict)
    replies = iter(["[]", *['[{"count": 3}]'] * 20])
    async with ModelServer(lambda _: Answer(chat(next(replies)))) as server:
        variables = Variables({"LOCAL_BASE_URL": server.url})
        await start(tmp_path / "run", asked(**{"limits.max_concurrency": 1}), variables)
        statuses = [record["exit_status"] for record in records(tmp_path / "run")]
        assert statuses == ["model_error", "answered", "answered"]
        error = records(tmp_path / "run")[0]["trajectory"]["error"]
        assert error == "the reply cannot be recorded: ValueError: Maximum serialization depth exceeded"
        failing = False
        assert (await resume(tmp_path / "run", variables)).failed == 0


def thinker(request: Request) -> Answer:
    thought = any(message["role"] == "tool" for message in request.body["messages"])
    return Answer(chat('[{"count": 3}]') if thought else chat(calls=[("think", {"thought": "hm"})]))


@pytest.mark.extended
@pytest.mark.parametrize("share", [0.3, pytest.param(0.9, marks=pytest.mark.slow)])
async def test_a_run_through_a_storm_ends_as_an_undisturbed_one(
    tmp_path: Path, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrappers, "_LONGEST_WAIT", 4.0)  # a minute each makes it half an hour, and no harder
    draw = random.Random(5)
    scores: list[Any] = []
    limits = {"limits.retries": 20, "limits.call_seconds": 20, "limits.max_concurrency": 16, "repeats": 40}
    for name, part in (("calm", 0.0), ("storm", share)):

        def respond(request: Request, part: float = part) -> Answer:
            return drawn(draw, part, thinker(request))

        async with ModelServer(respond) as server:
            variables = Variables({"LOCAL_BASE_URL": server.url})
            await start(tmp_path / name, asked(**limits), variables)
            while any(record["score"] is None for record in last(tmp_path / name)):
                await resume(tmp_path / name, variables)
        scores.append(sorted((r["repeat"], r["exit_status"], json.dumps(r["score"])) for r in last(tmp_path / name)))
        assert server.served[200] >= 80
    assert len(scores[0]) == 40
    assert scores[0] == scores[1]


def last(folder: Path) -> list[dict[str, Any]]:
    """The last record of each episode."""
    return list({record["repeat"]: record for record in records(folder)}.values())


@pytest.mark.parametrize("runs", [1, pytest.param(100, marks=pytest.mark.slow)])
async def test_any_replies_end_in_a_documented_status(tmp_path: Path, runs: int) -> None:
    """Replies of any form are drawn beforehand, and served to all episodes of a run in turn."""
    answers: list[Answer] = []

    @hypothesis_settings(max_examples=40 * runs, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(body=BODIES, status=STATUSES, headers=HEADERS)
    def draw(body: bytes, status: int, headers: dict[str, str]) -> None:
        answers.append(Answer(body, status, headers))

    draw()
    served: list[int] = []
    begun: list[int] = []
    number = 0

    def respond(request: Request) -> Answer:
        # The first reply of a run is a good one: a model that never replied is soon left alone.
        answer = answers[len(served) % len(answers)] if begun else thinker(request)
        begun.append(number)
        served.append(answer.status)
        return answer

    async with ModelServer(respond, record=False) as server:
        for number in range(runs):
            begun.clear()
            folder = tmp_path / str(number)
            await start(
                folder,
                asked(**{"limits.retries": 0, "limits.max_concurrency": 1, "repeats": 20}),
                Variables({"LOCAL_BASE_URL": server.url}),
            )
            log = records(folder)
            assert len({record["repeat"] for record in log}) == 20
            for record in log:
                status = ExitStatus(record["exit_status"])
                assert status is not ExitStatus.BUDGET
                assert (record["score"] is None) == status.infrastructure
                # Who is scored has said something, or said too much.
                assert status.infrastructure or record["trajectory"]["turns"] or status is ExitStatus.CONTEXT_OVERFLOW
    assert served
