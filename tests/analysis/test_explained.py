"""Explanations of results: made where someone reads them, kept in `analysis.jsonl`, and made again without loss."""

import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.report import report_of
from graphwalk.errors import ConfigError
from graphwalk.files.json_lines import decode_line, encode_line
from graphwalk.runs.folder import RunFolder
from graphwalk.suites.questions.report import QuestionExplanation, QuestionsAnalysis
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
    furthest = {row.model: row.figures["furthest"] for row in report_of(run).rows}
    assert furthest["scripted/expert"] == 1
    assert 0 <= furthest["scripted/random"] < 1


async def test_explanations_are_kept_and_made_again_without_loss(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = list(explained(run))
    content = kept(run).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(QuestionsAnalysis, "explain", lambda *arguments: pytest.fail("it was kept"))
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
    monkeypatch.setattr(QuestionsAnalysis, "version", 2)
    monkeypatch.setattr(QuestionsAnalysis, "explain", lambda *arguments: QuestionExplanation(repeated_calls=7))
    assert {record["score"]["repeated_calls"] for record in explained(run)} == {7}


async def test_explanations_of_another_run_are_made_again(run: RunFolder) -> None:
    first = list(explained(run))
    head, *lines = kept(run).read_bytes().splitlines(keepends=True)
    forged = [decode_line(line) for line in lines]
    for line in forged:
        line["explanation"]["grounded"] = 0.123
    kept(run).write_bytes(head + b"".join(map(encode_line, forged)))
    assert list(explained(run)) != first  # a file of this run is believed
    other = encode_line({**decode_line(head), "run_id": "another"})
    kept(run).write_bytes(other + b"".join(map(encode_line, forged)))
    assert list(explained(run)) == first


async def test_the_experts_figures_are_in_every_record_of_a_task(run: RunFolder) -> None:
    """Also in a failed try, which may be the first record of its task."""
    undisturbed = report_of(run).baselines

    def failed_first(log: list[dict[str, Any]]) -> None:
        log[:0] = [{**record, "score": None, "answer": None, "exit_status": "budget"} for record in log]

    rewrite(run.path, failed_first)
    kept(run).unlink()
    assert all(record["task"]["reference_calls"] > 0 for record in explained(run))
    assert report_of(run).baselines == undisturbed


async def test_a_failure_that_passes_is_not_kept(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    first = list(explained(run))
    for fails in ("the graph is away", "a walk fails", "the task cannot be read"):
        kept(run).unlink()
        with monkeypatch.context() as patch:
            if fails == "the graph is away":
                patch.setattr("graphwalk.analysis.explained.make_plan", AsyncMock(side_effect=ConfigError("away")))
            elif fails == "a walk fails":
                walks = AsyncMock(side_effect=[RuntimeError("once"), *[None] * 99])
                patch.setattr(QuestionsAnalysis, "reference", walks)
            else:
                nothing = QuestionExplanation(missing="evidence missing")
                patch.setattr(QuestionsAnalysis, "explain", lambda *arguments, nothing=nothing: nothing)
            assert list(explained(run)) != first
        assert list(explained(run)) == first


@pytest.mark.extended
def test_a_script_without_a_main_guard_reads_a_run_of_many_results(run: RunFolder, tmp_path: Path) -> None:
    """No process is started that would import the script again."""

    def many(log: list[dict[str, Any]]) -> None:
        log += [{**record, "repeat": repeat} for repeat in range(1, 60) for record in [*log]]

    rewrite(run.path, many)
    script = tmp_path / "script.py"
    script.write_text("import sys\nimport graphwalk\nprint(len(graphwalk.open_run(sys.argv[1]).records()))\n")
    done = subprocess.run([sys.executable, script, run.path], capture_output=True, text=True, check=False)
    assert (done.returncode, int(done.stdout)) == (0, len(list(run.records()))), done.stderr
    assert int(done.stdout) > 200
