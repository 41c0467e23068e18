"""What all tests share: no network but this machine, and real databases."""

import os
import signal
from urllib.parse import urlsplit

import pytest

from graphwalk.environment import read_environment

pytest_plugins = ["tests.neo4j_servers"]


def pytest_configure(config: pytest.Config) -> None:
    """Sockets reach this machine only, and the Neo4j that the user names.

    Programs that tests start buffer their output and heed Ctrl-C, however the tests themselves were started.
    """
    os.environ.pop("PYTHONUNBUFFERED", None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    given = urlsplit(read_environment().neo4j_uri or "").hostname
    config.option.allow_hosts = ",".join(["127.0.0.1", "::1", "localhost", *([given] if given else [])])
    config.option.allow_unix_socket = True
