"""stdin and stdout: nothing but the protocol, whatever comes in, and a clean end."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from graphwalk.graphs.files import save_graph
from graphwalk.graphs.graph import Node, PropertyGraph
from graphwalk.tools.encodings import read_rows
from tests.own_graph.mcp.servers import OPENING, WORDS, over_stdio, text_of, variables

READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
NOISE = [b"garbage", b"[]", b"\xff\xfe\x00", b"[" * 5000, b'{"jsonrpc":"2.0","id":9,"method":5}']


def started(odd_file: Path) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen([*WORDS, "--graph", str(odd_file)], stdin=pipe, stdout=pipe, stderr=pipe, env=variables())


def call(number: int, name: str, arguments: Any) -> bytes:
    params = {"name": name, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


@pytest.mark.extended
def test_noise_does_not_end_it_and_stdout_is_protocol(odd_file: Path) -> None:
    process = started(odd_file)
    assert process.stdin is not None
    assert process.stdout is not None
    lines = [json.dumps(OPENING).encode(), json.dumps(READY).encode(), *NOISE, call(2, "think", {"thought": "still"})]
    process.stdin.write(b"\n".join(lines) + b"\n")
    process.stdin.flush()
    answers = {}
    while 2 not in answers:
        answer = json.loads(process.stdout.readline())
        answers[answer.get("id")] = answer
    rest, errors = process.communicate(timeout=60)
    assert answers[2]["result"]["content"][0]["text"] == "still"
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert b"Traceback" not in errors
    assert process.returncode == 0


def test_a_signal_ends_it_while_stdin_stays_open(odd_file: Path) -> None:
    process = started(odd_file)
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


async def test_results_come_in_pages(tmp_path: Path) -> None:
    nodes = [Node(f"n{number:03}", ("N",), {"kind": "same"}) for number in range(230)]
    save_graph(PropertyGraph.from_rows(nodes, []), tmp_path / "many.json")
    arguments: dict[str, Any] = {"label": "N", "property_name": "kind", "property_value": "same"}
    async with over_stdio("--graph", tmp_path / "many.json") as client:
        pages = [text_of(await client.call_tool("get_node_by_property", arguments | {"page": n})) for n in (1, 2, 3)]
    keys = [row["properties"]["key"] for page in pages for row in read_rows(page) or ()]
    assert keys == [node.key for node in nodes]
