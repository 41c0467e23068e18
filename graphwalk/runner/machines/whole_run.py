"""A run whose shards are played elsewhere, from its first shard to one folder like that of a run of one process."""

import json
import secrets
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.files import make_folder, write_whole
from graphwalk.runlog.run_folder import NewRun, RunFolder
from graphwalk.runner.machines.divided_limits import divided
from graphwalk.runner.machines.shard_work import ABOUT, PlayedShard, ShardWork, shard_folder, unpack
from graphwalk.runner.merging import merge_runs
from graphwalk.runner.resolve import Experiment
from graphwalk.runner.shards import Shard
from graphwalk.runner.tally import RunSummary
from graphwalk.types.chat import Usage
from graphwalk.version import __version__

Play = Callable[[Sequence[ShardWork]], Iterable[PlayedShard]]


class ShardedRun:
    """A run in shards, which stand in FOLDER.shards until all are played; who begins it again goes on with them."""

    def __init__(self, experiment: Experiment, new: NewRun) -> None:
        self.experiment, self.new = experiment, new
        self.shards = new.folder.path.with_name(f"{new.folder.path.name}.shards").resolve()

    def number(self, wanted: int | None, cores: int) -> int:
        """How many shards: as many as are `wanted`, as there are of an earlier try, or as there are `cores`."""
        earlier = self._earlier()
        if wanted is None and earlier is not None:
            return int(earlier["shards"])
        return wanted or min(cores, self.experiment.config.limits.max_concurrency)

    def play(self, play: Play, number: int, log_level: str, done: Callable[[], object]) -> RunSummary:
        """Play all shards by means of `play`, and merge them into the folder of the run; `done` after each.

        ConfigError where shards of another experiment, or another number of them, are in the way. Where something
        fails, the shards stay.
        """
        works = self._works(number, log_level)
        played = []
        for one in play(works):
            if one.packed is not None:
                unpack(one.packed, shard_folder(self.shards, one.shard))
            played.append(one.summary)
            done()
        folders = [RunFolder.open(shard_folder(self.shards, work.shard)) for work in works]
        limits = self.experiment.config.limits.model_dump(mode="json")
        merge_runs(folders, self.new, limits=limits)
        shutil.rmtree(self.shards, ignore_errors=True)
        return _together(played)

    def _works(self, number: int, log_level: str) -> list[ShardWork]:
        config = self.experiment.config.model_dump(mode="json")
        config["models"] = list(self.experiment.models)
        config["limits"] = divided(self.experiment.config.limits, number)
        about = self._claimed({"graphwalk_version": __version__, "shards": number, "experiment": config})
        name = f"graphwalk-{about['key']}"
        text = (self.shards / ABOUT).read_text(encoding="utf-8")
        return [
            ShardWork(config, Shard(part, number), str(self.shards), text, name, str(Path.cwd()), log_level)
            for part in range(1, number + 1)
        ]

    def _claimed(self, about: dict[str, Any]) -> dict[str, Any]:
        """Note what the shards are of; `key` is drawn once, so that no other disk has the same folder by chance."""
        then, now = self._earlier(), json.loads(json.dumps(about))
        if then is None:
            then = {**now, "key": secrets.token_hex(8)}
            make_folder(self.shards)
            write_whole(self.shards / ABOUT, [json.dumps(then, indent=2), "\n"])
        if changed := sorted(name for name in now if then.get(name) != now[name]):
            raise ConfigError(
                f"{self.shards} holds shards of another run: {', '.join(changed)}",
                hint=f"another --out, or  rm -r {shlex.quote(str(self.shards))}",
            )
        return then

    def _earlier(self) -> dict[str, Any] | None:
        path = self.shards / ABOUT
        if not self.shards.exists():
            return None
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return {**found, "shards": int(found["shards"]), "key": str(found["key"])}
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ConfigError(f"{self.shards} is in the way: {error}", hint="another --out") from error


def _together(parts: Sequence[RunSummary]) -> RunSummary:
    whole = RunSummary(0, 0, 0, Usage(), False)
    for part in parts:
        whole = replace(
            whole,
            episodes=whole.episodes + part.episodes,
            finished=whole.finished + part.finished,
            failed=whole.failed + part.failed,
            usage=whole.usage + part.usage,
            budget_reached=whole.budget_reached or part.budget_reached,
        )
    return whole
