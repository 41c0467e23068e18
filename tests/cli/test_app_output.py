"""Places and terminals that a command cannot write to as it would like: a cause and a code, never a traceback."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.integration.test_kills import command

RUN = ("run", "quickstart", "--graphs", "1", "--limit", "1", "--model", "scripted/expert", "--out")


@pytest.mark.extended
@pytest.mark.parametrize(
    ("words", "changed", "code", "said"),
    [
        ((*RUN, "ascii"), {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}, 0, "run folder: ascii"),
        ((*RUN, "x" * 300), {}, 3, "cannot be written: File name too long"),
        ((*RUN, "/proc/nope"), {}, 3, "/proc/nope cannot be written"),
    ],
)
def test_unwritable_output(
    words: tuple[str, ...], changed: dict[str, str], code: int, said: str, tmp_path: Path
) -> None:
    environment = {**os.environ, **changed}
    done = subprocess.run(command(*words), capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stderr


def test_a_full_disk_behind_stdout() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command("list", "questions"), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "No space left" in done.stderr) == (3, True), done.stderr
