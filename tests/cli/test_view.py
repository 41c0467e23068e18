"""`graphwalk view`: one file, beside the first run or where `--out` names it, opened from a terminal."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from graphwalk.cli.app import app

RUN = Path(__file__).parents[1] / "data" / "runs" / "questions"


def view(*words: object) -> Any:
    return CliRunner().invoke(app, ["view", *map(str, words)])


@pytest.fixture
def two_runs(tmp_path: Path) -> tuple[Path, Path]:
    first = shutil.copytree(RUN, tmp_path / "here" / "first")
    return first, shutil.copytree(RUN, tmp_path / "there" / "second")


def test_the_default_file_is_beside_the_first_run(two_runs: tuple[Path, Path]) -> None:
    written = view(*two_runs)
    assert written.exit_code == 0, written.exception
    page = two_runs[0].with_name("first.html")
    assert written.stdout.strip() == str(page)
    assert "first and second" in page.read_text()


@pytest.mark.parametrize("from_terminal", [True, False])
def test_a_browser_is_opened_only_from_a_terminal(
    two_runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, from_terminal: bool
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("graphwalk.cli.view.stdout", lambda: SimpleNamespace(is_terminal=from_terminal))
    assert view(two_runs[0]).exit_code == 0
    assert opened == ([two_runs[0].with_name("first.html").as_uri()] if from_terminal else [])


def test_a_page_without_plots_says_what_they_need(
    two_runs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "matplotlib" not in view(two_runs[0], "--out", tmp_path / "with.html").stderr
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    written = view(two_runs[0], "--out", tmp_path / "without.html")
    assert written.exit_code == 0
    assert "no plots, which need matplotlib:  pip install -e '.[plots]'" in written.stderr
