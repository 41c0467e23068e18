"""Episodes in flight within the limit on open files, and results that cannot be written."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphwalk.runs.result import Result
from tests.runs.runs import experiment, records, resume, start

pytest.importorskip("resource")

_CODE = """
import resource
from graphwalk.runs.worker_pool import files_for
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
print(files_for({wanted}, print))
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def said(soft: int, hard: int, wanted: int) -> list[str]:
    code = _CODE.format(soft=soft, hard=hard, wanted=wanted)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()


def test_enough_files_keep_the_concurrency() -> None:
    assert said(256, 512, 64) == ["64", "256"]


def test_the_bound_is_raised_as_far_as_it_goes() -> None:
    assert said(128, 1024, 256) == ["256", "576"]


def test_too_few_files_lower_the_concurrency() -> None:
    note, room, files = said(128, 256, 256)
    assert (room, files) == ("96", "256")
    assert (
        note == "256 episodes in flight need 576 open files; the limit is 256 (ulimit -n), so 96 are played at a time"
    )


async def test_a_result_that_cannot_be_written_fails_its_episode_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Result.as_dict

    def as_dict(result: Result) -> dict[str, Any]:
        if result.trajectory.turns and result.key.repeat == 1:
            raise ValueError("Maximum serialization depth exceeded")
        return write(result)

    monkeypatch.setattr(Result, "as_dict", as_dict)
    config = experiment(models=["scripted/expert"], limit=1, repeats=3, **{"limits.max_concurrency": 1})
    assert (await start(tmp_path / "run", config)).failed == 1
    failed = records(tmp_path / "run")[1]
    error = "the result cannot be recorded: ValueError: Maximum serialization depth exceeded"
    assert (failed["exit_status"], failed["trajectory"]["error"]) == ("model_error", error)
    assert "Traceback" in (tmp_path / "run" / "run.log").read_text()
    monkeypatch.undo()
    assert (await resume(tmp_path / "run")).failed == 0
