"""The official client in another language sees the same, over both transports (`make mcp` installs it)."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.mcp_sessions.__main__ import MODULES, PACKAGE, STEPS, run_typescript
from benchmarks.mcp_sessions.films import FILMS
from benchmarks.mcp_sessions.python_client import walk
from graphwalk.graphs.files import save_graph
from tests.serve.mcp.servers import over_http

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (MODULES / "node_modules" / PACKAGE).is_dir(),
    reason="needs node and the TypeScript SDK: make mcp",
)


@contextmanager
def place(transport: str, graph: Path) -> Iterator[dict[str, Any]]:
    if transport == "stdio":
        yield {"command": sys.executable, "args": ["-m", "graphwalk", "mcp", "--graph", str(graph)]}
        return
    with over_http("--graph", graph) as server:
        yield {"url": server.url, "token": server.token}


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_typescript_client_sees_the_same(transport: str, tmp_path: Path) -> None:
    graph = tmp_path / "films.json"
    save_graph(FILMS, graph)
    with place(transport, graph) as where:
        seen = run_typescript(where)
    expected = await walk(sys.executable, ["-m", "graphwalk", "mcp", "--graph", str(graph)], STEPS)
    for part in ("instructions", "schema"):
        assert seen[part] == expected[part]
    assert [(t["name"], t["inputSchema"], t["annotations"]) for t in seen["tools"]] == [
        (t["name"], t["inputSchema"], t["annotations"]) for t in expected["tools"]
    ]
    for own, other in zip(seen["answers"], expected["answers"], strict=True):
        assert own["content"] == other["content"]
        assert own.get("structuredContent") == other.get("structuredContent")
        assert own.get("isError", False) == other["isError"]
