"""People at a terminal: completion, and a place in the report beside the models."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphwalk.models.openai_servers import server_of
from graphwalk.runs.listing import list_runs
from graphwalk.runs.reporting import report_of
from graphwalk.runs.run_folder import RunFolder
from graphwalk.settings import Settings
from tests.cli.test_commands import graphwalk
from tests.runs.runs import experiment, records, resume, start


async def test_a_person_stands_in_the_report_beside_the_models(tmp_path: Path) -> None:
    run = tmp_path / "run"
    await start(run, experiment(models=["scripted/expert"], limit=3, **{"limits.max_concurrency": 1}))
    first = next(r for r in records(run))
    typed = f"answer {json.dumps(first['task']['gold'])}\n\nthink thought=hm\nanswer [1]\nquit\n"
    done = graphwalk("play", run, "--name", "ida", typed=typed)
    assert done.returncode == 0, done.stderr
    assert "correct: " in done.stdout
    rows = {row["model"]: row for row in report_of(RunFolder.open(run)).rows}
    assert set(rows) == {"scripted/expert", "human/ida"}
    assert (rows["human/ida"]["questions"], rows["human/ida"]["correct"]) == (2, 1)
    (listed,) = list_runs(run)
    assert (listed.state, listed.done, listed.episodes) == ("finished", 3, 3)
    assert report_of(RunFolder.open(run)).incomplete is None
    assert (await resume(run)).finished == 3
    assert "verified: no difference" in graphwalk("verify", run).stderr
    # Going on begins with the task that is left.
    again = graphwalk("play", run, "--name", "ida", typed="answer [2]\n")
    assert again.returncode == 0, again.stderr
    assert sum(r["model"] == "human/ida" for r in records(run)) == 3


def test_a_new_run_of_a_persons_own(tmp_path: Path) -> None:
    words = ("play", "magma", "--algorithm", "bfs", "--nodes", 5, "--name", "bo")
    done = graphwalk(*words, typed="no idea\nquit\n", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert [record["model"] for record in records(folder)] == ["human/bo"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("magma", "--name", "a/b"), "expected letters, digits, dots and dashes"),
        (("ask", "--name", "a"), "graphwalk ask"),
        (("run",), "a run folder requires --name"),
        (("run", "--name", "a", "--setting", "x"), "has no setting 'x'"),
    ],
)
async def test_mistakes_are_told(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=1))
    done = graphwalk("play", *words, folder=tmp_path, typed="")
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


async def test_no_key_of_the_models_is_needed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    await start(run, experiment(models=["scripted/expert"], limit=1))
    folder = RunFolder.open(run)
    manifest = folder.read_manifest()
    for config in (manifest["config"], manifest["fingerprint"]["config"]):
        config["models"] = ["openai/gpt-4.1"]
    manifest["fingerprint"]["servers"] = {"openai/gpt-4.1": server_of("openai/gpt-4.1", Settings({}))}
    manifest["prices"] = {}
    folder.write_manifest(manifest)
    folder.results_file.unlink()
    done = graphwalk("play", run, "--name", "ida", typed="answer []\nquit\n")
    assert done.returncode == 0, done.stderr
    assert [record["model"] for record in records(run)] == ["human/ida"]
    (listed,) = list_runs(run)
    assert (listed.state, listed.done, listed.models) == ("not finished", 0, ("openai/gpt-4.1", "human/ida"))


READY = r"help or quit\?.*\x1b\[\?2004h"
"""The question, and after it the line that is edited; what is typed before that is not completed."""


class Terminal:
    """A process at a pseudo-terminal of 80 by 20."""

    def __init__(self, folder: Path, *words: object) -> None:
        self._master, slave = pty.openpty()
        import fcntl
        import struct
        import termios

        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 80, 0, 0))
        command = [sys.executable, "-m", "graphwalk", *map(str, words)]
        settings = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=settings, start_new_session=True
        )
        os.close(slave)
        self.shown = ""

    def until(self, pattern: str, seconds: float = 60) -> str:
        """What was shown since the last time, up to the moment when it has the pattern."""
        end, new = time.monotonic() + seconds, ""
        while not re.search(pattern, new, re.DOTALL):
            assert time.monotonic() < end, f"no {pattern!r} in {self.shown[-3000:]!r}"
            if select.select([self._master], [], [], 0.2)[0]:
                try:
                    new += os.read(self._master, 65536).decode("utf-8", "replace")
                except OSError:
                    break
                self.shown += new
        return new

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path, "play", "graph", "--preset", "paper-100", "--questions", "[node_count]", "--seed", 3)
    yield opened
    opened.close()


def test_completion_and_an_answer_at_a_real_terminal(terminal: Terminal) -> None:
    terminal.until(READY)
    for begun, rest in (("get_uni", "que_property_values"), (" entity_t", "ype")):
        terminal.type(f"{begun}\t")
        terminal.until(rest)
    terminal.type("=node\r")
    assert "get_unique_property_values" in terminal.until(READY), "the message about the arguments that lack"
    terminal.type("help\r")
    assert "call a tool" in terminal.until(READY)
    terminal.type("answer [1]\r")
    told = terminal.until("target:")
    assert re.search(r"incorrect|no answer", told)
    assert terminal.process.wait(20) == 0


def test_ctrl_c_ends_the_game_in_order(terminal: Terminal) -> None:
    terminal.until(READY)
    terminal.type("\x03")
    assert terminal.process.wait(20) == 130
