"""A Neo4j for one test alone, which may stop it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphwalk import database
from graphwalk.settings import Settings
from tests.neo4j_servers import GIVEN, release_params, server_settings


@pytest.fixture(params=release_params())
def own_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """A server that `db up` started for one test alone, which may stop it."""
    if request.param == GIVEN:
        pytest.skip("the server that is given is not ours to stop")
    server_settings(tmp_path / "home", request.param)
    settings = Settings({"GRAPHWALK_HOME": str(tmp_path / "home")})
    yield settings
    database.down(settings, delete=True)
