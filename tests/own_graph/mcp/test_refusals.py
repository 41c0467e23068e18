"""Errors where the server cannot start."""

import socket
import subprocess
import sys
from pathlib import Path

from tests.forked_commands import graphwalk
from tests.own_graph.mcp.servers import variables


def refused(*words: object, **own: str) -> tuple[int, str]:
    done = graphwalk("mcp", *words, **own)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_addresses_and_tokens_that_cannot_be_used(odd_file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for words, variable, cause in (
            (("--port", port), {}, f"port {port}"),
            *((("--host", host), {}, "try:") for host in ("0.0.0.0", "::")),
            *(
                (("--allow-host", name), {}, "--allow-host")
                for name in ("https://a.example", "*", "a.example/mcp", "a:1", "")
            ),
            ((), {"GRAPHWALK_MCP_TOKEN": "short-one"}, "GRAPHWALK_MCP_TOKEN"),
        ):
            code, errors = refused("--graph", odd_file, "--transport", "http", *words, **variable)
            assert (code, cause in errors, "short-one" in errors) == (2, True, False), words


def test_missing_extra_error_names_the_command(odd_file: Path) -> None:
    program = "import sys; sys.modules['mcp'] = None; sys.argv[0] = 'graphwalk'; from graphwalk.cli import main; main()"
    words = [sys.executable, "-c", program, "mcp", "--graph", str(odd_file)]
    done = subprocess.run(words, capture_output=True, text=True, env=variables(), timeout=60, check=False)
    assert done.returncode == 2
    assert "pip install -e '.[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr
