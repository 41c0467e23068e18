"""A flush to disk that fails ends the run, and a resume completes it."""

import errno
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from graphwalk.cli.app import app
from graphwalk.errors import RunLogError
from graphwalk.runs.folder.run_folder import RunFolder


class FailingFlush:
    """An `os.fsync` that fails for one file from its first call on, and records the size of the file then."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.size, self._fsync = path, -1, os.fsync
        monkeypatch.setattr(os, "fsync", self)

    def __call__(self, number: int) -> None:
        if self.path.exists() and os.path.samestat(os.fstat(number), self.path.stat()):
            assert self.size < 0, "a second flush would succeed without the lost lines"
            self.size = os.fstat(number).st_size
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._fsync(number)


def test_the_command_ends_with_the_resume_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["run", "quickstart", "--graphs", "1", "--limit", "4", "--out", str(tmp_path / "run")]
    with monkeypatch.context() as patched:
        FailingFlush(tmp_path / "run" / "results.jsonl", patched)
        ended = CliRunner().invoke(app, words)
    assert isinstance(ended.exception, RunLogError)
    assert ended.exception.exit_code == 3
    assert ended.exception.hint.endswith(f"then  graphwalk resume {tmp_path / 'run'}")
    assert RunFolder.open(tmp_path / "run").results_path.exists(), "results are compressed after their flush only"
    assert CliRunner().invoke(app, ["resume", str(tmp_path / "run")]).exit_code == 0
