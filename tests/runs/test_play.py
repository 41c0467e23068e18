"""Whole runs in this process: what is logged, what a resume does, what it refuses."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from inspect import iscoroutinefunction
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from graphwalk.analysis.report.report import report_of
from graphwalk.errors import RunLogError
from graphwalk.models.chat import Reply
from graphwalk.models.registry import Guarded
from graphwalk.runs.experiment import AnyExperiment
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.play import resume_run, start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.record import Result
from graphwalk.runs.resolve import resolve
from graphwalk.stores.embedded import EmbeddedStore
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.variables import Variables
from tests.models.player import said
from tests.models.server import Answer, ModelServer, Request, chat, error
from tests.runs.runs import experiment, records, resume, start, without_time


async def test_every_planned_episode_is_logged_once(tmp_path: Path) -> None:
    summary = await start(tmp_path / "run", experiment())
    assert (summary.episodes, summary.finished, summary.failed) == (36, 36, 0)
    logged = Counter((r["task_id"], r["model"], r["setting"], r["repeat"]) for r in records(tmp_path / "run"))
    assert len(logged) == 36
    assert set(logged.values()) == {1}
    rows = {row.model: row for row in report_of(RunFolder.open(tmp_path / "run")).rows}
    assert rows["scripted/expert"].figures["accuracy"] == 100.0
    assert rows["scripted/random"].figures["accuracy"] < rows["scripted/expert"].figures["accuracy"]


async def test_results_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    for workers in (1, 8):
        await start(tmp_path / str(workers), experiment(**{"limits.max_concurrency": workers}))
    one, eight = (sorted(map(without_time, records(tmp_path / str(workers)))) for workers in (1, 8))
    assert one == eight


async def test_a_changed_configuration_is_refused_with_the_difference(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(limit=1))
    folder = RunFolder.open(tmp_path / "run")
    manifest = folder.read_manifest()
    changes = {"seed": 8, "models": ["scripted/random"], "limit": 2}
    folder.write_manifest({**manifest, "config": {**manifest["config"], **changes}})
    before = folder.results_path.read_bytes()
    with pytest.raises(RunLogError) as caught:
        await resume(tmp_path / "run")
    assert all(f"config.{field}" in str(caught.value) for field in changes)
    assert folder.results_path.read_bytes() == before


# A language model behind a real server.


def thinker(request: Request) -> Answer:
    """Thinks once, then answers with nothing."""
    thought = any(message["role"] == "tool" for message in request.body["messages"])
    return Answer(chat("[]") if thought else chat(calls=[("think", {"thought": "hm"})]))


def served(server: ModelServer, **more: str) -> Variables:
    return Variables({"LOCAL_BASE_URL": server.url, "LOCAL_API_KEY": "key-of-the-test", **more})


def local(**flags: Any) -> AnyExperiment:
    return experiment(models=["openai-api/local/m"], **flags)


class Interrupting(Progress):
    """A progress that cancels the run after four episodes."""

    task: asyncio.Task[Any]
    finished_episodes = 0

    def finished(self, result: Result) -> None:
        self.finished_episodes += 1
        if self.finished_episodes == 4:
            self.task.cancel()


async def test_no_reply_is_paid_for_twice_after_an_interruption(tmp_path: Path) -> None:
    progress = Interrupting()
    async with ModelServer(thinker) as server:
        progress.task = asyncio.ensure_future(start(tmp_path / "run", local(), served(server), progress))
        with pytest.raises(asyncio.CancelledError):
            await progress.task
        answered_before = len((tmp_path / "run" / "replies.jsonl").read_bytes().splitlines())
        assert 4 <= len(records(tmp_path / "run")) < 12
        begun = len(server.requests)
        summary = await resume(tmp_path / "run", served(server))
        assert summary.finished == 12
        assert len(server.requests) - begun == 24 - answered_before
        assert summary.usage.input_tokens == 240


async def test_failed_episodes_have_no_score_and_are_tried_again(tmp_path: Path) -> None:
    async with ModelServer(lambda request: error(400, "no such model")) as server:
        summary = await start(tmp_path / "run", local(), served(server))
        assert summary.finished == 0
        assert all(r["score"] is None and r["exit_status"] == "model_error" for r in records(tmp_path / "run"))
        server.respond = thinker
        summary = await resume(tmp_path / "run", served(server))
        assert (summary.finished, summary.failed) == (12, 0)
    row = report_of(RunFolder.open(tmp_path / "run")).rows[0]
    assert (row.figures["scored"], row.figures["infrastructure_failures"]) == (12, 0)


async def test_a_budget_stops_the_run_and_a_larger_one_finishes_it(tmp_path: Path) -> None:
    async with ModelServer(thinker) as server:
        limits = {"limits.budget_tokens": 100, "limits.max_concurrency": 2}
        summary = await start(tmp_path / "run", local(**limits), served(server))
        assert summary.budget_reached
        assert summary.finished < 12
        assert sum(len(r["trajectory"]["turns"]) * 15 for r in records(tmp_path / "run")) <= 100 + 2 * 15
        summary = await resume(tmp_path / "run", served(server), budget_tokens=10_000)
        assert (summary.finished, len(server.requests)) == (12, 24)


async def test_the_context_windows_that_servers_report_are_recorded(tmp_path: Path) -> None:
    async with ModelServer(thinker) as server:
        server.facts["/v1/models"] = Answer({"data": [{"id": "m", "max_model_len": 8192}]})
        models = ["openai-api/local/m", "openai-api/local/other", "scripted/expert"]
        await start(tmp_path / "run", experiment(models=models, limit=1), served(server))
        server.facts.clear()
        await resume(tmp_path / "run", served(server))
    assert RunFolder.open(tmp_path / "run").read_manifest()["context_tokens"] == {"openai-api/local/m": 8192}
    await start(tmp_path / "scripted", experiment(limit=1))
    assert "context_tokens" not in RunFolder.open(tmp_path / "scripted").read_manifest()


def reader(said: str, extracted: str) -> Any:
    def respond(request: Request) -> Answer:
        return Answer(chat(extracted if request.body["model"] == "reader" else said))

    return respond


@pytest.mark.parametrize(
    ("said", "extracted", "count", "stage", "lossy"),
    [
        ("There are three of them.", '[{"count": 3}]', 3, "model", False),
        ('{"count": 2} and {"count": 3}', '[{"count": 3}]', 3, "model", False),
        ('{"count": 2} and {"count": 3}', "null", 3, "bare", True),
        ('[{"count": 2}]', '[{"count": 3}]', 2, "strict", False),
    ],
)
async def test_the_extractor_is_asked_where_a_reading_is_lossy(
    tmp_path: Path, said: str, extracted: str, count: int, stage: str, lossy: bool | None
) -> None:
    async with ModelServer(reader(said, extracted)) as server:
        flags = {"suite.questions": ["node_count"], "extractor": "openai-api/local/reader"}
        summary = await start(tmp_path / "run", local(**flags), served(server))
        calls = [request.body["model"] for request in server.requests].count("reader")
    (record,) = records(tmp_path / "run")
    score = record["score"]
    assert (record["answer"], score["extraction_stage"], score.get("lossy")) == ([{"count": count}], stage, lossy)
    assert calls == (stage != "strict")
    assert summary.usage.input_tokens == 10 * (1 + calls)
    notes = [note for note in report_of(RunFolder(tmp_path / "run")).notes if note.startswith("Ambiguous: 1 answer;")]
    assert len(notes) == bool(lossy)


async def test_the_call_of_the_extractor_ends_at_the_deadline_of_its_episode(tmp_path: Path) -> None:
    """The episode has no score; a resume asks the extractor alone."""
    plain = reader("There are three of them.", '[{"count": 3}]')

    def slow(request: Request) -> Answer:
        return replace(plain(request), delay=60.0 if request.body["model"] == "reader" else 0.0)

    async with ModelServer(slow) as server:
        flags = {"suite.questions": ["node_count"], "extractor": "openai-api/local/reader"}
        limits = {"limits.episode_seconds": 6, "limits.retries": 0}
        await start(tmp_path / "run", local(**flags, **limits), served(server))
        (failed,) = records(tmp_path / "run")
        assert (failed["exit_status"], failed["score"]) == ("model_error", None)
        assert "deadline of the episode" in failed["trajectory"]["error"]
        server.respond = plain
        server.requests.clear()
        assert (await resume(tmp_path / "run", served(server))).finished == 1
    assert [request.body["model"] for request in server.requests] == ["reader"]


DEFECT = "a defect in the code of a user"


def failing_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function or method that raises at its first call."""
    calls = count()

    def checked() -> None:
        if next(calls) == 0:
            raise RuntimeError(DEFECT)

    async def awaited(*args: Any, **named: Any) -> Any:
        checked()
        return await function(*args, **named)

    def called(*args: Any, **named: Any) -> Any:
        checked()
        return function(*args, **named)

    return awaited if iscoroutinefunction(function) else called


class OwnModel:
    """A model object of a user."""

    name = "own"

    async def complete(self, messages: Any, tools: Any, options: Any) -> Reply:
        return said("[]")


class OwnCallback(BaseCallbackHandler):
    """A handler of LangChain whose errors are raised."""

    raise_error = True

    def on_chain_start(self, *args: Any, **named: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("owner", "method"),
    [
        (GraphToolbox, "call"),
        (EmbeddedStore, "first"),
        (QuestionTask, "prompt"),
        (QuestionTask, "read"),
        (QuestionTask, "score"),
        (OwnModel, "complete"),
        (OwnCallback, "on_chain_start"),
        (Progress, "finished"),
    ],
    ids=lambda part: part if isinstance(part, str) else part.__name__,
)
async def test_an_unexpected_error_ends_a_call_or_an_episode_and_never_the_run(
    owner: Any, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Breaking(Progress):
        """Breaks a part of the run when it is planned."""

        def started(self, episodes: int, done: int) -> None:
            monkeypatch.setattr(owner, method, failing_once(getattr(owner, method)))

    model = "own" if owner is OwnModel else "scripted/expert"
    config = experiment(models=[model], limit=3, **{"limits.max_concurrency": 1})
    variables = Variables(callbacks=[OwnCallback()] if owner is OwnCallback else [])
    objects = {"own": Guarded(OwnModel(), variables, "own")}
    resolved = resolve(config, variables, objects=objects)
    summary = await start_run(resolved, NewRun.make("run", tmp_path / "run"), Breaking())
    assert summary.episodes == len(records(tmp_path / "run")) == 3
    assert DEFECT in (tmp_path / "run" / "run.log").read_text(encoding="utf-8")
    failed = [record for record in records(tmp_path / "run") if record["score"] is None]
    assert len(failed) == summary.failed <= 1
    assert all(record["trajectory"]["turns"] for record in failed if method in ("read", "score")), "what was paid for"
    summary = await resume_run(RunFolder.open(tmp_path / "run"), variables, Progress(), objects=objects)
    assert (summary.finished, summary.failed) == (3, 0)


async def test_a_result_that_cannot_be_written_fails_its_episode_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Result.as_dict

    def as_dict(result: Result) -> dict[str, Any]:
        if result.trajectory.turns and result.key.repeat == 1:
            raise ValueError("Maximum serialization depth exceeded")
        return write(result)

    monkeypatch.setattr(Result, "as_dict", as_dict)
    config = experiment(models=["scripted/expert"], limit=1, repeats=3, **{"limits.max_concurrency": 1})
    assert (await start(tmp_path / "run", config)).failed == 1
    failed = records(tmp_path / "run")[1]
    error = "unexpected error: ValueError: Maximum serialization depth exceeded"
    assert (failed["exit_status"], failed["trajectory"]["error"]) == ("model_error", error)
    assert "Traceback" in (tmp_path / "run" / "run.log").read_text()
    monkeypatch.undo()
    assert (await resume(tmp_path / "run")).failed == 0
