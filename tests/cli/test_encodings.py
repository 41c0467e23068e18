"""Output of commands where stdout and stderr are not UTF-8, as in a pipe of Windows, or take nothing."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphwalk.terminal import prepare_streams
from tests.forked_commands import start, wait

ROOT = Path(__file__).parents[2]
RUN = ROOT / "tests" / "data" / "runs" / "questions"


def started(folder: Path, output: Path, *words: object, encoding: str) -> int:
    """Run a command whose output goes to a file that exists, and its errors to `folder`/stderr; return its exit code."""
    errors = folder / "stderr"
    errors.touch()
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "NO_COLOR": "1"}
    return wait(start(words, environment, ROOT, [Path("/dev/null"), output, errors]))


@pytest.mark.parametrize(
    "encoding", ["cp1252", *(pytest.param(name, marks=pytest.mark.extended) for name in ("ascii", "utf-8"))]
)
def test_a_table_in_a_pipe_is_utf_8(tmp_path: Path, encoding: str) -> None:
    output = tmp_path / "stdout"
    output.touch()
    assert started(tmp_path, output, "report", RUN, encoding=encoding) == 0
    table = output.read_text(encoding="utf-8")
    assert "──" in table
    assert "best constant answer" in table


def test_an_error_in_a_pipe_is_utf_8(tmp_path: Path) -> None:
    assert started(tmp_path, Path("/dev/null"), "report", "läufe/日本", encoding="ascii") == 3
    errors = (tmp_path / "stderr").read_text(encoding="utf-8")
    assert "läufe/日本" in errors
    assert "Traceback" not in errors


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [["report", RUN], ["list", "experiments"]])
def test_a_full_disk_under_the_output_is_one_message(tmp_path: Path, words: list[object]) -> None:
    assert started(tmp_path, Path("/dev/full"), *words, encoding="utf-8") == 3
    assert (tmp_path / "stderr").read_text() == (
        "error: the output cannot be written: the disk is full\n  try: free some space, or choose another disk\n"
    )


def test_a_reader_that_left_before_a_short_output_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "graphwalk", "list", "experiments"]
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (0, b"")


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_question_mark_for_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    stream = Terminal(written, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    prepare_streams()
    stream.write("Größe")
    stream.flush()
    assert written.getvalue() == b"Gr??e"


def test_a_stream_that_a_notebook_replaced_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    replaced = io.StringIO()
    monkeypatch.setattr(sys, "stdout", replaced)
    prepare_streams()
    assert sys.stdout is replaced


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_closed_stream_loses_its_output_and_nothing_else(tmp_path: Path, closed: str) -> None:
    command = f'exec "$0" -m graphwalk report "$1" {closed}'
    done = subprocess.run(["sh", "-c", command, sys.executable, RUN], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert (done.stdout == "") == (closed == ">&-")
    assert "Traceback" not in done.stderr
    assert "internal" not in done.stderr
