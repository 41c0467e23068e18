"""Fixtures of all tests: no network but this machine, and real databases."""

import gc
import importlib.util
import os
import signal
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from graphwalk.variables import read_variables

# No test may depend on how fast the machine is; one that hangs is ended by pytest. `make test` tries the same examples
# each time, `make test-all` others and more (--hypothesis-profile random).
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much]}
hypothesis_settings.register_profile("fixed", derandomize=True, max_examples=15, **_UNTIMED)
hypothesis_settings.register_profile("random", **_UNTIMED)
hypothesis_settings.load_profile("fixed")
pytest_plugins = ["tests.neo4j_servers"]

# The modules of all tests are 600,000 objects: with Python's default, looking for cycles takes a tenth of the time.
gc.set_threshold(50_000)

_GUARD = Path(__file__).parent / "network"
_TRIED = "GRAPHWALK_TRIED_NETWORK"


def pytest_configure(config: pytest.Config) -> None:
    """Sockets and look-ups of names reach this machine only, and the Neo4j that the user names; in this process and in
    the Python programs that tests start.

    Those buffer their output and heed Ctrl-C, however the tests themselves were started.
    """
    os.environ.pop("PYTHONUNBUFFERED", None)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each command would compile all packages again
    os.environ["GRAPHWALK_NEO4J_PORT"] = "9"  # a Neo4j of this machine's user is not looked for
    signal.signal(signal.SIGINT, signal.default_int_handler)
    host = urlsplit(read_variables().get("NEO4J_URI") or "").hostname
    config.option.allow_hosts = ",".join(["127.0.0.1", "::1", "localhost", *([host] if host else [])])
    config.option.allow_unix_socket = True
    os.environ["GRAPHWALK_ALLOWED_HOSTS"] = host or ""
    if _TRIED in os.environ:  # a worker of another pytest, which looks at the file in the end
        return
    number, os.environ[_TRIED] = tempfile.mkstemp(prefix="graphwalk-tried-network-")
    os.close(number)
    config.add_cleanup(lambda: Path(os.environ.pop(_TRIED)).unlink(missing_ok=True))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_GUARD), os.environ.get("PYTHONPATH")]))
    spec = importlib.util.spec_from_file_location("network_guard", _GUARD / "sitecustomize.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules["network_guard"] = guard = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(guard)


def pytest_collection_finish() -> None:
    """No collection of cycles looks at the modules and tests again, which are there until the end."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """No attempt to reach another machine, not even one whose failure was swallowed."""
    if hasattr(session.config, "workerinput"):
        return
    tried = Path(os.environ[_TRIED]).read_text()
    if tried:
        print(f"\nother machines were to be reached:\n{tried}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
