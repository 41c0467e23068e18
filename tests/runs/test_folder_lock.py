"""A run folder belongs to the process that holds its lock, and is removed only by the process that made it."""

import os
import shutil
from pathlib import Path
from typing import Any

import filelock
import pytest

from graphwalk.errors import ConfigError, RunLogError
from graphwalk.files.json_lines import LineWriter
from graphwalk.files.writing import new_file
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.published import _remove

MANIFEST = {"schema_version": 1}


def fail_to_plan(new: NewRun) -> None:
    with pytest.raises(ConfigError, match="no plan"), new.begin():  # noqa: PT012
        new.folder.log_path.write_text("planning")
        raise ConfigError("no plan")


def test_a_run_that_is_not_planned_leaves_no_folder(tmp_path: Path) -> None:
    fail_to_plan(NewRun.make("run", tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_folder_that_the_user_made_is_not_removed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    number = folder.stat().st_ino
    fail_to_plan(NewRun.make("run", folder))
    assert folder.stat().st_ino == number
    with NewRun.make("run", folder).begin():  # what a failed start left is no run
        pass


def test_a_file_of_the_user_is_not_removed(tmp_path: Path) -> None:
    new = NewRun.make("run", tmp_path / "run")
    with pytest.raises(ConfigError), new.begin():  # noqa: PT012
        (tmp_path / "run" / "notes.txt").write_text("mine")
        raise ConfigError("no plan")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["notes.txt"]


def test_a_second_and_a_third_run_remove_nothing_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "run"
    first, second = NewRun.make("run", path), NewRun.make("run", path)
    with first.begin():
        number = path.stat().st_ino
        for other in (second, NewRun.make("run", path)):
            with pytest.raises(RunLogError, match="another process is working on"), other.begin():
                pytest.fail("two processes have begun")
        assert path.stat().st_ino == number
        first.folder.write_manifest(MANIFEST)
    with pytest.raises(RunLogError, match="already contains a run"), second.begin():
        pytest.fail("it wrote into the run of another process")
    assert first.folder.read_manifest() == MANIFEST


def test_a_folder_that_was_removed_and_made_again_belongs_to_its_new_run(tmp_path: Path) -> None:
    path = tmp_path / "run"
    first, second = NewRun.make("run", path), NewRun.make("run", path)
    with pytest.raises(RunLogError, match="removed or replaced"), first.begin():  # noqa: PT012
        shutil.rmtree(path)
        begun = second.begin()
        begun.__enter__()
        first.folder.write_manifest(MANIFEST)
    assert (path / "run.lock").exists()
    with pytest.raises(RunLogError, match="another process"), NewRun.make("run", path).begin():
        pytest.fail("the lock of the second run is gone")
    second.folder.write_manifest(MANIFEST)
    begun.__exit__(None, None, None)
    assert second.folder.read_manifest() == MANIFEST


def test_a_folder_that_was_removed_while_a_run_is_planned_is_not_written(tmp_path: Path) -> None:
    new = NewRun.make("run", tmp_path / "run")
    with pytest.raises(RunLogError, match="removed or replaced"), new.begin():  # noqa: PT012
        shutil.rmtree(tmp_path / "run")
        new.folder.write_manifest(MANIFEST)
    assert not (tmp_path / "run").exists()


def test_the_lock_of_a_removed_file_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = filelock.FileLock.acquire

    def late(lock: Any, *arguments: Any) -> Any:
        """Another process removes the folder between the opening of the lock and its acquisition."""
        Path(lock.lock_file).unlink()
        return real(lock, *arguments)

    monkeypatch.setattr(filelock.FileLock, "acquire", late)
    with pytest.raises(RunLogError, match="removed or replaced"), RunFolder(tmp_path).lock():
        pytest.fail("it holds the lock of a file that is gone")


def test_a_log_that_was_removed_stops_its_run(tmp_path: Path) -> None:
    writer = LineWriter(tmp_path / "log")
    writer.append({"number": 1})
    (tmp_path / "log").unlink()
    with pytest.raises(RunLogError, match="removed while it was written"):
        writer.sync()
    with pytest.raises(RunLogError, match="removed while it was written"):
        writer.append({"number": 2})


def test_two_writers_of_one_file_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with new_file(path) as first:
        first.write(b"first" * 1000)
        with new_file(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first" * 1000
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_forked_process_leaves_the_unpacked_run_of_its_parent(tmp_path: Path) -> None:
    _remove(tmp_path, os.getpid() + 1)
    assert tmp_path.exists()
    _remove(tmp_path, os.getpid())
    assert not tmp_path.exists()
