"""More episodes in flight than there are files for: a run plays fewer at a time, and says so."""

import subprocess
import sys

import pytest

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


def test_where_there_are_files_enough_nothing_is_changed() -> None:
    assert said(256, 512, 64) == ["64", "256"]


def test_the_bound_is_raised_as_far_as_it_goes() -> None:
    assert said(128, 1024, 256) == ["256", "576"]


def test_else_fewer_play_and_it_is_said() -> None:
    note, room, files = said(128, 256, 256)
    assert (room, files) == ("96", "256")
    assert (
        note == "256 episodes in flight need 576 open files; the limit is 256 (ulimit -n), so 96 are played at a time"
    )
