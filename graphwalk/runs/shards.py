"""Shards of a run: each process makes the whole plan and plays a part of it; the parts are merged afterwards."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from graphwalk.console import counted
from graphwalk.errors import ConfigError, RunLogError
from graphwalk.jsonlines import LineWriter, read_lines
from graphwalk.models.registry import is_human
from graphwalk.runs.fingerprint import differences
from graphwalk.runs.plan import Plan, PlannedEpisode
from graphwalk.runs.result import EpisodeKey, key_of
from graphwalk.runs.run_folder import NewRun, RunFolder
from graphwalk.types.episode import ExitStatus

_WRITTEN = re.compile(r"(\d{1,6})/(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `of`, from 1: every `of`-th task with all its episodes."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Parse "2/8". Raise ConfigError for anything else."""
        found = _WRITTEN.fullmatch(text)
        number, of = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= of:
            raise ConfigError(f"there is no shard {text!r}", hint="the second of eight:  --shard 2/8")
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, plan: Plan, episodes: Iterable[PlannedEpisode]) -> Iterator[PlannedEpisode]:
        """Return the episodes that belong to this shard; `plan`: the plan so far."""
        if self.of == 1:
            return iter(episodes)
        mine = {task.task_id for task, _ in plan.tasks[self.number - 1 :: self.of]}
        return (planned for planned in episodes if planned.key.task_id in mine)


WHOLE = Shard(1, 1)
_MOST = 10
"""Differences that an error lists."""


def merge_runs(folders: Sequence[RunFolder], new: NewRun, *, limits: Mapping[str, Any] | None = None) -> int:
    """Merge the shards of one run into a new folder, with the reply cache, and return the number of episodes.

    `limits`: those of the whole run, if the shards had parts of them; then all shards are there, and episodes that a
    budget left out are for a resume. The shards stay unchanged.
    Raise RunLogError if they have different plans, an episode is missing or in two shards, or a shard is locked.
    """
    paths = [folder.path.resolve() for folder in folders]
    if twice := next((folder for folder, path in zip(folders, paths, strict=True) if paths.count(path) > 1), None):
        raise RunLogError(f"the shard {twice.path} is named twice", hint="name each shard once")
    with ExitStack() as locks:
        for folder in (*folders, new.folder):
            locks.enter_context(folder.lock())
        manifests = [folder.read_manifest() for folder in folders]
        _refuse_other_plans(folders, manifests)
        owner = _owners(folders)
        planned = manifests[0]["fingerprint"]["episodes"]
        if limits is None:
            _refuse_missing(folders, owner, planned)
        failed = _write_results(folders, new)
        with closing(LineWriter(new.folder.replies_path)) as replies:
            for folder in folders:
                for reply in read_lines(folder.replies_path):
                    replies.append(reply)
        for file in sorted(folders[0].texts_path.rglob("*")):
            if file.is_file():
                name = file.relative_to(folders[0].texts_path).as_posix()
                new.folder.keep_texts({name: file.read_text(encoding="utf-8")})
        new.folder.write_manifest(_whole(manifests, new, limits))
        if not failed and sum(not is_human(key.model) for key in owner) == planned:
            new.folder.compress_results()
    return len(owner)


def _write_results(folders: Sequence[RunFolder], new: NewRun) -> int:
    """Copy all results into the new run and return the number of failed episodes."""
    failed = 0
    with closing(new.folder.results_writer()) as writer:
        for folder in folders:
            last = {key_of(record): place for place, record in enumerate(folder.records())}
            for place, record in enumerate(folder.records()):
                if last[key_of(record)] == place:
                    writer.append({**record, "run_id": new.run_id})
                    failed += ExitStatus(record["exit_status"]).infrastructure
    return failed


def _whole(manifests: Sequence[Mapping[str, Any]], new: NewRun, limits: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the manifest of the whole run."""
    config = manifests[0]["config"]
    shared = {name: value for name, value in manifests[0].items() if name not in ("shard", "shard_episodes")}
    return {
        **shared,
        "run_id": new.run_id,
        "created": new.created,
        "config": config if limits is None else {**config, "limits": dict(limits)},
        "merged": [manifest["run_id"] for manifest in manifests],
    }


def _refuse_other_plans(folders: Sequence[RunFolder], manifests: Sequence[Mapping[str, Any]]) -> None:
    for folder, manifest in zip(folders, manifests, strict=True):
        settled = manifest.get("fingerprint") or {}
        if settled.get("episodes") is None:
            raise RunLogError(f"{folder.path} ended before its plan was complete", hint=folder.resume_command)
        if changed := differences(manifests[0]["fingerprint"], settled):
            lines = [f"  {name}: {then} → {now}" for name, (then, now) in list(changed.items())[:_MOST]]
            raise RunLogError(
                "\n".join([f"{folder.path} has another plan than {folders[0].path}:", *lines]),
                hint="shards of one run have the same experiment, flags and version; only --shard and --out differ",
            )


def _owners(folders: Sequence[RunFolder]) -> dict[EpisodeKey, int]:
    """Return the shard of each episode. Raise RunLogError if one is in two shards."""
    owner: dict[EpisodeKey, int] = {}
    for number, folder in enumerate(folders):
        for record in folder.records():
            key = key_of(record)
            if owner.setdefault(key, number) != number:
                raise RunLogError(
                    f"an episode is in {folders[owner[key]].path} and in {folder.path}: {' '.join(map(str, key))}",
                    hint="name each shard once, and only shards of one run",
                )
    return owner


def _refuse_missing(folders: Sequence[RunFolder], owner: Mapping[EpisodeKey, int], planned: int) -> None:
    of_each = Counter(number for key, number in owner.items() if not is_human(key.model))
    if of_each.total() == planned:
        return
    held = [
        f"  {folder.path}: shard {folder.read_manifest().get('shard', '1/1')}, {counted(of_each[number], 'episode')}"
        for number, folder in enumerate(folders)
    ]
    raise RunLogError(
        "\n".join([f"{planned - of_each.total()} of {planned} planned episodes are missing:", *held]),
        hint="name all shards, and let each end: graphwalk resume SHARD",
    )
