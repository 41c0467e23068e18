"""`graphwalk view`: mistakes are named before anything is served or written."""

import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from graphwalk.cli.app import app
from graphwalk.errors import ConfigError, GraphwalkError

RUN = Path(__file__).parents[1] / "data" / "runs" / "questions"


def view(*words: object) -> Any:
    return CliRunner().invoke(app, ["view", *map(str, words)])


@pytest.fixture
def two_runs(tmp_path: Path) -> tuple[Path, Path]:
    first = shutil.copytree(RUN, tmp_path / "here" / "first")
    return first, shutil.copytree(RUN, tmp_path / "there" / "second")


@pytest.mark.parametrize("words", [(RUN.parent / "magma",), ("--task", "x")])
def test_only_a_file_has_several_folders_or_chosen_episodes(
    two_runs: tuple[Path, Path], words: tuple[object, ...]
) -> None:
    refused = view(two_runs[0], *words)
    assert isinstance(refused.exception, ConfigError)
    assert "--out FILE.html" in str(refused.exception.hint)


def test_only_pages_are_written(two_runs: tuple[Path, Path], tmp_path: Path) -> None:
    refused = view(two_runs[0], "--out", tmp_path / "one.svg")
    assert "one.svg: unsupported format; expected .html" in str(refused.exception)
    assert not (tmp_path / "one.svg").exists()


def test_a_page_without_plots_says_what_they_need(
    two_runs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "matplotlib" not in view(two_runs[0], "--out", tmp_path / "with.html").stderr
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    written = view(two_runs[0], "--out", tmp_path / "without.html")
    assert written.exit_code == 0
    assert "tables in place of plots, which need matplotlib:  pip install -e '.[plots]'" in written.stderr


def test_episodes_that_are_not_there_are_named(two_runs: tuple[Path, Path]) -> None:
    refused = view(two_runs[0], "--task", "no-such-task", "--out", "x.html")
    assert isinstance(refused.exception, GraphwalkError)
    assert "no-such-task" in str(refused.exception)


def test_a_port_in_use_is_named(two_runs: tuple[Path, Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        refused = view(two_runs[0], "--port", port)
    assert isinstance(refused.exception, ConfigError)
    assert f"cannot open port {port}" in str(refused.exception)
