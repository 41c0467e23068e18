"""A run on two nodes of a Ray cluster on this machine, one of which is killed: nothing is missing, and nothing is there
twice. `make ray` sets up what it takes."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphwalk.runs.folder import RunFolder
from graphwalk.variables import without_ray_statistics
from tests.runs.runs import records, without_time

without_ray_statistics()
pytest.importorskip("ray", reason="Ray is not installed: make ray")
pytestmark = pytest.mark.timeout(1500)

RUN = ["run", "quickstart", "--graphs", "4", "--model", "scripted/expert", "--model", "scripted/random"]
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False, "node_ip_address": "127.0.0.2"}
"""On loopback; Ray takes 127.0.0.1 in an address for the machine's own address, at which no server listens then."""


def graphwalk(*words: object, **variables: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "graphwalk", *map(str, words)]
    environment = {**os.environ, **variables}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


@pytest.fixture(autouse=True)
def no_cloud(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this file Ray asks other machines whether it runs in a cloud, and a cluster tells its makers that it does
    not report."""
    home = tmp_path_factory.mktemp("home")
    (home / "ray_bootstrap_config.yaml").write_text("{}")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_USAGE_STATS_REPORT_URL", "http://127.0.0.1:9/")


@pytest.fixture
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    local_cluster = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
    try:
        yield local_cluster
    finally:
        local_cluster.shutdown()


def test_a_node_is_killed_and_the_run_is_the_undivided_one(tmp_path: Path, cluster: Any) -> None:
    nodes = [cluster.add_node(**NODE) for _ in range(2)]
    cluster.wait_for_nodes()
    out, shards = tmp_path / "run", tmp_path / "run.shards"
    process = graphwalk(*RUN, "--on", "ray", "--shards", 3, "--out", out, RAY_ADDRESS=cluster.address)
    try:
        until(lambda: played(shards) >= 3 or process.poll() is not None, 700)
        assert process.poll() is None, process.communicate()[0]
        before = played(shards)
        cluster.remove_node(nodes[0], allow_graceful=False)
        cluster.add_node(**NODE)
        output = process.communicate(timeout=700)[0]
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
    assert process.returncode == 0, output
    assert before < planned(out)
    undivided = graphwalk(*RUN, "--out", tmp_path / "undivided")
    output = undivided.communicate(timeout=300)[0]
    assert undivided.returncode == 0, output
    ours, theirs = (sorted(map(without_time, records(tmp_path / name))) for name in ("run", "undivided"))
    assert ours == theirs
    assert not shards.exists()


def test_missing_cluster_is_an_error(tmp_path: Path) -> None:
    process = graphwalk(*RUN, "--on", "ray", "--out", tmp_path / "run", RAY_ADDRESS="127.0.0.1:1")
    output = process.communicate(timeout=300)[0]
    assert process.returncode == 2
    assert "no Ray cluster at 127.0.0.1:1" in output
    assert list(tmp_path.iterdir()) == []


def played(shards: Path) -> int:
    folders = shards.glob("0*") if shards.exists() else ()
    return sum((folder / "results.jsonl").read_bytes().count(b"\n") for folder in folders)


def planned(folder: Path) -> int:
    return int(RunFolder.open(folder).read_manifest()["fingerprint"]["episodes"])


def until(holds: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
