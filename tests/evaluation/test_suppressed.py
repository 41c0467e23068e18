"""An error in a comment on a result: the result is logged, and the comment is named as missing."""

from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.reporting import report_of
from graphwalk.analysis.rescore import rescore_run
from graphwalk.evaluation.suppressed import suppressed
from graphwalk.reports.formats import as_text
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.suites.questions import score
from tests.runs.runs import experiment, records, resume, start


@pytest.fixture(autouse=True)
def as_for_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHWALK_STRICT")


def fail(*arguments: Any, **named: Any) -> Any:
    raise TypeError("Object of type Temporal is not JSON serializable")


async def test_a_failing_evaluator_costs_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score, "supported_rows", fail)
    folder = tmp_path / "run"
    config = experiment(models=["scripted/random", "scripted/expert"])
    summary = await start(folder, config)
    assert (summary.finished, summary.failed) == (summary.episodes, 0)
    before = records(folder)
    missing = [record["score"].get("missing") for record in before]
    assert set(missing) == {"evidence missing: TypeError"}
    log = (folder / "run.log").read_text()
    assert "Traceback" in log
    assert "Object of type Temporal is not JSON serializable" in log
    assert (await resume(folder)).finished == summary.episodes
    assert records(folder) == before

    note = f"{len(missing)} results with evidence missing: TypeError."
    assert note in " ".join(as_text(report_of(RunFolder.open(folder)), explain=True).split())

    monkeypatch.undo()  # the error is mended
    assert rescore_run(RunFolder.open(folder)) == (len(missing), len(before))
    assert all(record["score"].get("error_class") for record in records(folder) if not record["score"]["correct"])


def test_an_error_is_raised_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    with suppressed("plot", notes.append):
        fail()
    assert notes == ["plot missing: TypeError"]
    monkeypatch.setenv("GRAPHWALK_STRICT", "1")
    with pytest.raises(TypeError), suppressed("plot", notes.append):
        fail()
