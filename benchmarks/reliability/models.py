"""Servers of models that misbehave, hang, storm and cost money (R11 to R18)."""

import asyncio
import random
import time
from functools import partial
from pathlib import Path

from benchmarks.reliability.row import Row
from graphwalk.config.calls import Limits
from graphwalk.models.openai_servers import openai_api
from graphwalk.settings import Settings
from graphwalk.types.chat import CallOptions
from graphwalk.types.episode import ExitStatus
from tests.models.misbehaviour import MODELS_FAULT, SERVERS_FAULT, drawn
from tests.models.player import ASK, in_run
from tests.models.server import Answer, ModelServer, Request, chat
from tests.models.test_deadline import HANGING
from tests.runs.runs import experiment, records, resume, start
from tests.runs.test_misbehaving_server import asked, last, played, thinker


async def misbehaviour(folder: Path, number: int) -> Row:
    """Every way to misbehave, in so many runs of three episodes each."""
    kinds = {**SERVERS_FAULT, **MODELS_FAULT}
    lost = wrong = 0
    for turn in range(number):
        for name, answer in kinds.items():
            found = await played(folder / f"{name}-{turn}".replace(" ", "-"), answer)
            statuses = [ExitStatus(record["exit_status"]) for record in found]
            lost += 3 - len(found)
            wrong += sum(
                (record["score"] is None) != s.infrastructure for record, s in zip(found, statuses, strict=True)
            )
            wrong += sum(not status.infrastructure for status in statuses) if name in SERVERS_FAULT else 0
    note = f"{len(SERVERS_FAULT)} ways of servers, {len(MODELS_FAULT)} of models"
    return Row(3 * number * len(kinds), number * len(kinds), lost, 0, wrong, note)


async def storms(folder: Path, number: int) -> Row:
    """A run of which most requests fail in some way that may pass has the scores of a calm one."""
    draw, scores, faults = random.Random(5), [], 0
    limits = {"limits.retries": 20, "limits.call_seconds": 20, "limits.max_concurrency": 16, "repeats": number}
    for name, share in (("calm", 0.0), ("storm", 0.7)):

        def respond(request: Request, share: float = share) -> Answer:
            nonlocal faults
            good = thinker(request)
            answer = drawn(draw, share, good)
            faults += answer is not good
            return answer

        async with ModelServer(respond, record=False) as server:
            settings = Settings({"LOCAL_BASE_URL": server.url})
            await start(folder / name, asked(**limits), settings)
            while any(record["score"] is None for record in last(folder / name)):
                await resume(folder / name, settings)
        scores.append({r["repeat"]: (r["exit_status"], r["score"]) for r in last(folder / name)})
    calm, storm = scores
    changed = sum(storm.get(repeat) not in (None, score) for repeat, score in calm.items())
    return Row(number, faults, number - len(storm), 0, changed, "70 % of the requests failed")


async def budgets(folder: Path, number: int) -> Row:
    """A run with 64 in flight, of which every call costs a tenth of a cent."""
    over, cents = 0, 20
    for turn in range(number):

        def respond(request: Request) -> Answer:
            usage = {"prompt_tokens": 40, "completion_tokens": 6, "cost": 0.001}
            return Answer(chat(calls=[("think", {"thought": "x"})], usage=usage), delay=0.02)

        async with ModelServer(respond) as server:
            limits = {"limits.max_concurrency": 64, "limits.budget_usd": cents / 100, "repeats": 30}
            priced = {"prices": {"openai-api/local/m": {"input": 10.0, "output": 100.0}}}
            config = experiment(
                models=["openai-api/local/m"], **{"suite.questions": ["node_count"], **limits, **priced}
            )
            await start(folder / str(turn), config, Settings({"LOCAL_BASE_URL": server.url}))
            over = max(over, len(server.requests) - cents * 10)
    note = f"{cents * 10} calls paid for, at most {max(0, over)} over"
    return Row(number * cents * 10, number, changed=int(over > 64), note=note)


async def hanging(folder: Path, number: int) -> Row:
    """Servers that are silent, drip, stop half-way or never end: the deadline of 0.4 s, and what stays open."""
    latest, left = 0.0, 0
    for answer in list(HANGING.values()) * number:
        async with ModelServer(partial(_always, answer)) as server:
            model = openai_api("local/m", Settings({"LOCAL_BASE_URL": server.url}))
            called = in_run(model, Limits(call_seconds=0.4, retries=0))
            begun = time.perf_counter()
            calls = [called.complete(ASK, (), CallOptions()) for _ in range(4)]
            await asyncio.gather(*calls, return_exceptions=True)
            latest = max(latest, time.perf_counter() - begun - 0.4)
            for _ in range(100):
                await asyncio.sleep(0.01 if server.connections else 0)
            left += server.connections
            await model.close()
    tries = 4 * number * len(HANGING)
    note = f"{latest:.2f} s late at most, {left} connections left"
    return Row(tries, tries, changed=int(latest > 1) + left, note=note)


def _always(answer: Answer, _: Request) -> Answer:
    return answer


async def hostile_answers(folder: Path, number: int) -> Row:
    """Episodes that are full of control characters, lone surrogates and huge integers are read back as they were."""
    await played(folder / "run", MODELS_FAULT["hostile text"], repeats=number)
    found = records(folder / "run")
    said = {record["trajectory"]["turns"][0]["message"]["content"] for record in found}
    whole = chat_text(MODELS_FAULT["hostile text"])
    return Row(number, number, number - len(found), 0, int(said != {whole}), "the text is read back as it was sent")


def chat_text(answer: Answer) -> str:
    return str(answer.body["choices"][0]["message"]["content"])
