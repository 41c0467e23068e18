"""A signal ends the server while its stdin stays open."""

import json
import signal
import subprocess
from pathlib import Path

from tests.own_graph.mcp.servers import OPENING, WORDS, variables


def test_a_signal_ends_it_while_stdin_stays_open(odd_file: Path) -> None:
    pipe = subprocess.PIPE
    words = [*WORDS, "--graph", str(odd_file)]
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=variables())
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(OPENING).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    with process:
        assert process.stderr is not None
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
