"""Explanations of results: made where someone reads them, kept in `analysis.jsonl`, and made again without loss."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.report import report_of
from graphwalk.analysis.suites import questions
from graphwalk.runs.folder import RunFolder
from tests.runs.runs import experiment, rewrite, start

FIELDS = {"models": ["scripted/expert", "scripted/random"], "suite.questions": ["node_count", "path_finding"]}
EXPLAINED = {"grounded", "error_class", "repeated_calls", "tool_errors", "missing"}


@pytest.fixture
async def run(tmp_path: Path) -> RunFolder:
    await start(tmp_path / "run", experiment(**FIELDS, **{"scoring.steps": True}))
    return RunFolder.open(tmp_path / "run")


def kept(run: RunFolder) -> Path:
    return run.path / "analysis.jsonl"


async def test_a_run_that_is_not_read_pays_for_no_explanation(run: RunFolder) -> None:
    assert not kept(run).exists()
    assert all(not EXPLAINED & record["score"].keys() for record in run.records())
    for record in explained(run):
        assert record["score"].keys() >= EXPLAINED
        assert len(record["potentials"]) == record["turns"] + 1
        assert record["task"]["reference_calls"] > 0
        if record["model"] == "scripted/expert":
            assert record["task"]["reference_calls"] == record["tool_calls"]
            assert record["score"]["grounded"] == record["potentials"][-1] == 1
        else:
            assert (record["score"]["error_class"] is None) == record["score"]["correct"]
    furthest = {row["model"]: row["furthest"] for row in report_of(run).rows}
    assert furthest["scripted/expert"] == 1
    assert 0 <= furthest["scripted/random"] < 1


async def test_explanations_are_kept_and_made_again_without_loss(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = list(explained(run))
    content = kept(run).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(questions.Analysis, "explain", lambda *arguments: pytest.fail("it was kept"))
        assert list(explained(run)) == first
    for damage in (content[: len(content) // 2], b"no JSON\n", b""):
        kept(run).write_bytes(damage)
        assert list(explained(run)) == first
        assert kept(run).read_bytes() == content
    kept(run).unlink()
    assert list(explained(run)) == first


async def test_an_explanation_of_another_result_or_of_other_code_is_made_again(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    list(explained(run))

    def unread(log: list[dict[str, Any]]) -> None:
        for record in log:
            record["answer"], record["score"]["correct"] = None, False

    rewrite(run.path, unread)
    assert {record["score"]["error_class"] for record in explained(run)} <= {"wrong_form", "unreadable"}
    monkeypatch.setattr("graphwalk.analysis.explained.code_digest", lambda: "other code")
    list(explained(run))
    assert json.loads(kept(run).read_bytes().splitlines()[0])["code"] == "other code"
