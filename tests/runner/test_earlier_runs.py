"""Run folders that an earlier version wrote: reported, scored again, and gone on with where everything comes out the same."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from graphwalk.environment import Environment
from graphwalk.errors import RunLogError
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.fingerprint import FORMAT
from graphwalk.runner.progress import Silent
from graphwalk.runner.reporting import report_of
from graphwalk.runner.rescore import rescore_run
from graphwalk.runner.run import resume_run
from graphwalk.runner.tally import RunSummary

EARLIER = Path(__file__).parents[1] / "data" / "runs"
SUITES = ("questions", "mazes", "magma")
SAME_TASKS = ("mazes", "magma")
"""Suites whose tasks are drawn today as they were then."""
COUNTED = ("par_input_tokens", "par_output_tokens")
"""Fields of a task that decide nothing."""


def earlier(suite: str, tmp_path: Path, keep: int | None = None) -> RunFolder:
    """A copy of an earlier run, cut after so many episodes."""
    folder = Path(shutil.copytree(EARLIER / suite, tmp_path / suite))
    lines = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "results.jsonl").write_bytes(b"".join(lines[:keep]))
    return RunFolder.open(folder)


async def resume(folder: RunFolder) -> RunSummary:
    return await resume_run(folder, Environment(), Silent())


def change(folder: RunFolder, *path: Any, value: Any) -> None:
    manifest = folder.read_manifest()
    *way, last = path
    place: Any = manifest
    for step in way:
        place = place[step]
    place[last] = value
    folder.write_manifest(manifest)


def outcomes(folder: RunFolder) -> dict[str, Any]:
    """What was said, read and scored in every episode; times differ."""

    def untimed(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: untimed(item)
                for key, item in value.items()
                if key not in ("seconds", "elapsed_in_tools", "crc32", "run_id", "conditions", *COUNTED)
            }
        return [untimed(item) for item in value] if isinstance(value, list) else value

    return {f"{r['task_id']} {r['model']} {r['setting']}": untimed(r) for r in folder.records()}


@pytest.mark.parametrize("suite", SAME_TASKS)
async def test_it_goes_on_and_ends_as_it_did(suite: str, tmp_path: Path) -> None:
    whole = earlier(suite, tmp_path / "whole")
    rescore_run(whole)  # what supports an answer is judged otherwise since then
    folder = earlier(suite, tmp_path, keep=3)
    rescore_run(folder)
    summary = await resume(folder)
    assert summary.finished == summary.episodes
    assert outcomes(folder) == outcomes(whole)
    assert folder.read_manifest()["fingerprint"]["format"] == FORMAT
    assert (await resume(folder)).finished == summary.episodes


@pytest.mark.parametrize("suite", SUITES)
async def test_it_is_reported_and_scored_again(suite: str, tmp_path: Path) -> None:
    folder = earlier(suite, tmp_path)
    rows = report_of(folder).rows
    assert {row["model"] for row in rows} == set(folder.read_manifest()["config"]["models"])
    changed, total = rescore_run(folder)
    assert total == len(outcomes(folder))
    assert (changed > 0) == (suite == "questions")
    now = report_of(folder).rows
    same = ("model", "correct", "f1", "tool_calls", "unreadable", "no_answer")
    assert [[row.get(name) for name in same] for row in now] == [[row.get(name) for name in same] for row in rows]
    assert rescore_run(folder) == (0, total)
    if suite in SAME_TASKS:
        assert (await resume(folder)).finished == total


async def test_questions_that_are_drawn_in_another_way_do_not_go_on(tmp_path: Path) -> None:
    folder = earlier("questions", tmp_path, keep=3)
    before = folder.results_path.read_bytes()
    with pytest.raises(RunLogError, match=r"tasks\.sha256") as caught:
        await resume(folder)
    assert "start a new run" in caught.value.hint
    assert folder.results_path.read_bytes() == before


def test_scores_of_an_earlier_version_are_noted_until_they_are_scored_again(tmp_path: Path) -> None:
    folder = earlier("questions", tmp_path)
    assert any("graphwalk rescore" in note for note in report_of(folder).notes)
    rescore_run(folder)
    assert not any("graphwalk rescore" in note for note in report_of(folder).notes)


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("fingerprint", "tasks", "sha256"), "0" * 64, "tasks.sha256"),
        (("fingerprint", "config", "seed"), 6, "config.seed: 6 → 5"),
        (("fingerprint", "graphs", 0, "digest"), "0" * 64, "graphs.0.digest"),
        (("config", "agent", "encoding"), "csv", "config.agent.encoding"),
    ],
)
async def test_what_has_changed_is_refused(path: tuple[Any, ...], value: Any, reason: str, tmp_path: Path) -> None:
    folder = earlier("questions", tmp_path, keep=3)
    change(folder, *path, value=value)
    before = folder.results_path.read_bytes()
    with pytest.raises(RunLogError) as caught:
        await resume(folder)
    assert reason in str(caught.value)
    assert folder.results_path.read_bytes() == before


async def test_a_field_that_only_one_version_knows_is_no_change(tmp_path: Path) -> None:
    folder = earlier("mazes", tmp_path, keep=1)
    change(folder, "fingerprint", "config", "forgotten", value=1)
    assert (await resume(folder)).finished == 4


def rewrite(folder: RunFolder, change_record: Any) -> None:
    records = [{key: value for key, value in record.items() if key != "crc32"} for record in folder.records()]
    folder.results_path.unlink()
    writer = folder.results_writer()
    for record in records:
        change_record(record)
        writer.append(record)
    writer.close()


async def test_another_prompt_is_refused(tmp_path: Path) -> None:
    def other_prompt(record: dict[str, Any]) -> None:
        record["trajectory"]["prompt"][0]["content"] += " Please."

    folder = earlier("magma", tmp_path, keep=2)
    rewrite(folder, other_prompt)
    with pytest.raises(RunLogError, match="another prompt") as caught:
        await resume(folder)
    assert "start a new run" in caught.value.hint


async def test_another_score_is_refused_until_it_is_scored_again(tmp_path: Path) -> None:
    def other_score(record: dict[str, Any]) -> None:
        record["score"]["f1"] = 0.123

    folder = earlier("mazes", tmp_path, keep=2)
    rewrite(folder, other_score)
    with pytest.raises(RunLogError, match="another score") as caught:
        await resume(folder)
    assert "graphwalk rescore" in caught.value.hint
    assert rescore_run(folder) == (2, 2)
    assert (await resume(folder)).finished == 4
    whole = earlier("mazes", tmp_path / "whole")
    rescore_run(whole)
    assert outcomes(folder) == json.loads(json.dumps(outcomes(whole)))
