"""Whether runs can be compared: identical tasks, the same scorer; and what else differs between them."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphwalk.errors import RunLogError
from graphwalk.report.declared import ResultRecord
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.fingerprint import FORMAT, differences

_MOST = 12
"""Differences that are shown."""
_OF_NO_EPISODE = frozenset(
    {"name", "description", "models", "settings", "repeats", "limit", "limits", "keep", "prices", "reference"}
)
"""Fields of the configuration that shape no single episode."""
_PAR = frozenset({"par_turns", "par_calls", "par_input_tokens", "par_output_tokens"})
"""Fields of a task that count effort, which depends on the pages that an agent reads."""

TaskDigests = Mapping[str, Mapping[str, str]]
"""By task, the digest of each field of its record."""


@dataclass
class TaskRecorder:
    """Passes results on, and notes the digests of their tasks and the digests of their graphs."""

    tasks: dict[str, dict[str, str]] = field(default_factory=dict)

    def through(self, results: Iterable[ResultRecord]) -> Iterator[ResultRecord]:
        for result in results:
            if result["task_id"] not in self.tasks:
                asked = {name: value for name, value in result["task"].items() if name not in _PAR}
                self.tasks[result["task_id"]] = {name: _digest(value) for name, value in asked.items()}
            yield result


@dataclass(frozen=True)
class RunFacts:
    """A run to be compared."""

    folder: RunFolder
    manifest: Mapping[str, Any]
    tasks: TaskDigests


def what_differs(first: RunFacts, second: RunFacts) -> list[str]:
    """What a reader must know of two runs that can be compared. RunLogError where they cannot be.

    Fields of a task that only one of two versions of GraphWalk writes do not count.
    """
    common = first.tasks.keys() & second.tasks.keys()
    changed = {task: _fields(first.tasks[task], second.tasks[task]) for task in sorted(common)}
    changed = {task: fields for task, fields in changed.items() if fields}
    conditions = list(_conditions(first.manifest, second.manifest))
    names = f"{first.folder.path} and {second.folder.path}"
    if not common:
        why = [f"  tasks: {len(first.tasks)} and {len(second.tasks)}, none of them in both"]
        raise _refusal(f"{names} share no task", [*why, *(f"  {line}" for line in conditions)])
    if changed:
        shown = [f"  {task}: {', '.join(fields)}" for task, fields in changed.items()]
        shown += [f"  {line}" for line in conditions]
        raise _refusal(f"{names} have {len(changed)} tasks of the same name that are not the same", shown)
    _same_scorer(first, second)
    left_out = len(first.tasks) + len(second.tasks) - 2 * len(common)
    partly = [f"tasks: {len(common)} in both; {left_out} in one run only are left out"] if left_out else []
    return [f"{second.folder.path.name} against {first.folder.path.name}: {line}" for line in (*partly, *conditions)]


def _refusal(what: str, lines: list[str]) -> RunLogError:
    more = [f"  … and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
    return RunLogError(
        "\n".join([f"{what}:", *lines[:_MOST], *more]),
        hint="compare runs of the same graphs and questions: the same suite settings, --seed, --graphs",
    )


def _same_scorer(first: RunFacts, second: RunFacts) -> None:
    prints = [facts.manifest.get("fingerprint") or {} for facts in (first, second)]
    if any(one.get("format") != FORMAT for one in prints):
        return
    changed = differences(prints[0]["scorer"], prints[1]["scorer"])
    if changed:
        lines = [f"  {name}" for name in list(changed)[:_MOST]]
        raise RunLogError(
            "\n".join([f"{first.folder.path} and {second.folder.path} were scored by different code:", *lines]),
            hint="; ".join(f"graphwalk rescore {facts.folder.quoted}" for facts in (first, second)),
        )


def _conditions(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    """Versions, fields of the configuration, and texts that are not the same."""
    versions = first.get("graphwalk_version"), second.get("graphwalk_version")
    if versions[0] != versions[1]:
        yield f"version: {versions[0]} → {versions[1]}"
    configs = [{k: v for k, v in one["config"].items() if k not in _OF_NO_EPISODE} for one in (first, second)]
    for name, (then, now) in differences(*configs).items():
        yield f"{name}: {then} → {now}"
    prints = [one.get("fingerprint") or {} for one in (first, second)]
    if any(one.get("format") != FORMAT for one in prints):
        yield "texts and scorer: one of the runs was made by a version that recorded them in another way, or not at all"
        return
    for name in differences(prints[0]["texts"], prints[1]["texts"]):
        yield f"text: {name}"


def _fields(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    return [name for name in first if name in second and first[name] != second[name]]


def _digest(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=12).hexdigest()
