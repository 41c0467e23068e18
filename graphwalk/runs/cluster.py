"""Play a run in shards on a Ray cluster, beside its folder on a shared disk, where lost ones are continued; merge."""

import json
import shlex
import shutil
import socket
from asyncio import run as run_in_loop
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphwalk.config.agent import Limits
from graphwalk.errors import ConfigError, GraphwalkError, install_hint
from graphwalk.files.bulk import cores
from graphwalk.files.writing import make_folder, write_whole
from graphwalk.models.chat import Usage
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.play import RunSummary, resume_run, start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.resolve import Experiment, resolve
from graphwalk.runs.shards import Shard, merge_into
from graphwalk.terminal import heed_signals
from graphwalk.variables import process_variable, read_variables, without_ray_statistics
from graphwalk.version import __version__

_TOGETHER = ("requests_per_minute", "tokens_per_minute", "budget_usd", "budget_tokens")


def divided(limits: Limits, shards: int) -> dict[str, Any]:
    """Return the limits of each shard, equal parts. ConfigError if a shard has no episode in flight, or no token."""
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
    shards: Path
    """The folder of all shards."""
    working_folder: Path
    """The folder of the `.env` file; keys themselves are never sent."""

    @property
    def folder(self) -> Path:
        return self.shards / f"{self.shard.number:04}"


def play_shard(work: ShardWork) -> RunSummary:
    """Play a shard, or continue it. Raise ConfigError if this machine does not see the folder of the shards."""
    if not (work.shards / ABOUT).exists():
        raise ConfigError(
            f"{socket.gethostname()} does not see {work.shards}",
            hint="--out on a disk that all machines share; without one: --shard I/N on each, then graphwalk merge",
        )
    return run_in_loop(_start_or_resume(work))


async def _start_or_resume(work: ShardWork) -> RunSummary:
    variables = read_variables(work.working_folder)
    if (work.folder / "run.json").exists():
        return await resume_run(RunFolder.open(work.folder), variables, Progress())
    experiment = resolve(load_experiment(work.config), variables)
    new = NewRun.make(experiment.config.name, work.folder)
    return await start_run(experiment, new, Progress(), shard=work.shard)


Play = Callable[[Sequence[ShardWork]], Iterable[RunSummary]]


class ShardedRun:
    """A run in shards, which stay in FOLDER.shards until all are played; the same command resumes them."""

    def __init__(self, experiment: Experiment, new: NewRun) -> None:
        self.experiment, self.new = experiment, new
        self.shards = new.folder.path.with_name(f"{new.folder.path.name}.shards").resolve()
        about = self.shards / ABOUT
        self._earlier = json.loads(about.read_text(encoding="utf-8")) if about.exists() else None

    def number(self, wanted: int | None, cores: int) -> int:
        """Return the number of shards: `wanted`, else that of an interrupted run, else the number of `cores`."""
        if wanted is None and self._earlier is not None:
            return int(self._earlier["shards"])
        return wanted or min(cores, self.experiment.config.limits.max_concurrency)

    def play(self, play: Play, number: int, done: Callable[[], object]) -> RunSummary:
        """Play all shards, `done` after each, and merge them. ConfigError for shards of another run; these stay."""
        with self.new.begin():
            return self._play(play, number, done)

    def _play(self, play: Play, number: int, done: Callable[[], object]) -> RunSummary:
        limits = self.experiment.config.limits
        config = self.experiment.config.model_dump(mode="json")
        config |= {"models": list(self.experiment.models), "limits": divided(limits, number)}
        about = json.loads(json.dumps({"graphwalk_version": __version__, "shards": number, "experiment": config}))
        if self._earlier is None:
            make_folder(self.shards)
            write_whole(self.shards / ABOUT, [json.dumps(about, indent=2), "\n"])
        elif changed := sorted(name for name in about if self._earlier.get(name) != about[name]):
            raise ConfigError(
                f"{self.shards} holds shards of another run: {', '.join(changed)}",
                hint=f"another --out, or  rm -r {shlex.quote(str(self.shards))}",
            )
        works = [ShardWork(config, Shard(part, number), self.shards, Path.cwd()) for part in range(1, number + 1)]
        summaries = []
        for summary in play(works):
            summaries.append(summary)
            done()
        merge_into([RunFolder.open(work.folder) for work in works], self.new, limits=limits.model_dump(mode="json"))
        shutil.rmtree(self.shards, ignore_errors=True)
        return RunSummary(
            sum(part.episodes for part in summaries),
            sum(part.finished for part in summaries),
            sum(part.failed for part in summaries),
            sum((part.usage for part in summaries), Usage()),
            any(part.budget_reached for part in summaries),
        )


RETRIES = 5
"""Retries of a shard whose worker or machine was lost."""
_STORE_BYTES = 200 << 20
"""Object store of a cluster on this machine; shards need little of it."""
_LOOK_SECONDS = 0.5
_CONNECT_SECONDS = 10.0


def play_on_cluster(works: Sequence[ShardWork]) -> Iterator[RunSummary]:
    """Yield each summary when its shard is done. Raise GraphwalkError for a worker lost too often."""
    import ray

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
def ray_cluster() -> Iterator[int]:
    """Connect to the cluster at RAY_ADDRESS, else start one on this machine, on loopback only; yield its cores.

    Raise ConfigError if Ray is not installed or there is no cluster at the address, GraphwalkError if Ray does not
    start.
    """
    without_ray_statistics()
    address = process_variable("RAY_ADDRESS")  # an experiment's files are sent there
    try:
        import ray
    except ImportError as error:
        raise ConfigError("--on ray needs Ray", hint=install_hint("ray")) from error
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
        if address is not None:
            raise ConfigError(f"no Ray cluster at {address}: {cause}", hint="RAY_ADDRESS=HOST:PORT, or auto") from error
        hint = "run the command again; a busy machine starts it too slowly"
        raise GraphwalkError(f"Ray did not start: {cause}", hint=hint) from error
    heed_signals()  # Ray has replaced the signal handlers
    try:
        yield max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        ray.shutdown()
