"""The graph with every oddity, as a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphwalk.graphs.files import save_graph
from tests.own_graph.mcp.servers import HttpServer, over_http
from tests.tools.conftest import ODD_GRAPH


@pytest.fixture(scope="session")
def odd_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "odd.json"
    save_graph(ODD_GRAPH, path)
    return path


@pytest.fixture(scope="session")
def http_server(odd_file: Path) -> Iterator[HttpServer]:
    with over_http("--graph", odd_file) as server:
        yield server
