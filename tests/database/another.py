"""Somebody else who is connected to a Neo4j."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE

from graphwalk.environment import Environment

OTHER = """
import asyncio
from graphwalk.environment import read_environment
from graphwalk.stores.neo4j.connection import connect

async def wait():
    connection = await connect(read_environment(), wait_seconds=30)
    print("connected", flush=True)
    input()

asyncio.run(wait())
"""


@contextmanager
def connected_by_another(server: Environment) -> Iterator[None]:
    """Another process holds a connection."""
    variables = {**os.environ, **server.variables}
    with subprocess.Popen([sys.executable, "-c", OTHER], stdin=PIPE, stdout=PIPE, env=variables) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"connected\n"
        yield
        other.stdin.write(b"\n")
