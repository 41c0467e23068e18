"""No surprise network: the guard of the test suite itself (reliability R33)."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

TRY = "import socket; socket.create_connection(('192.0.2.1', 9), timeout=2)"


@pytest.fixture
def tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of attempts of its own, so that these do not count."""
    monkeypatch.setenv("GRAPHWALK_TRIED_NETWORK", str(tmp_path / "tried"))
    return tmp_path / "tried"


LOOK_UP = "import socket; socket.getaddrinfo('example.invalid', 80)"


@pytest.mark.parametrize(("code", "host"), [(TRY, "192.0.2.1"), (LOOK_UP, "example.invalid")])
def test_connections_of_subprocesses_are_refused(tried: Path, code: str, host: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ}, check=False)
    assert done.returncode == 1
    assert "tests reach no host but this machine" in done.stderr
    assert host in tried.read_text()


def test_a_swallowed_attempt_is_written_down(tried: Path) -> None:
    code = f"try:\n    {TRY}\nexcept OSError:\n    pass"
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ}, check=False).returncode == 0
    assert "192.0.2.1" in tried.read_text()


def test_connections_of_this_process_are_refused(tried: Path) -> None:
    with pytest.raises(ConnectionRefusedError, match=r"example\.invalid"):
        socket.getaddrinfo("example.invalid", 80)
    assert "example.invalid" in tried.read_text()


def test_this_machine_is_reached(tried: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('localhost', {server.getsockname()[1]}), timeout=20)"
        assert subprocess.run([sys.executable, "-c", code], env={**os.environ}, check=False).returncode == 0
    assert not tried.exists()
