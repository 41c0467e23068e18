"""A Neo4j to measure against."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from graphwalk import database
from graphwalk.errors import StoreError
from graphwalk.variables import Variables, read_variables


@contextmanager
def neo4j_server() -> Iterator[Variables | str]:
    """The environment of NEO4J_URI if it is set, else of a throw-away server, or the reason why there is none."""
    server: Variables | str = read_variables()
    with ExitStack() as stack:
        if isinstance(server, Variables) and not server.neo4j_uri:
            try:
                server = stack.enter_context(throw_away_server())
            except StoreError as error:
                server = str(error).splitlines()[0]
        yield server


@contextmanager
def throw_away_server(**options: Any) -> Iterator[Variables]:
    """The environment that reaches a Neo4j of `graphwalk db up` with these options, removed at the end."""
    with TemporaryDirectory(prefix="graphwalk-bench-") as home:
        variables = Variables({**read_variables().values, "GRAPHWALK_HOME": home})
        server = database.up(variables, port=None, **options)
        try:
            yield Variables({"NEO4J_URI": server.uri, "NEO4J_PASSWORD": server.password, "GRAPHWALK_HOME": home})
        finally:
            database.down(variables, delete=True)
