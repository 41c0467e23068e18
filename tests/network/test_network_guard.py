"""No surprise network: the guard of the test suite itself."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of attempts of its own, so that these do not count."""
    monkeypatch.setenv("GRAPHWALK_TRIED_NETWORK", str(tmp_path / "tried"))
    return tmp_path / "tried"


@pytest.mark.parametrize(
    ("attempt", "host"),
    [
        ("socket.create_connection(('192.0.2.1', 9), timeout=2)", "192.0.2.1"),
        ("socket.getaddrinfo('example.invalid', 80)", "example.invalid"),
    ],
)
def test_an_attempt_of_a_subprocess_is_refused_and_written_down(tried: Path, attempt: str, host: str) -> None:
    code = f"import socket\ntry:\n    {attempt}\nexcept OSError as error:\n    print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ}, check=False)
    assert "tests reach no host but this machine" in done.stdout
    assert host in tried.read_text()


def test_connections_of_this_process_are_refused(tried: Path) -> None:
    with pytest.raises(ConnectionRefusedError, match=r"example\.invalid"):
        socket.getaddrinfo("example.invalid", 80)
    assert "example.invalid" in tried.read_text()
