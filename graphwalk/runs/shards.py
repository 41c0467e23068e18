"""Shards of a run: each process makes the whole plan and plays a part of it; the parts are merged afterwards."""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from graphwalk.errors import ConfigError, RunLogError, counted
from graphwalk.files.json_lines import LineWriter
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


_MOST_DIFFERENCES = 10


def merge_runs(folders: Sequence[RunFolder], new: NewRun, *, limits: Mapping[str, Any] | None = None) -> int:
    """Merge the shards of one run into a new folder, with the reply cache, and return the number of episodes.

    `limits`: those of the whole run, if the shards had parts of them; then all shards are there, and episodes that a
    budget left out are for a resume. The shards stay unchanged.
    Raise RunLogError if they have different plans, an episode is missing or in two shards, or a folder is locked; the
    new folder is removed then.
    """
    with new.begin():
        return merge_into(folders, new, limits=limits)


def merge_into(folders: Sequence[RunFolder], new: NewRun, *, limits: Mapping[str, Any] | None = None) -> int:
    """Merge shards, as `merge_runs`, into a run that has begun."""
    with ExitStack() as stack:
        if len({folder.path.resolve() for folder in folders}) < len(folders):
            raise RunLogError("a shard is named twice", hint="name each shard once")
        for folder in folders:
            stack.enter_context(folder.lock())
        manifests = [folder.read_manifest() for folder in folders]
        for folder, manifest in zip(folders, manifests, strict=True):
            if changed := differences(manifests[0]["fingerprint"], manifest["fingerprint"]):
                shown = [f"  {name}: {then} → {now}" for name, (then, now) in list(changed.items())[:_MOST_DIFFERENCES]]
                raise RunLogError(
                    "\n".join([f"{folder.path} has another plan than {folders[0].path}:", *shown]),
                    hint="shards of one run differ in --shard and --out only",
                )
        results = stack.enter_context(closing(LineWriter(new.folder.results_path)))
        replies = stack.enter_context(closing(LineWriter(new.folder.replies_path)))
        owners: dict[EpisodeKey, RunFolder] = {}
        for folder in folders:
            for record in folder.records():
                key = key_of(record)
                if (owner := owners.setdefault(key, folder)) is not folder:
                    raise RunLogError(
                        f"an episode is in {owner.path} and in {folder.path}: {key.in_words}",
                        hint="name each shard once, and only shards of one run",
                    )
                results.append(record)
            for reply in folder.replies():
                replies.append(reply)
        missing = manifests[0]["fingerprint"]["episodes"] - len(owners)
        if limits is None and missing:
            names = ", ".join(str(folder.path) for folder in folders)
            raise RunLogError(
                f"{counted(missing, 'planned episode')} missing in {names}",
                hint="name all shards, and let each end: graphwalk resume SHARD",
            )
        new.folder.write_texts(folders[0].read_texts())
        config = manifests[0]["config"]
        manifest = {
            **manifests[0],
            "run_id": new.run_id,
            "created": new.created,
            "config": config if limits is None else {**config, "limits": dict(limits)},
            "merged": [manifest["run_id"] for manifest in manifests],
        }
        new.folder.write_manifest({k: v for k, v in manifest.items() if k not in ("shard", "shard_episodes")})
    return len(owners)
