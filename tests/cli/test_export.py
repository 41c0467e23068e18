"""`graphwalk export`: traces of runs, the check of their splits, and formats of other packages."""

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from graphwalk.cli.app import app


def export(*words: object) -> Any:
    return CliRunner().invoke(app, ["export", *map(str, words)])


def test_traces_of_a_run_are_counted_and_splits_of_one_graph_are_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ("run", "quickstart", "--graphs", "1", "--limit", "4", "-m", "scripted/expert", "-m", "scripted/flawed")
    assert CliRunner().invoke(app, [*words, "--out", str(run)]).exit_code == 0
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    written = export("traces", run, "--out", first, "--correct", "-m", "scripted/expert")
    assert written.exit_code == 0, written.output
    assert f"{len(first.read_text().splitlines())} chats written to {first}" in " ".join(written.output.split())
    assert export("traces", run, "--out", second, "-m", "scripted/flawed").exit_code == 0
    refused = export("check-splits", first, second)
    assert refused.exit_code != 0
    assert "share" in str(refused.exception) + refused.output
