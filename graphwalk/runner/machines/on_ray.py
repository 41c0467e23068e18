"""Shards as tasks of a Ray cluster: on this machine, or on those that an address leads to."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from graphwalk.asynchronous import heed_signals
from graphwalk.bulk.processes import cores
from graphwalk.environment import without_ray_statistics
from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.runner.machines.shard_work import PlayedShard, ShardWork, play_shard

RETRIES = 5
"""How often a shard is handed out again whose worker, or its whole machine, was lost."""
_STORE_BYTES = 200 << 20
"""Memory that a cluster on this machine keeps for objects; shards on a shared disk need none."""
_LOOK_SECONDS = 0.5
_CONNECT_SECONDS = 10.0


class RayCluster:
    """A cluster that this process is connected to."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    @property
    def cores(self) -> int:
        """Of all machines of the cluster."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def play(self, works: Sequence[ShardWork]) -> Iterator[PlayedShard]:
        """Each shard when it is done. Errors of a run are raised as they are; GraphwalkError where a shard was lost
        more than `RETRIES` times.
        """
        ray = self._ray
        task = ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(play_shard)
        waiting = {task.remote(work): work for work in works}
        while waiting:
            done, _ = ray.wait(list(waiting), timeout=_LOOK_SECONDS)
            for one in done:
                work = waiting.pop(one)
                try:
                    yield ray.get(one)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
                except ray.exceptions.RayError as error:
                    cause = str(error).strip().splitlines()[0]
                    raise GraphwalkError(f"shard {work.shard} was lost {RETRIES + 1} times: {cause}") from error


def _loopback() -> str:
    """An address of this machine that nobody else reaches. Ray takes 127.0.0.1 for the machine's own on its network;
    systems that have no other loopback address leave no choice.
    """
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.2", 0))
        except OSError:
            return "127.0.0.1"
    return "127.0.0.2"


def _check_listening(address: str) -> None:
    """OSError where nobody listens at HOST:PORT, which Ray would wait minutes for."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    if parts.hostname and parts.port:
        socket.create_connection((parts.hostname, parts.port), timeout=_CONNECT_SECONDS).close()


def _cause(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


@contextmanager
def ray_cluster(address: str | None) -> Iterator[RayCluster]:
    """Connect to a cluster; None: one on this machine, for as long as the block lasts, on loopback alone.

    ConfigError where Ray is not installed, or there is no cluster at the address; GraphwalkError where it does not
    start.
    """
    without_ray_statistics()
    try:
        import ray
    except ImportError as error:
        raise ConfigError("--on ray needs Ray", hint="pip install 'graphwalk-agents[ray]'") from error
    own: dict[str, Any] = {
        "include_dashboard": False,
        "num_cpus": cores(),
        "object_store_memory": _STORE_BYTES,
        "_node_ip_address": _loopback(),
    }
    try:
        if address is not None:
            _check_listening(address)
        ray.init(
            "local" if address is None else address,
            log_to_driver=False,
            logging_level="warning",
            **(own if address is None else {}),
        )
    except Exception as error:  # what Ray raises where a process of its own is late has no other type
        if address is not None and isinstance(error, OSError | ValueError):
            raise ConfigError(
                f"no Ray cluster at {address}: {_cause(error)}",
                hint="--ray-address HOST:PORT, or auto",
            ) from error
        raise GraphwalkError(
            f"Ray did not start: {_cause(error)}", hint="run the command again; a busy machine starts it too slowly"
        ) from error
    heed_signals()  # Ray has put its own way of ending in its place
    try:
        yield RayCluster(ray)
    finally:
        ray.shutdown()
