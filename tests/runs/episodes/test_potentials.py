"""Potentials in the log of a run: written only where asked for, recomputed by verify, kept by all that rewrites a log."""

from pathlib import Path

import pytest

from graphwalk.analysis.publishing import publish
from graphwalk.analysis.reporting import report_of
from graphwalk.analysis.rescore import rescore_run
from graphwalk.analysis.verify import verify_run
from graphwalk.runs.folder.run_folder import NewRun, RunFolder
from graphwalk.runs.playing.shards import merge_runs
from graphwalk.sanitise import Secrets
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.variables import Variables
from tests.analysis.test_rescore import rewritten
from tests.runs.runs import experiment, records, resume, start, without_time

Values = dict[tuple[str, str], list[float]]
FIELDS = {"models": ["scripted/expert", "scripted/random"], "suite.questions": ["node_count", "path_finding"]}


def potentials_in(folder: Path) -> Values:
    return {(record["task_id"], record["model"]): record["potentials"] for record in records(folder)}


@pytest.fixture
async def run(tmp_path: Path) -> RunFolder:
    await start(tmp_path / "run", experiment(**FIELDS, **{"scoring.steps": True}))
    return RunFolder.open(tmp_path / "run")


async def test_only_runs_with_steps_have_potentials_and_nothing_else_differs(run: RunFolder, tmp_path: Path) -> None:
    await start(tmp_path / "plain", experiment(**FIELDS))
    plain = records(tmp_path / "plain")
    assert {record["potentials"] for record in plain} == {None}
    for record in (with_steps := records(run.path)):
        assert len(record["potentials"]) == record["turns"] + 1
    without = [{**record, "potentials": None} for record in with_steps]
    assert sorted(map(without_time, without)) == sorted(map(without_time, plain))
    furthest = {row["model"]: row["furthest"] for row in report_of(run).rows}
    assert furthest["scripted/expert"] == 1
    assert 0 <= furthest["scripted/random"] < 1
    assert report_of(RunFolder.open(tmp_path / "plain")).rows[0]["furthest"] is None


async def test_verify_computes_potentials_again(run: RunFolder) -> None:
    assert (await verify_run(run, Variables())).holds
    rewritten(run, lambda record: {**record, "potentials": [0.5, *record["potentials"][1:]]})
    checks = (await verify_run(run, Variables())).checks
    assert {name for name, check in checks.items() if check.differing} == {"scores"}
    assert "potentials" in checks["scores"].differing[0]


async def test_potentials_survive_resume_rescore_publish_and_merge(run: RunFolder, tmp_path: Path) -> None:
    before = potentials_in(run.path)
    publish(run, tmp_path / "run.zip", Secrets({}))
    assert potentials_in(tmp_path / "run.zip") == before
    new = NewRun.make("quickstart", tmp_path / "merged")
    merge_runs([run], new)
    assert potentials_in(new.folder.path) == before
    rewritten(run, lambda record: {**record, "potentials": None})
    rescore_run(run)
    assert potentials_in(run.path) == before
    log = run.path / "results.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:2]))
    assert (await resume(run.path)).finished == len(before)
    assert potentials_in(run.path) == before


async def test_a_failure_to_compute_potentials_costs_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(task: QuestionTask, trajectory: object) -> float:
        raise ZeroDivisionError

    monkeypatch.setattr(QuestionTask, "potential", fails)
    monkeypatch.delenv("GRAPHWALK_STRICT", raising=False)
    await start(tmp_path / "run", experiment(**FIELDS, **{"scoring.steps": True}))
    for record in records(tmp_path / "run"):
        assert record["potentials"] is None
        assert "potentials missing: ZeroDivisionError" in record["score"]["missing"]
        assert record["score"]["correct"] or record["model"] != "scripted/expert"
