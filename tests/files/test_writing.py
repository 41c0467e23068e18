"""Files that are there whole or not at all, on disks that are full and in folders that are not there."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphwalk.errors import ConfigError, RunLogError, StoreError
from graphwalk.files.json_lines import LineWriter, TornTailWarning, read_lines
from graphwalk.files.writing import make_folder, write_whole


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """A disk that takes no file larger than `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_private_files_and_folders_are_closed_to_others(tmp_path: Path) -> None:
    file = tmp_path / "home" / "secret"
    make_folder(file.parent, private=True)
    write_whole(file, ["x"], private=True)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    write_whole(tmp_path / "a", ["x"])
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


@pytest.mark.parametrize(
    ("place", "cause", "next_step"),
    [
        ("missing/a", "there is no folder .*missing", "make the folder"),
        ("file/a", "Not a directory", "choose a place"),
        ("folder", "Is a directory", "choose a place"),
        ("/dev/full", "No space left", "free some space"),
    ],
)
def test_write_failures_are_errors(tmp_path: Path, place: str, cause: str, next_step: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    kind = StoreError if place == "/dev/full" else ConfigError  # exit code 3: the environment, not the command
    with pytest.raises(kind, match=f"cannot be written: .*{cause}") as raised:
        write_whole(tmp_path / place, ["x"])
    assert next_step in raised.value.hint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", ["old"])
    with largest_file(1000), pytest.raises(StoreError, match="cannot be written") as raised:
        write_whole(tmp_path / "a", ("0123456789" for _ in range(100_000)))
    assert "free some space" in raised.value.hint
    assert (tmp_path / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_content_is_synced_before_it_replaces_the_file_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut the old or the new content is there, whole."""
    path, order = tmp_path / "a", list[tuple[str, str]]()
    path.write_text("old")
    replace = os.replace

    def fsync(number: int) -> None:
        place = Path(f"/proc/self/fd/{number}").readlink()
        order.append(("sync", place.read_text() if place.is_file() else str(place)))

    def replaced(source: Path, target: Path) -> None:
        order.append(("replace", target.read_text()))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replaced)
    write_whole(path, ["new"])
    assert order == [("sync", "new"), ("replace", "old"), ("sync", str(tmp_path))]


def test_a_line_that_the_disk_did_not_take_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    writer = LineWriter(path)
    writer.append({"n": 1})
    with largest_file(path.stat().st_size + 10), pytest.raises(RunLogError, match="cannot be written") as raised:
        writer.append({"n": 2, "text": "x" * 100})
    assert "free some space" in raised.value.hint
    with pytest.raises(RunLogError, match="cannot be written"):
        writer.close()
    with pytest.warns(TornTailWarning, match="line 2"):
        assert [record["n"] for record in read_lines(path)] == [1]
