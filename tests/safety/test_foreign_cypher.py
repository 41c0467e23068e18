"""Cypher of a stranger on real engines: it reads no file, reaches no server, changes nothing, and ends in its limits."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.models.chat import ToolCall
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import load_kind
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import load_tool
from tests.safety.conftest import Place
from tests.stores.test_cypher_check import LOADS, OTHERS, OUTSIDE, WRITING
from tests.tools.conftest import ODD_GRAPH

SECRET = "canary-in-a-file"
TOOL = {
    "name": "mine",
    "description": "Peeks.",
    "example": {"arguments": {}, "rows": [{"n": 1}]},
    "parameters": {},
    "no_match": "nothing",
}


class Canary:
    """A file, and a web server that notes the paths of requests."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "canary.csv"
        self.file.write_text(f"{SECRET},1\n")
        self.requests: list[str] = []
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                requests.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(f"{SECRET},1\n".encode())

            def log_message(self, *args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def attacks(self) -> Iterator[str]:
        """Yield each attack, and with the file and the address in place of the ones that it names."""
        address = f"http://127.0.0.1:{self.server.server_port}/leak.csv"
        for query in (*LOADS, *OTHERS, *WRITING, *OUTSIDE):
            yield query
            for place in (address, str(self.file), f"file://{self.file}"):
                changed = query.replace("file:///etc/passwd", place).replace("http://127.0.0.1", address)
                if changed != query:
                    yield changed


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    canary = Canary(tmp_path)
    yield canary
    canary.server.shutdown()
    canary.server.server_close()


async def test_no_attack_reads_a_file_reaches_a_server_or_changes_anything(place: Place, canary: Canary) -> None:
    before = await place.digest()
    rendered = 0
    for query in canary.attacks():
        try:
            cypher = place.store.render(query, {})
        except ConfigError:
            continue
        rendered += 1
        try:
            answer = str(await place.store.first(cypher, {}, rows=10, seconds=2.0))
        except GraphwalkError as error:
            answer = str(error)
        assert SECRET not in answer
    assert rendered > 2
    assert canary.requests == []
    assert await place.digest() == before


async def test_no_query_of_a_model_reads_a_file(canary: Canary) -> None:
    store = await EmbeddedDatabase().load(ODD_GRAPH)
    toolbox = GraphToolbox(store, await store.schema(), [load_tool(Path("tools/run_cypher.yaml"))], AgentConfig())
    for query in canary.attacks():
        result = await toolbox.call(ToolCall("1", "run_cypher", json.dumps({"query": query})))
        assert SECRET not in result.content
        assert "root:" not in result.content
    await store.drop()


@pytest.mark.parametrize("query", LOADS)
def test_a_tool_or_question_file_is_refused_when_it_is_read(tmp_path: Path, query: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({**TOOL, "cypher": query}))
    with pytest.raises(ConfigError, match=r"cypher: .* is not allowed here"):
        load_tool(path)
    data = yaml.safe_load(Path("templates/questions/node_count.yaml").read_text())
    path.write_text(yaml.safe_dump({**data, "name": "mine", "cypher": query}))
    with pytest.raises(ConfigError, match=r"cypher: .*is not allowed here"):
        load_kind(path)
