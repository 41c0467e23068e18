"""Files that are there whole or not at all, on disks that are full and in folders that are not there."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphwalk.errors import ConfigError, RunLogError, StoreError
from graphwalk.files.json_lines import LineWriter, read_lines
from graphwalk.files.writing import is_scratch, write_whole


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """A disk that takes no file larger than `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_texts_are_written_as_they_are_and_nothing_else_stays(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.txt", ["one\r\n", "zwei ü\n"])
    write_whole(tmp_path / "a.txt", iter(["three\r\n", "vier ü"]))
    assert (tmp_path / "a.txt").read_bytes() == "three\r\nvier ü".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_private_files_and_the_folders_made_for_them_are_closed_to_others(tmp_path: Path) -> None:
    file = tmp_path / "home" / "secret"
    write_whole(file, ["x"], private=True, parents=True)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    write_whole(tmp_path / "a", ["x"])
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a")
    write_whole(tmp_path / "link", ["x"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "x"


def test_the_former_file_can_be_kept_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)
    for text in ("first", "second", "third"):
        write_whole(tmp_path / "a", [text], keep=tmp_path / "a.old")
    assert [(tmp_path / name).read_text() for name in ("a", "a.old")] == ["third", "second"]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("place", "cause", "next_step"),
    [
        ("missing/a", "there is no folder .*missing", "make the folder"),
        ("file/a", "Not a directory", "choose a place"),
        ("folder", "Is a directory", "name a file"),
        ("n" * 256, "name too long", "shorter name"),
        ("/dev/full", "No space left", "free some space"),
        ("/proc/graphwalk", "No such file", "another place"),
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


def test_a_failing_text_leaves_nothing(tmp_path: Path) -> None:
    def texts() -> Iterator[str]:
        yield "half"
        raise KeyError("texts")

    with pytest.raises(KeyError, match="texts"):
        write_whole(tmp_path / "a", texts())
    with pytest.raises(ConfigError, match="surrogates not allowed"):
        write_whole(tmp_path / "a", ["\ud800"])
    assert list(tmp_path.iterdir()) == []


_ENDLESS = """
import sys
from itertools import repeat
from pathlib import Path
from graphwalk.files.writing import write_whole
write_whole(Path(sys.argv[1]), repeat("x" * 1000))
"""


def test_files_of_a_killed_writer_are_removed_later(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with subprocess.Popen(
        [sys.executable, "-c", _ENDLESS, str(tmp_path / "a")], cwd=Path(__file__).parents[2]
    ) as writer:
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.01)
        writer.send_signal(signal.SIGKILL)
    assert (tmp_path / "a").read_text() == "old"
    (left,) = (path for path in tmp_path.iterdir() if is_scratch(path))
    write_whole(tmp_path / "a", ["new"])
    assert left.exists(), "a writer that is at work must keep its file"
    os.utime(left, (0, 0))
    write_whole(tmp_path / "a", ["newer"])
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_clock_that_jumps_takes_no_file_from_a_writer(tmp_path: Path) -> None:
    def parts() -> Iterator[str]:
        yield "whole"
        (held,) = (path for path in tmp_path.iterdir() if is_scratch(path))
        os.utime(held, (0, 0))
        write_whole(tmp_path / "other", ["x"])

    write_whole(tmp_path / "a", parts())
    assert (tmp_path / "a").read_text() == "whole"


def test_a_line_that_the_disk_did_not_take_leaves_no_torn_tail(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    writer = LineWriter(path)
    writer.append({"n": 1})
    with largest_file(path.stat().st_size + 10), pytest.raises(RunLogError, match="cannot be written") as raised:
        writer.append({"n": 2, "text": "x" * 100})
    assert "free some space" in raised.value.hint
    with pytest.raises(RunLogError, match="cannot be written"):
        writer.close()
    assert [record["n"] for record in read_lines(path)] == [1]
