"""Damaged and repeated lines of a run folder: named, and nothing is lost or counted twice."""

import errno
import fcntl
import gzip
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from graphwalk.errors import RunLogError
from graphwalk.files.json_lines import decode_line, encode_line
from graphwalk.models.reply_cache import ReplyCache
from graphwalk.runs.finished.publishing import publish
from graphwalk.runs.finished.reporting import report_of
from graphwalk.runs.folder.listing import list_runs
from graphwalk.runs.folder.run_folder import NewRun, RepeatedLinesWarning, RunFolder
from graphwalk.runs.playing.shards import merge_runs
from graphwalk.sanitise import Secrets
from graphwalk.variables import Variables
from tests.commands import graphwalk
from tests.models.server import Answer, ModelServer, chat
from tests.runs.runs import experiment, plain_log, records, resume, start


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
            lambda: merge_runs([folder], NewRun.make("merged", tmp_path / "merged")),
            lambda: ReplyCache(folder.replies_path),
        ]
        for command in commands:
            with pytest.raises(RunLogError, match=r"replies\.jsonl:1: the line is damaged"):
                command()


def doubled(folder: Path) -> None:
    log = plain_log(folder)
    log.write_bytes(log.read_bytes() * 2)


def doubled_gzip(folder: Path) -> None:
    log = folder / "results.jsonl.gz"
    log.write_bytes(log.read_bytes() * 2)
    assert len(gzip.decompress(log.read_bytes()).splitlines()) == 4


@pytest.mark.parametrize("repeat", [doubled, doubled_gzip])
def test_lines_that_repeat_earlier_ones_are_named_and_left_out(run: Path, repeat: Any) -> None:
    before = report_of(RunFolder(run)).rows
    first = records(run)[0]
    repeat(run)
    with pytest.warns(
        RepeatedLinesWarning, match=f"2 repeated lines left out: line 3 repeats line 1 .{first['task_id']}"
    ):
        assert report_of(RunFolder(run)).rows == before
    for command in ("report", "resume"):
        done = graphwalk(command, run)
        assert done.returncode == 0
        assert "results.jsonl: 2 repeated lines left out: line 3 repeats line 1" in " ".join(done.stderr.split())


def test_two_results_of_one_episode_are_refused_with_their_lines(run: Path) -> None:
    log = plain_log(run)
    lines = log.read_bytes().splitlines(keepends=True)
    record = decode_line(lines[0])
    other = encode_line({**record, "score": {**record["score"], "correct": not record["score"]["correct"]}})
    log.write_bytes(b"".join([*lines, other]))
    for command in ("report", "resume", "show"):
        done = graphwalk(command, run, *([record["task_id"]] if command == "show" else []))
        assert done.returncode == 3, (command, done.stdout)
        text = " ".join(done.stderr.split())
        assert f"results.jsonl:3: another result of {record['task_id']}, scripted/flawed, tools, repeat 0" in text
        assert "which line 1 has" in text
    assert log.read_bytes() == b"".join([*lines, other])


async def test_a_failed_try_before_the_result_is_no_repetition(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    answers = iter([Answer({"error": {"message": "no"}}, status=400)])
    async with ModelServer(lambda _: next(answers, Answer(chat("[]")))) as server:
        variables = Variables({"LOCAL_BASE_URL": server.url})
        config = experiment(models=["openai-api/local/m"], limit=2, **{"limits.max_concurrency": 1})
        assert (await start(folder, config, variables)).failed == 1
        assert (await resume(folder, variables)).failed == 0
    assert [record["exit_status"] for record in records(folder)] == ["model_error", "answered", "answered"]


def test_folder_of_a_killed_merge_names_the_next_step(run: Path) -> None:
    plain_log(run)
    (run / "run.json").rename(run.parent / "run.json")
    for words in (("report", run), ("resume", run)):
        done = graphwalk(*words)
        assert done.returncode == 3
        assert "if a merge into this folder was killed, remove the folder and merge again" in done.stderr
    with pytest.raises(RunLogError) as refused:
        RunFolder.create(run)
    assert f"if a merge into {run} was killed, remove this folder" in refused.value.hint


def test_a_full_disk_is_no_mistake_in_the_command(run: Path, tmp_path: Path) -> None:
    done = limited("export", "csv", str(run), "--out", str(tmp_path / "out.csv"), size=100)
    assert (done.returncode, "free some space" in done.stderr) == (3, True), done.stderr


def test_a_full_disk_ends_a_resume_without_a_traceback(run: Path) -> None:
    log = plain_log(run)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:1]))
    done = limited("resume", str(run), size=(run / "run.log").stat().st_size)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert "Logging error" not in done.stderr
    assert "free some space" in done.stderr
    assert f"then  graphwalk resume {run}" in done.stderr


def test_a_text_that_a_power_cut_left_in_part_is_named_and_written_again_by_a_resume(run: Path) -> None:
    path = next(path for path in sorted((run / "texts" / "prompts").iterdir()) if not path.read_bytes().isascii())
    text = path.read_bytes()
    path.write_bytes(text[: text.index(next(byte for byte in text if byte > 127)) + 1])
    for words in (("verify", run), ("publish", run, "--out", run.parent / "run.zip")):
        done = graphwalk(*words)
        assert (done.returncode, "resume the run" in done.stderr) == (3, True), done.stderr
        assert f"texts/prompts/{path.name} is damaged" in "".join(done.stderr.split("\n"))
    assert graphwalk("resume", run).returncode == 0
    assert path.read_bytes() == text
    assert graphwalk("verify", run).returncode == 0


def limited(*words: str, size: int) -> "subprocess.CompletedProcess[str]":
    """Run a command on a disk that takes no file larger than `size` bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run(
        [sys.executable, "-m", "graphwalk", *words], capture_output=True, text=True, check=False, preexec_fn=limit
    )


def test_a_list_of_runs_does_not_keep_a_resume_out(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_list = FileLock(run / "run.lock")
    of_list.acquire()
    monkeypatch.setattr(time, "sleep", lambda _: of_list.release())
    with RunFolder.open(run).lock():
        assert [listed.state for listed in list_runs(run)] == ["running"]


@pytest.mark.parametrize("cause", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_the_named_cause(cause: int, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: int) -> None:
        raise OSError(cause, os.strerror(cause))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(RunLogError, match=f"run.lock cannot be locked: {os.strerror(cause)}") as raised:
        RunFolder.open(run).lock().__enter__()
    assert "no file locks" in raised.value.hint
