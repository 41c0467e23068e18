"""Compare players on identical tasks: of one run, across runs, and on a graph against its anonymised copy."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.episodes import PLAYER, chosen, observe, players_of, rows_of
from graphwalk.analysis.report.suite_report import DIGITS, PERCENT, SIZE, Grouping, ReportRow, SuiteReport
from graphwalk.analysis.report.text_table import OVER_QUESTIONS, UNKNOWN
from graphwalk.analysis.report.verdict import verdict_on
from graphwalk.analysis.statistics import compare, holm, least_p_value, tasks_of
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.errors import ConfigError, RunLogError, counted
from graphwalk.runs.experiment import protocol_note
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import differences
from graphwalk.runs.record import ResultRecord
from graphwalk.version import SCHEMA_VERSION

_INTERVALS: Mapping[str, str] = {
    "graph": "The graph is the cluster, since tasks on one graph are dependent.",
    "question": f"Where all tasks are on one graph, intervals are {OVER_QUESTIONS}; they do not hold for other graphs.",
}
_TESTS: Mapping[str, str] = {
    "graph": "Holm p: sign-flip test over graphs (mid-p), adjusted over all pairs of its table.",
    "question": f"Holm p: sign-flip test {OVER_QUESTIONS} (mid-p), adjusted over all pairs of its table.",
}
MOST_DIFFERENCES = 12
_MOST_SIZES = 5
_OF_NO_EPISODE = frozenset(
    {"name", "description", "models", "names", "settings", "repeats", "limit", "limits", "prices", "reference"}
)
"""Fields of the configuration that do not affect a single episode."""
_REFERENCE = frozenset({"reference_turns", "reference_calls", "reference_input_tokens", "reference_output_tokens"})
"""Fields of a task that depend on the page size of the agent."""
Player = tuple[str, str]
_PAIR = dict.fromkeys(("first_model", "first_setting", "second_model", "second_setting"), pl.String)
_UNITS: Mapping[str, tuple[float, float]] = {"percent": (PERCENT, PERCENT), "share": (1, 1)}
"""Unit in a table, and largest possible difference, by kind of measure."""


def comparisons_of(
    episodes: pl.DataFrame, suite: SuiteReport, *, seed: int, pairs: Iterable[tuple[Player, Player]] | None = None
) -> list[dict[str, Any]]:
    """Compare the pairs of players that share tasks; `pairs`: only these.

    A pair has `first_model`, `first_setting`, the same of the second, and `measures` (those that the suite compares).
    Each has `difference` (first − second, repeats averaged per task; in percentage points or in the unit of the
    measure) with `interval`, or `no_interval` with the reason; `first_mean` and `second_mean` in the same unit;
    `tasks`, `graphs`, `unit` (graph or question: the independent unit); `p_value` (sign flips over these units, mid-p),
    `p_holm` (the same, adjusted over all pairs), `p_least` (the smallest p that this number of units allows); and tasks
    `first_better`, `second_better`, `equal`.
    """
    pairs = list(combinations(players_of(episodes), 2) if pairs is None else pairs)
    if not pairs:
        return []
    names = pl.DataFrame([(*first, *second) for first, second in pairs], _PAIR, orient="row")
    compared = compare(tasks_of(episodes, PLAYER, suite.compared), names, suite.compared, seed=seed)
    kinds = {measure.name: measure.kind for measure in suite.measures}
    compared_pairs = []
    for part in compared.partition_by(*_PAIR):
        measures = {row["measure"]: _measure(row, kinds[row["measure"]]) for row in part.to_dicts()}
        if measures[suite.compared[0]]["tasks"]:
            compared_pairs.append({**part.select(*_PAIR).row(0, named=True), "measures": measures})
    return _adjusted(compared_pairs, suite.compared)


def comparisons_by_size(episodes: pl.DataFrame, suite: SuiteReport, *, seed: int) -> list[dict[str, Any]]:
    """Return `comparisons_by` the size of the graph, if there are two to five."""
    size = suite.all_groupings.get(SIZE)
    if size is None or not 1 < episodes[size.column].drop_nulls().n_unique() <= _MOST_SIZES:
        return []
    return comparisons_by(size, episodes, suite, seed=seed)


def comparisons_by(
    grouping: Grouping, episodes: pl.DataFrame, suite: SuiteReport, *, seed: int
) -> list[dict[str, Any]]:
    """Compare players in each group: pairs as of `comparisons_of`, with the group by the name of the grouping.

    Their p-values are adjusted over the pairs of all groups. A task is in one group, also if runs differ in what it
    needs.
    """
    group = pl.col(grouping.column).drop_nulls().first().over("task_id")
    grouped = episodes.with_columns(group.alias(grouping.column)).drop_nulls(grouping.column)
    parts = grouped.partition_by(grouping.column, as_dict=True)
    pairs = [
        {grouping.name: name, **pair}
        for (name,) in sorted(parts, key=lambda key: grouping.sort_key(key[0]))
        for pair in comparisons_of(parts[name,], suite, seed=seed)
    ]
    return _adjusted(pairs, suite.compared)


def _adjusted(pairs: list[dict[str, Any]], measures: Iterable[str]) -> list[dict[str, Any]]:
    """Return the pairs with `p_holm`, adjusted over all of them."""
    for name in measures:
        tested = [pair["measures"][name] for pair in pairs if pair["measures"][name]["p_value"] is not None]
        for measure, p in zip(tested, holm([measure["p_value"] for measure in tested]), strict=True):
            measure["p_holm"] = p
    return pairs


def memorisation_test(episodes: pl.DataFrame, suite: SuiteReport, *, seed: int) -> list[dict[str, Any]]:
    """Compare each player on a graph and on its anonymised copy, question by question: pairs as of `comparisons_of`."""
    originals = episodes.filter(pl.col("task_id").is_in(episodes["twin_of"].drop_nulls().implode()))
    graphs = originals.select("task_id", "graph").unique()
    copies = episodes.drop("task_id", "graph").join(graphs, left_on="twin_of", right_on="task_id")
    copies = copies.rename({"twin_of": "task_id"}).with_columns(pl.col("setting") + " (copy)")
    both = pl.concat([originals, copies], how="diagonal").with_columns(question="task_id")
    players, played = players_of(originals), players_of(copies)
    pairs = [((model, setting), (model, f"{setting} (copy)")) for model, setting in sorted(players)]
    return comparisons_of(both, suite, seed=seed, pairs=[pair for pair in pairs if pair[1] in played])


def method_notes(rows: Iterable[ReportRow], pairs: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield notes on the methods behind intervals and tests, and on the reasons for which intervals are missing."""
    rows, measures = list(rows), [measure for pair in pairs for measure in pair["measures"].values()]
    tested = {measure["unit"] for measure in measures}
    units = tested.union(row["unit"] for row in rows if row["intervals"])
    reasons = {one["no_interval"] for one in measures if one["difference"] is not None and one["no_interval"]}
    reasons = reasons.union(*(row["no_interval"].values() for row in rows))
    if units:
        yield (
            "Intervals: 95 %, by t with a cluster-robust standard error; of shares with one more graph that is half"
            " right."
        )
        yield from (note for unit, note in _INTERVALS.items() if unit in units)
    if reasons:
        causes = ", or ".join(sorted(reasons))
        yield f"{UNKNOWN} instead of an interval: {causes}; the variance between them is unknown."
    if tested:
        yield ("Pairs: first − second on identical tasks, repeats averaged; percentages differ in percentage points.")
        yield from (note for unit, note in _TESTS.items() if unit in tested)


def _measure(compared: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the fields of a measure of this kind."""
    scale, most = _UNITS.get(kind, (1, math.inf))
    ends, clusters = (compared["low"], compared["high"]), int(compared["clusters"])
    return {
        "difference": _scaled(compared["value"], scale),
        "interval": None if None in ends else [round(max(-most, min(most, scale * end)), DIGITS) for end in ends],
        "no_interval": compared["reason"],
        **{name: _scaled(compared[name], scale) for name in ("first_mean", "second_mean")},
        "tasks": int(compared["n"]),
        "graphs": clusters if compared["unit"] == "graph" else min(clusters, 1),
        "unit": compared["unit"],
        "p_value": compared["p_value"],
        "p_holm": None,
        "p_least": None if compared["p_value"] is None else least_p_value(clusters),
        **{name: compared[name] for name in ("first_better", "second_better", "equal")},
    }


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else round(scale * value, DIGITS)


@dataclass(frozen=True)
class RunComparison:
    """Players of one or more runs: `overall` of `comparisons_of`, `by_size` of `comparisons_by_size`, and a verdict.

    `split`: the requested grouping with its `comparisons_by`.
    """

    suite: str
    measures: tuple[str, ...]
    overall: list[dict[str, Any]]
    by_size: list[dict[str, Any]]
    notes: tuple[str, ...]
    verdict: tuple[str, ...] = ()
    incomplete: str | None = None
    is_scored: bool = True
    split: tuple[Grouping, list[dict[str, Any]]] | None = None

    def as_dict(self) -> dict[str, Any]:
        names = ("suite", "verdict", "overall", "by_size", "notes")
        split = {f"by_{self.split[0].name}": self.split[1]} if self.split else {}
        return {"schema_version": SCHEMA_VERSION, **{name: getattr(self, name) for name in names}, **split}


@dataclass
class _ComparedRun:
    """A run to compare. `tasks`: task → field → digests, several if variants word a question differently."""

    folder: RunFolder
    manifest: Mapping[str, Any]
    tasks: dict[str, dict[str, set[str]]] = field(default_factory=dict)

    def records(self) -> Iterator[ResultRecord]:
        """Yield the results and collect the digests of their tasks."""
        names = self.manifest["config"]["names"]
        for result in explained(self.folder):
            digests = self.tasks.setdefault(result["task_id"], {})
            for name in result["task"].keys() - _REFERENCE:
                text = json.dumps(result["task"][name], sort_keys=True)
                digests.setdefault(name, set()).add(hashlib.sha256(text.encode()).hexdigest())
            yield {**result, "model": names.get(result["model"], result["model"])}


def compare_runs(
    paths: Sequence[Path], *, models: Sequence[str] = (), settings: Sequence[str] = (), by: str | None = None
) -> RunComparison:
    """Compare all pairs of players, or these; `by`: also in each group of one of `SPLITS`.

    RunLogError if tasks differ, ConfigError for fewer than two players and for no task with a group.
    """
    folders = [RunFolder.open(path) for path in paths]
    names = short_names([folder.path for folder in folders])
    runs = [_ComparedRun(folder, folder.read_manifest()) for folder in folders]
    suites = {run.manifest["config"]["suite"]["name"] for run in runs}
    if len(suites) > 1:
        raise ConfigError(f"these are runs of different suites: {', '.join(sorted(suites))}")
    declared = analysis_of(folders[0].suite).report().under(run.manifest["config"]["protocol"] for run in runs)
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
    seed = runs[0].manifest["config"]["seed"]
    overall = comparisons_of(compared, declared, seed=seed)
    by_size = comparisons_by_size(compared, declared, seed=seed)
    sizes = (grouping for grouping in declared.groupings if grouping.name == SIZE)
    primary, *others = [run.manifest["config"].get("primary") for run in runs]
    verdict = verdict_on(
        compared,
        declared,
        rows_of(compared, declared),
        overall,
        rows_by_size=[row for grouping in sizes for row in rows_of(compared, declared, grouping)],
        pairs_by_size=by_size,
        primary=primary if all(other == primary for other in others) else None,
    )
    split = None
    if by:
        split = declared.all_groupings[by], comparisons_by(declared.all_groupings[by], compared, declared, seed=seed)
        if not split[1]:
            raise ConfigError(
                f"cannot split by {by}: the calls that the expert needs are unknown", hint="--by question"
            )
    notes = [*notes, *method_notes((), [*overall, *(split[1] if split else ())])]
    return RunComparison(declared.suite, declared.compared, overall, by_size, tuple(notes), verdict, split=split)


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
        what = f"{names} differ in {counted(len(changed), 'task')} of the same name"
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
