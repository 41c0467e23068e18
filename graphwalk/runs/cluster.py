"""Play a run in shards on a Ray cluster, and merge them into one run folder.

The driver has a folder for all shards. A worker that finds this folder shares its disk: it plays the shard there, and
its replacement after a crash continues it. Any other worker plays in a local temporary folder and sends it back as a
ZIP file; a replacement on another machine starts again.
"""

import io
import json
import secrets
import shlex
import shutil
import socket
import tempfile
import zipfile
from asyncio import run as run_in_loop
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphwalk.asynchronous import heed_signals
from graphwalk.bulk import cores
from graphwalk.config.calls import Limits
from graphwalk.errors import ConfigError, GraphwalkError, RunLogError
from graphwalk.experiments.loading import experiment_from
from graphwalk.files import check_links, make_folder, write_whole
from graphwalk.runs.counters import RunSummary
from graphwalk.runs.execute import resume_run, start_run
from graphwalk.runs.experiment import Experiment, resolve
from graphwalk.runs.progress import Progress
from graphwalk.runs.run_folder import NewRun, RunFolder
from graphwalk.runs.shards import Shard, merge_runs
from graphwalk.settings import read_settings, without_ray_statistics
from graphwalk.types.chat import Usage
from graphwalk.version import __version__

_TOGETHER = ("requests_per_minute", "tokens_per_minute", "budget_usd", "budget_tokens")


def divided(limits: Limits, shards: int) -> dict[str, Any]:
    """Return the limits of each shard: equal parts, which shards do not exchange.

    Raise ConfigError if there is not at least one episode in flight and one token for each shard.
    """
    if shards > limits.max_concurrency:
        raise ConfigError(
            f"{shards} shards need limits.max_concurrency of {shards} or more; it is {limits.max_concurrency}",
            hint=f"--shards {limits.max_concurrency}, or --max-concurrency {shards}",
        )
    if limits.budget_tokens is not None and limits.budget_tokens < shards:
        raise ConfigError(f"a budget of {limits.budget_tokens} tokens is too small for {shards} shards")
    parts = {name: value / shards for name in _TOGETHER if (value := getattr(limits, name)) is not None}
    if limits.budget_tokens is not None:
        parts["budget_tokens"] = limits.budget_tokens // shards
    return {**limits.model_dump(mode="json"), **parts, "max_concurrency": limits.max_concurrency // shards}


ABOUT = "about.json"
"""The file next to the shards that describes their run."""


@dataclass(frozen=True)
class ShardWork:
    """The work of one worker. `config` is the experiment with this shard's part of rate limits and budgets."""

    config: Mapping[str, Any]
    shard: Shard
    shards: str
    """The folder of all shards."""
    about: str
    """The text of `about.json` in it."""
    name: str
    """Name of the temporary folder on a machine that does not share the disk."""
    working_folder: str
    """The folder of the `.env` file; keys themselves are never sent."""
    log_level: str = "info"


@dataclass(frozen=True)
class PlayedShard:
    """A shard that was played. `packed`: its run folder as a ZIP file; None if it is on a shared disk."""

    shard: Shard
    summary: RunSummary
    packed: bytes | None


def play_shard(work: ShardWork) -> PlayedShard:
    """Play a shard, or continue it. Errors of the run are raised."""
    shards, shared = Path(work.shards), False
    with suppress(OSError):
        shared = (shards / ABOUT).read_text(encoding="utf-8") == work.about
    place = shard_folder(shards if shared else Path(tempfile.gettempdir()) / work.name, work.shard)
    summary = run_in_loop(_played(work, place))
    return PlayedShard(work.shard, summary, None if shared else _packed(place))


def shard_folder(shards: Path, shard: Shard) -> Path:
    return shards / f"{shard.number:04}"


async def _played(work: ShardWork, place: Path) -> RunSummary:
    settings = read_settings(Path(work.working_folder))
    if (place / "run.json").exists():
        return await resume_run(RunFolder.open(place), settings, Progress(), log_level=work.log_level)
    config = experiment_from(work.config, "the experiment")
    new = NewRun.make(config.name, place)
    return await start_run(resolve(config, settings), new, Progress(), log_level=work.log_level, shard=work.shard)


def _packed(place: Path) -> bytes:
    """Return the run folder as a ZIP file, and remove it. Raise RunLogError for a link that leads out of it."""
    check_links(place, RunLogError)
    archive = Path(shutil.make_archive(str(place), "zip", place))
    packed = archive.read_bytes()
    archive.unlink()
    RunFolder(place).remove()
    return packed


Play = Callable[[Sequence[ShardWork]], Iterable[PlayedShard]]


class ShardedRun:
    """A run in shards, which stay in FOLDER.shards until all are played; the same command resumes them."""

    def __init__(self, experiment: Experiment, new: NewRun) -> None:
        self.experiment, self.new = experiment, new
        self.shards = new.folder.path.with_name(f"{new.folder.path.name}.shards").resolve()

    def number(self, wanted: int | None, cores: int) -> int:
        """Return the number of shards: `wanted`, else that of an interrupted run, else the number of `cores`."""
        earlier = self._earlier()
        if wanted is None and earlier is not None:
            return int(earlier["shards"])
        return wanted or min(cores, self.experiment.config.limits.max_concurrency)

    def play(self, play: Play, number: int, log_level: str, done: Callable[[], object]) -> RunSummary:
        """Play all shards with `play`, call `done` after each, and merge them into the folder of the run.

        Raise ConfigError if the folder contains shards of another run. Shards stay after an error.
        """
        works = self._works(number, log_level)
        played = []
        for one in play(works):
            if one.packed is not None:
                with zipfile.ZipFile(io.BytesIO(one.packed)) as archive:
                    archive.extractall(shard_folder(self.shards, one.shard))
            played.append(one.summary)
            done()
        folders = [RunFolder.open(shard_folder(self.shards, work.shard)) for work in works]
        limits = self.experiment.config.limits.model_dump(mode="json")
        merge_runs(folders, self.new, limits=limits)
        shutil.rmtree(self.shards, ignore_errors=True)
        return RunSummary(
            sum(part.episodes for part in played),
            sum(part.finished for part in played),
            sum(part.failed for part in played),
            sum((part.usage for part in played), Usage()),
            any(part.budget_reached for part in played),
        )

    def _works(self, number: int, log_level: str) -> list[ShardWork]:
        """Write `about.json` and divide the work; its random `key` identifies the disk."""
        config = self.experiment.config.model_dump(mode="json")
        config["models"] = list(self.experiment.models)
        config["limits"] = divided(self.experiment.config.limits, number)
        about = {"graphwalk_version": __version__, "shards": number, "experiment": config}
        then, now, path = self._earlier(), json.loads(json.dumps(about)), self.shards / ABOUT
        if then is None:
            then = {**now, "key": secrets.token_hex(8)}
            make_folder(self.shards)
            write_whole(path, [json.dumps(then, indent=2), "\n"])
        if changed := sorted(name for name in now if then.get(name) != now[name]):
            raise ConfigError(
                f"{self.shards} holds shards of another run: {', '.join(changed)}",
                hint=f"another --out, or  rm -r {shlex.quote(str(self.shards))}",
            )
        name, text = f"graphwalk-{then['key']}", path.read_text(encoding="utf-8")
        return [
            ShardWork(config, Shard(part, number), str(self.shards), text, name, str(Path.cwd()), log_level)
            for part in range(1, number + 1)
        ]

    def _earlier(self) -> dict[str, Any] | None:
        path = self.shards / ABOUT
        if not self.shards.exists():
            return None
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return {**found, "shards": int(found["shards"]), "key": str(found["key"])}
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ConfigError(f"{self.shards} is in the way: {error}", hint="another --out") from error


RETRIES = 5
"""Retries of a shard whose worker or machine was lost."""
_STORE_BYTES = 200 << 20
"""Object store of a cluster on this machine; shards on a shared disk need none."""
_LOOK_SECONDS = 0.5
_CONNECT_SECONDS = 10.0


class RayCluster:
    """A cluster that this process is connected to."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    @property
    def cores(self) -> int:
        """Number of cores of the cluster."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def play(self, works: Sequence[ShardWork]) -> Iterator[PlayedShard]:
        """Yield each shard when it is done. Raise errors of a run, and GraphwalkError if a worker is lost too often."""
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


@contextmanager
def ray_cluster(address: str | None) -> Iterator[RayCluster]:
    """Connect to a cluster; None: start one on this machine while the block runs, on loopback only.

    Raise ConfigError if Ray is not installed or there is no cluster at the address, GraphwalkError if Ray does not
    start.
    """
    without_ray_statistics()
    try:
        import ray
    except ImportError as error:
        raise ConfigError("--on ray needs Ray", hint="pip install 'graphwalk-agents[ray]'") from error
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}
    try:
        if address is None:
            # Ray replaces 127.0.0.1 by the machine's network address; another loopback address stays local.
            loopback = "127.0.0.1"
            with suppress(OSError), socket.socket() as probe:
                probe.bind(("127.0.0.2", 0))
                loopback = "127.0.0.2"
            options |= {"include_dashboard": False, "num_cpus": cores(), "object_store_memory": _STORE_BYTES}
            ray.init("local", _node_ip_address=loopback, **options)
        else:
            parts = urlsplit(address if "://" in address else f"//{address}")
            if parts.hostname and parts.port:  # Ray would wait minutes for a port that is closed
                socket.create_connection((parts.hostname, parts.port), timeout=_CONNECT_SECONDS).close()
            ray.init(address, **options)
    except Exception as error:  # Ray has no narrower type for a process that starts too late
        cause = (str(error).strip() or type(error).__name__).splitlines()[0]
        if address is not None and isinstance(error, OSError | ValueError):
            raise ConfigError(
                f"no Ray cluster at {address}: {cause}", hint="--ray-address HOST:PORT, or auto"
            ) from error
        raise GraphwalkError(
            f"Ray did not start: {cause}", hint="run the command again; a busy machine starts it too slowly"
        ) from error
    heed_signals()  # Ray has replaced the signal handlers
    try:
        yield RayCluster(ray)
    finally:
        ray.shutdown()
