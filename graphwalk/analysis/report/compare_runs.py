"""Compare players of one or more run folders; runs must have identical tasks, scored by the same code."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from graphwalk.analysis.explained import explained, with_names
from graphwalk.analysis.report.compare import RunComparison, compare_players
from graphwalk.analysis.report.episodes import chosen, observe, players_of
from graphwalk.analysis.report.suite_report import ResultRecord
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.errors import ConfigError, RunLogError
from graphwalk.runs.experiment import protocol_note
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import differences

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

    def records(self) -> Iterator[ResultRecord]:
        """Yield the results and collect the digests of their tasks."""
        for result in with_names(self.folder, explained(self.folder)):
            digests = self.tasks.setdefault(result["task_id"], {})
            for name in result["task"].keys() - _REFERENCE:
                text = json.dumps(result["task"][name], sort_keys=True)
                digests.setdefault(name, set()).add(hashlib.sha256(text.encode()).hexdigest())
            yield result


def compare_runs(paths: Sequence[Path], *, models: Sequence[str] = (), settings: Sequence[str] = ()) -> RunComparison:
    """Compare all pairs of players, or these. RunLogError if tasks differ, ConfigError for fewer than two players."""
    folders = [RunFolder.open(path) for path in paths]
    names = short_names([folder.path for folder in folders])
    runs = [_ComparedRun(folder, folder.read_manifest()) for folder in folders]
    suites = {run.manifest["config"]["suite"]["name"] for run in runs}
    if len(suites) > 1:
        raise ConfigError(f"these are runs of different suites: {', '.join(sorted(suites))}")
    declared = analysis_of(folders[0].suite).report()
    episodes = pl.concat(
        [
            observe(run.records(), declared).episodes.with_columns(run=pl.lit(name))
            for name, run in zip(names, runs, strict=True)
        ],
        how="vertical_relaxed",
    )
    protocols = [protocol_note(run.manifest["config"]) for run in runs]
    same = len(set(protocols)) == 1
    notes = protocols[:1] if same else [f"{name}: {note}" for name, note in zip(names, protocols, strict=True)]
    notes += [line for other in runs[1:] for line in _differences(runs[0], other)]

    name_of = {model: name for run in runs for model, name in run.manifest["config"]["names"].items()}
    compared = chosen(episodes, [name_of.get(model, model) for model in models], settings)
    if len(runs) > 1:
        compared = compared.with_columns(model=pl.format("{} @ {}", "model", "run"))
    if len(players_of(compared)) < 2:
        played = ", ".join(map(" ".join, players_of(episodes)))
        raise ConfigError("there are no two players to compare", hint=f"played: {played or 'nothing yet'}")
    return compare_players(compared, declared, seed=runs[0].manifest["config"]["seed"], notes=notes)


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
        if fields := sorted(name for name in one.keys() & other.keys() if one[name].isdisjoint(other[name])):
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
    return RunLogError("\n  ".join([f"{what}:", *lines[:MOST_DIFFERENCES], *more]), hint=hint)


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
