"""A test run that is ended by a signal leaves no process and no folder behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

RUN = """
import subprocess, sys, tempfile
from pathlib import Path

def test_it_takes_long():
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    folder = tempfile.mkdtemp()
    Path("started").write_text(f"{left.pid} {folder}")
    left.wait()
"""


def lives(pid: int) -> bool:
    """A process that is gone may stay in the list until its present parent waits for it."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.extended
@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left(tmp_path: Path, ended_by: signal.Signals) -> None:
    (tmp_path / "test_long.py").write_text(RUN)
    root = Path(__file__).parents[1]
    own = {name: value for name, value in os.environ.items() if name not in ("GRAPHWALK_TEST_SERVERS", "TMPDIR")}
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.neo4j_servers", "-c", os.devnull]
    run = subprocess.Popen(
        [*words, "--rootdir", ".", "test_long.py"],
        cwd=tmp_path,
        env={**own, "TMPDIR": str(tmp_path), "PYTHONPATH": str(root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    started = tmp_path / "started"
    while not (started.exists() and started.read_text()):
        assert run.poll() is None
        time.sleep(0.05)
    pid, folder = started.read_text().split()
    assert Path(folder).is_relative_to(tmp_path)
    run.send_signal(ended_by)
    run.wait()
    deadline = time.monotonic() + 60
    while lives(int(pid)) or list(tmp_path.glob("graphwalk-tests-*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
