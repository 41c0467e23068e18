"""Compare players of one or more run folders; runs must have identical tasks, scored by the same code."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from graphwalk.analysis.explained import explained, with_names
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.errors import ConfigError, RunLogError
from graphwalk.experiments.protocol_differences import protocol_note
from graphwalk.reports.compare import RunComparison, compare_players
from graphwalk.reports.observations import Observations, Player, chosen, observe
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.runs.episodes.fingerprint import differences
from graphwalk.runs.folder.run_folder import RunFolder

MOST_DIFFERENCES = 12
_OF_NO_EPISODE = frozenset(
    {"name", "description", "models", "names", "settings", "repeats", "limit", "limits", "prices", "reference"}
)
"""Fields of the configuration that do not affect a single episode."""
_REFERENCE = frozenset({"reference_turns", "reference_calls", "reference_input_tokens", "reference_output_tokens"})
"""Fields of a task that depend on the page size of the agent."""


@dataclass
class _ComparedRun:
    """A run to compare. `tasks`: task → field → digests, several if variants word a question differently."""

    folder: RunFolder
    manifest: Mapping[str, Any]
    tasks: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    _seen: set[tuple[str, str]] = field(default_factory=set)

    def records(self) -> Iterator[ResultRecord]:
        """Yield the results and collect the digests of their tasks."""
        for result in with_names(self.folder, explained(self.folder)):
            wording = result["task_id"], result["setting"].partition(":")[2]
            if wording not in self._seen:
                self._seen.add(wording)
                digests = self.tasks.setdefault(result["task_id"], {})
                for name, value in result["task"].items():
                    if name not in _REFERENCE:
                        digest = hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=12)
                        digests.setdefault(name, set()).add(digest.hexdigest())
            yield result


def compare_runs(paths: Sequence[Path], *, models: Sequence[str] = (), settings: Sequence[str] = ()) -> RunComparison:
    """Compare all pairs of players, or these. RunLogError if tasks differ, ConfigError for fewer than two players."""
    folders = [RunFolder.open(path) for path in paths]
    runs = {
        name: _ComparedRun(folder, folder.read_manifest())
        for name, folder in zip(short_names([folder.path for folder in folders]), folders, strict=True)
    }
    every = list(runs.values())
    suites = {run.manifest["config"]["suite"]["name"] for run in every}
    if len(suites) > 1:
        raise ConfigError(f"these are runs of different suites: {', '.join(sorted(suites))}")
    suite = folders[0].suite
    declared = analysis_of(suite).report()
    observed = {name: observe(run.records(), declared) for name, run in runs.items()}
    followed = {name: protocol_note(run.manifest["config"]) for name, run in runs.items()}
    same = len(set(followed.values())) == 1
    notes = (
        [protocol_note(every[0].manifest["config"])] if same else [f"{name}: {one}" for name, one in followed.items()]
    )
    notes += [line for other in every[1:] for line in _differences(every[0], other)]

    names = {model: name for run in every for model, name in run.manifest["config"]["names"].items()}
    models = [names.get(model, model) for model in models]
    players = sorted({player for one in observed.values() for player in one.players})
    return compare_players(
        merged(observed, set(chosen(players, models, settings))),
        seed=every[0].manifest["config"]["seed"],
        notes=notes,
    )


def merged(runs: Mapping[str, Observations], players: set[Player]) -> Observations:
    """Merge the episodes of some players, of several runs as MODEL @ RUN. ConfigError if there are fewer than two."""
    cases, values = [], []
    for name, observed in runs.items():
        indices = [i for i, case in enumerate(observed.cases) if case.player in players]
        values.append(observed.values[indices])
        for case in (observed.cases[i] for i in indices):
            player = case.player._replace(model=f"{case.player.model} @ {name}") if len(runs) > 1 else case.player
            cases.append(case._replace(player=player))
    together = replace(next(iter(runs.values())), cases=cases, values=np.concatenate(values), baselines=None)
    if len(together.players) < 2:
        every = sorted({player for observed in runs.values() for player in observed.players})
        names = ", ".join(f"{player.model} {player.setting}" for player in every)
        raise ConfigError("there are no two players to compare", hint=f"played: {names or 'nothing yet'}")
    return together


def short_names(paths: Sequence[Path]) -> list[str]:
    """Return the names of runs or logs, or whole paths if two are equal. Raise ConfigError if one is given twice."""
    resolved = [path.resolve() for path in paths]
    if len(set(resolved)) < len(resolved):
        raise ConfigError("a run is compared with itself", hint="name it once: its models and settings are compared")
    short = [path.name for path in resolved]
    return short if len(set(short)) == len(short) else [str(path) for path in resolved]


def _differences(first: _ComparedRun, second: _ComparedRun) -> list[str]:
    """Describe the differences of two runs. Raise RunLogError if they cannot be compared."""
    common = first.tasks.keys() & second.tasks.keys()
    changed = {}
    for task in sorted(common):
        one, other = first.tasks[task], second.tasks[task]
        if fields := [name for name in one if one[name].isdisjoint(other[name])]:
            changed[task] = fields
    differences = list(_configuration_differences(first.manifest, second.manifest))
    names = f"{first.folder.path} and {second.folder.path}"
    same = "compare runs of the same graphs and questions: the same suite settings, --seed, --graphs"
    if not common:
        counts = f"tasks: {len(first.tasks)} and {len(second.tasks)}, none in both"
        raise _refusal(f"{names} share no task", [counts, *differences], same)
    if changed:
        lines = [f"{task}: {', '.join(fields)}" for task, fields in changed.items()]
        what = f"{names} have {len(changed)} different tasks with the same name"
        raise _refusal(what, [*lines, *differences], same)
    scorers = [run.manifest["fingerprint"]["scorer"] for run in (first, second)]
    if scorers[0] != scorers[1]:
        again = "; ".join(f"graphwalk rescore {run.folder.quoted}" for run in (first, second))
        raise _refusal(f"{names} were scored by different code", [f"{scorers[0]} → {scorers[1]}"], again)
    left_out = len(first.tasks) + len(second.tasks) - 2 * len(common)
    partly = [f"tasks: {len(common)} in both; {left_out} in one run only, left out"] if left_out else []
    return [f"{second.folder.path.name} against {first.folder.path.name}: {line}" for line in (*partly, *differences)]


def _refusal(what: str, lines: Sequence[str], hint: str) -> RunLogError:
    more = [f"… and {len(lines) - MOST_DIFFERENCES} more"] if len(lines) > MOST_DIFFERENCES else []
    return RunLogError(
        "\n".join([f"{what}:", *(f"  {line}" for line in (*lines[:MOST_DIFFERENCES], *more))]), hint=hint
    )


def _configuration_differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    """Yield differences of versions, configurations and texts."""
    versions = first.get("graphwalk_version"), second.get("graphwalk_version")
    if versions[0] != versions[1]:
        yield f"version: {versions[0]} → {versions[1]}"
    configs = [{k: v for k, v in one["config"].items() if k not in _OF_NO_EPISODE} for one in (first, second)]
    for name, (then, now) in differences(*configs).items():
        yield f"{name}: {then} → {now}"
    texts = [one["fingerprint"]["texts"] for one in (first, second)]
    for name in differences(*texts):
        yield f"text: {name}"
