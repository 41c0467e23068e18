"""`graphwalk run … --on ray`."""

from pathlib import Path
from typing import TYPE_CHECKING

from graphwalk.asynchronous import Interrupted
from graphwalk.cli.finishing import conclude
from graphwalk.console import counted, say
from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.long_work import long_work

if TYPE_CHECKING:
    from graphwalk.runner.machines.whole_run import ShardedRun
    from graphwalk.runner.resolve import Experiment


def check_machines(on: str | None, address: str | None, shards: int | None, shard: str | None, otel: bool) -> None:
    """ConfigError for flags that do not go together."""
    if on is None and (address is not None or shards is not None):
        flag = "--shards" if address is None else "--ray-address"
        raise ConfigError(f"{flag} is for a run on many machines", hint=f"--on ray {flag} …")
    if on is not None and (shard is not None or otel):
        flag = "--otel" if shard is None else "--shard"
        raise ConfigError(f"{flag} is for a run of one process, and --on ray makes several of it")


def run_on_ray(
    experiment: "Experiment",
    out: Path | None,
    address: str | None,
    shards: int | None,
    fail_under: float | None,
    json: bool,
    log_level: str,
) -> None:
    """Play a run in shards on a Ray cluster, then report it as one; exit with the code for how it went."""
    from graphwalk.runlog.run_folder import NewRun
    from graphwalk.runner.machines.on_ray import ray_cluster
    from graphwalk.runner.machines.whole_run import ShardedRun

    new = NewRun.make(experiment.config.name, out)
    sharded = ShardedRun(experiment, new)
    try:
        with ray_cluster(address) as cluster:
            number = sharded.number(shards, cluster.cores)
            say(f"{counted(number, 'shard')} on {counted(cluster.cores, 'core')}, in {sharded.shards}")
            with long_work("shards", number) as done:
                summary = sharded.play(cluster.play, number, log_level, done)
    except Interrupted as interrupted:
        say(f"{interrupted}: stopped. {_how_to_go_on(sharded)}")
        raise
    except GraphwalkError as error:
        if sharded.shards.exists() and not isinstance(error, ConfigError):
            error.hint = "; ".join(filter(None, [error.hint, _how_to_go_on(sharded)]))
        raise
    finally:
        if not new.folder.manifest_path.exists():
            new.folder.remove()
    conclude(new.folder, summary, fail_under, json)


def _how_to_go_on(sharded: "ShardedRun") -> str:
    return f"the same command goes on with what is finished, with  --out {sharded.new.folder.quoted}"
