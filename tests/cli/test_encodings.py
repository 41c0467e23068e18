"""Output of commands where stdout and stderr are not UTF-8, as in a pipe of Windows, or take nothing."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphwalk.terminal import accept_any_text

RUN = Path(__file__).parents[1] / "data" / "runs" / "questions"


@pytest.mark.parametrize(
    "encoding", ["cp1252", *(pytest.param(name, marks=pytest.mark.extended) for name in ("ascii", "utf-8"))]
)
def test_a_table_in_a_pipe_is_utf_8(encoding: str) -> None:
    command = [sys.executable, "-m", "graphwalk", "report", RUN]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "NO_COLOR": "1"}
    ended = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr
    table = ended.stdout.decode("utf-8")
    assert "──" in table
    assert "best constant answer" in table


def test_an_error_in_a_pipe_is_utf_8() -> None:
    command = [sys.executable, "-m", "graphwalk", "report", "läufe/日本"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert ended.returncode == 3
    assert "läufe/日本" in ended.stderr.decode("utf-8")
    assert b"Traceback" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [["report", str(RUN)], ["list", "experiments"]])
def test_a_full_disk_under_the_output_is_one_message(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "graphwalk", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 3
    assert ended.stderr == (
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
    accept_any_text()
    stream.write("Größe")
    stream.flush()
    assert written.getvalue() == b"Gr??e"


def test_a_stream_that_a_notebook_replaced_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    replaced = io.StringIO()
    monkeypatch.setattr(sys, "stdout", replaced)
    accept_any_text()
    assert sys.stdout is replaced
