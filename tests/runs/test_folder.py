"""Damaged and repeated lines of a run folder: named, and nothing is lost or counted twice."""

import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphwalk.analysis.publishing import publish
from graphwalk.errors import RunLogError
from graphwalk.files.json_lines import decode_line
from graphwalk.models.wrappers import ReplyCache
from graphwalk.runs.folder import RunFolder
from graphwalk.sanitise import Secrets
from graphwalk.variables import Variables
from tests.forked_commands import graphwalk
from tests.models.server import Answer, ModelServer, chat
from tests.runs.runs import experiment, start


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two episodes with a scripted agent."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = graphwalk("run", "quickstart", "-m", "scripted/flawed", "--limit", 2, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


async def test_a_damaged_reply_is_refused_with_its_line(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    async with ModelServer(lambda _: Answer(chat("[]"))) as server:
        variables = Variables({"LOCAL_BASE_URL": server.url})
        await start(folder.path, experiment(models=["openai-api/local/m"], limit=2), variables)
        lines = folder.replies_path.read_bytes().splitlines(keepends=True)
        folder.replies_path.write_bytes(b"".join([lines[0].replace(b"assistant", b"assistanu"), *lines[1:]]))
        commands: list[Callable[[], object]] = [
            lambda: publish(folder, tmp_path / "early.zip", Secrets({})),
            lambda: ReplyCache(folder.replies_path),
        ]
        for command in commands:
            with pytest.raises(RunLogError, match=r"replies\.jsonl:1: the line is damaged"):
                command()


def test_two_results_of_one_episode_are_refused_with_their_lines(run: Path) -> None:
    log = run / "results.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    record = decode_line(lines[0])
    log.write_bytes(b"".join([*lines, lines[0]]))
    for command in ("report", "resume", "show"):
        done = graphwalk(command, run, *([record["task_id"]] if command == "show" else []))
        assert done.returncode == 3, (command, done.stdout)
        text = " ".join(done.stderr.split())
        assert f"results.jsonl:3: {record['task_id']}, scripted/flawed, tools, repeat 0 has a result in line 1" in text
    assert log.read_bytes() == b"".join([*lines, lines[0]])


@pytest.mark.parametrize("form", ["csv", pytest.param("parquet", marks=pytest.mark.extended)])
def test_a_full_disk_is_no_mistake_in_the_command(run: Path, tmp_path: Path, form: str) -> None:
    done = limited("export", form, str(run), "--out", str(tmp_path / "out"), size=100)
    assert (done.returncode, "free some space" in done.stderr) == (3, True), done.stderr


def test_a_full_disk_ends_a_resume_without_a_traceback(run: Path) -> None:
    log = run / "results.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:1]))
    done = limited("resume", str(run), size=(run / "run.log").stat().st_size)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert "Logging error" not in done.stderr
    assert "free some space" in done.stderr
    assert f"then  graphwalk resume {run}" in done.stderr


def limited(*words: str, size: int) -> "subprocess.CompletedProcess[str]":
    """Run a command on a disk that takes no file larger than `size` bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    command = [sys.executable, "-B", "-m", "graphwalk", *words]  # -B: the disk would take half of a compiled module
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)


def test_a_second_process_is_refused_at_once(run: Path) -> None:
    with RunFolder.open(run).lock():
        done = graphwalk("resume", run)
    assert (done.returncode, f"another process is working on {run}" in done.stderr) == (3, True), done.stderr
