"""`graphwalk view` of what is not a plain finished run: published, compressed, half done, or no run at all."""

import shutil
from pathlib import Path

import pytest

from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.serve.page import content_of
from tests.serve.page.conftest import RUNS, changed_run
from tests.serve.page.test_hostile import output_of


def test_a_published_run_beside_a_folder_of_runs(tmp_path: Path) -> None:
    shutil.copytree(RUNS / "mazes", tmp_path / "mazes")
    output_of("publish", str(tmp_path / "mazes"), "--out", str(tmp_path / "sent.zip"))
    changed_run("magma", tmp_path / "runs" / "mine", lambda record: record)
    output = output_of("view", str(tmp_path / "sent.zip"), str(tmp_path / "runs"), "--out", str(tmp_path / "both.html"))
    every = [content_of(RunFolder.open(RUNS / name)) for name in ("mazes", "magma")]
    assert f"{sum(len(run.episodes) for run in every)} episodes written" in output
    assert "sent and mine" in (tmp_path / "both.html").read_text()


def test_a_place_without_a_run_is_named_beside_others() -> None:
    with pytest.raises(AssertionError, match="nowhere"):
        output_of("view", str(RUNS / "mazes"), str(RUNS / "nowhere"), "--out", "x.html")
