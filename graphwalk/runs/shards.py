"""Shards of a run: each process makes the whole plan and plays a part of it; the parts are merged afterwards."""

import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from graphwalk.errors import ConfigError, RunLogError, counted
from graphwalk.files.json_lines import LineWriter
from graphwalk.files.writing import check_links
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.manifest import differences
from graphwalk.runs.plan import Plan, PlannedEpisode
from graphwalk.runs.record import EpisodeKey, key_of


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `of`, from 1: every `of`-th task with all its episodes."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Parse "2/8". Raise ConfigError for anything else."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
        number, of = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= of:
            raise ConfigError(f"there is no shard {text!r}", hint="the second of eight:  --shard 2/8")
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, plan: Plan) -> list[PlannedEpisode]:
        """Return the episodes that belong to this shard."""
        mine = {task.task_id for task, _ in plan.tasks[self.number - 1 :: self.of]}
        return [planned for planned in plan.episodes if planned.key.task_id in mine]


WHOLE = Shard(1, 1)
_MOST_DIFFERENCES = 10


def merge_runs(folders: Sequence[RunFolder], new: NewRun, *, limits: Mapping[str, Any] | None = None) -> int:
    """Merge the shards of one run into a new folder, with the reply cache, and return the number of episodes.

    `limits`: those of the whole run, if the shards had parts of them; then all shards are there, and episodes that a
    budget left out are for a resume. The shards stay unchanged.
    Raise RunLogError if they have different plans, an episode is missing or in two shards, or a shard is locked; the
    new folder is removed then.
    """
    with ExitStack() as locks:
        locks.callback(new.folder.remove_unbegun)
        paths = Counter(folder.path.resolve() for folder in folders)
        if twice := [str(path) for path, times in paths.items() if times > 1]:
            raise RunLogError(f"named twice: {', '.join(twice)}", hint="name each shard once")
        for folder in (*folders, new.folder):
            locks.enter_context(folder.lock())
            check_links(folder.path, RunLogError)
        manifests = [folder.read_manifest() for folder in folders]
        for folder, manifest in zip(folders, manifests, strict=True):
            if changed := differences(manifests[0]["fingerprint"], manifest["fingerprint"]):
                shown = [f"  {name}: {then} → {now}" for name, (then, now) in list(changed.items())[:_MOST_DIFFERENCES]]
                raise RunLogError(
                    "\n".join([f"{folder.path} has another plan than {folders[0].path}:", *shown]),
                    hint="shards of one run differ in --shard and --out only",
                )
        lines = _last_lines(folders)
        missing = manifests[0]["fingerprint"]["episodes"] - len(lines)
        if limits is None and missing:
            names = ", ".join(str(folder.path) for folder in folders)
            raise RunLogError(
                f"{counted(missing, 'planned episode')} missing in {names}",
                hint="name all shards, and let each end: graphwalk resume SHARD",
            )
        with closing(new.folder.results_writer()) as results, closing(LineWriter(new.folder.replies_path)) as replies:
            for number, folder in enumerate(folders):
                for place, record in enumerate(folder.records()):
                    if lines[key_of(record)] == (number, place):
                        results.append(record)
                for reply in folder.replies():
                    replies.append(reply)
        try:
            shutil.copytree(folders[0].texts_path, new.folder.texts_path)
        except shutil.Error as error:  # it lists all files that failed, and has no error number
            (source, target, cause), *_ = error.args[0]
            raise RunLogError(f"cannot copy {source} to {target}: {cause}", hint="then merge again") from error
        config = manifests[0]["config"]
        manifest = {
            **manifests[0],
            "run_id": new.run_id,
            "created": new.created,
            "config": config if limits is None else {**config, "limits": dict(limits)},
            "merged": [manifest["run_id"] for manifest in manifests],
        }
        new.folder.write_manifest({k: v for k, v in manifest.items() if k not in ("shard", "shard_episodes")})
    return len(lines)


def _last_lines(folders: Sequence[RunFolder]) -> dict[EpisodeKey, tuple[int, int]]:
    """Return the shard and the last line of each episode. Raise RunLogError if one is in two shards."""
    lines: dict[EpisodeKey, tuple[int, int]] = {}
    for number, folder in enumerate(folders):
        for place, record in enumerate(folder.records()):
            key = key_of(record)
            owner, _ = lines.get(key, (number, 0))
            if owner != number:
                raise RunLogError(
                    f"an episode is in {folders[owner].path} and in {folder.path}: {' '.join(map(str, key))}",
                    hint="name each shard once, and only shards of one run",
                )
            lines[key] = number, place
    return lines
