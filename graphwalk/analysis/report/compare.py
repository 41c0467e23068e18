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
from graphwalk.analysis.report.names import check_names, names_of
from graphwalk.analysis.report.suite_report import ACCURACY, DIGITS, PERCENT, SIZE, Grouping, ReportRow, SuiteReport
from graphwalk.analysis.report.text_table import OVER_QUESTIONS, UNKNOWN
from graphwalk.analysis.report.verdict import verdict_on
from graphwalk.analysis.statistics import compare, holm, least_p_value, tasks_of
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.errors import ConfigError, RunLogError, counted
from graphwalk.runs.experiment import DEFAULT_PROTOCOL, protocol_note
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import differences
from graphwalk.runs.record import ResultRecord
from graphwalk.version import SCHEMA_VERSION

_MOST_SIZES = 5
_OF_NO_EPISODE = frozenset(
    {"name", "description", "models", "names", "settings", "repeats", "limit", "limits", "prices", "reference"}
)
"""Fields of the configuration that do not affect a single episode."""
Player = tuple[str, str]
_PAIR = ("first_model", "first_setting", "second_model", "second_setting")


def comparisons_of(
    episodes: pl.DataFrame,
    suite: SuiteReport,
    *,
    seed: int,
    grouping: Grouping | None = None,
    pairs: Iterable[tuple[Player, Player]] | None = None,
) -> list[dict[str, Any]]:
    """Compare the pairs of players that share tasks, overall or in each group; `pairs`: only these.

    A pair has `first_model`, `first_setting`, the same of the second, its group by the name of the grouping, and
    `measures` (those that the suite compares). Each has `difference` (first − second, repeats averaged per task; in
    percentage points or in the unit of the measure) with `interval`, or `no_interval` with the reason; `first_mean` and
    `second_mean` in the same unit; `tasks`, `graphs`, `unit` (graph or question: the independent unit); `p_value` (sign
    flips over these units, mid-p) and `p_exact` (whether all of them are counted); `p_holm` (the p adjusted over all
    pairs of all groups) and `p_least` (the smallest p that this number of units allows); and tasks `first_better`,
    `second_better`, `equal`.
    """
    parts: dict[Any, pl.DataFrame] = {None: episodes}
    if grouping:
        # A task is in one group, also if runs differ in what it needs.
        group = pl.col(grouping.column).drop_nulls().first().over("task_id")
        groups = episodes.with_columns(group.alias(grouping.column)).drop_nulls(grouping.column)
        by_group = {group: part for (group,), part in groups.partition_by(grouping.column, as_dict=True).items()}
        parts = {group: by_group[group] for group in sorted(by_group, key=grouping.sort_key)}
    kinds = {measure.name: measure.kind for measure in suite.measures}
    compared = list[dict[str, Any]]()
    for group, part in parts.items():
        names = list(combinations(players_of(part), 2) if pairs is None else pairs)
        frame = pl.DataFrame(
            [(*first, *second) for first, second in names], dict.fromkeys(_PAIR, pl.String), orient="row"
        )
        figures = compare(tasks_of(part, PLAYER, suite.compared), frame, suite.compared, seed=seed)
        for of_pair in figures.partition_by(_PAIR, maintain_order=True):
            rows = of_pair.to_dicts()
            measures = {row["measure"]: _measure(row, kinds[row["measure"]]) for row in rows}
            if measures[ACCURACY]["tasks"]:
                named = {name: rows[0][name] for name in _PAIR}
                compared.append({**({grouping.name: group} if grouping else {}), **named, "measures": measures})
    for name in suite.compared:
        of_pairs = [pair["measures"][name] for pair in compared]
        for measure, p_holm in zip(of_pairs, holm([measure["p_value"] for measure in of_pairs]), strict=True):
            measure["p_holm"] = p_holm
    return compared


def _measure(row: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the fields of a measure of this kind, which are shares of PERCENT for percentages."""
    scale = PERCENT if kind == "percent" else 1
    most = scale if kind in ("percent", "share") else math.inf

    def scaled(value: float | None) -> float | None:
        return None if value is None else round(max(-most, min(most, scale * value)), DIGITS)

    clusters = int(row["clusters"])
    return {
        "difference": scaled(row["value"]),
        "interval": None if row["low"] is None else [scaled(row["low"]), scaled(row["high"])],
        "no_interval": row["reason"],
        "first_mean": scaled(row["first_mean"]),
        "second_mean": scaled(row["second_mean"]),
        "tasks": int(row["n"]),
        "graphs": clusters if row["unit"] == "graph" else min(clusters, 1),
        "unit": row["unit"],
        "p_value": row["p_value"],
        "p_exact": None if row["p_value"] is None else row["p_exact"],
        "p_holm": None,
        "p_least": None if row["p_value"] is None else least_p_value(clusters),
        **{name: row[name] for name in ("first_better", "second_better", "equal")},
    }


def comparisons_by_size(episodes: pl.DataFrame, suite: SuiteReport, *, seed: int) -> list[dict[str, Any]]:
    """Return `comparisons_of` at each size of the graph, if there are two to five."""
    size = suite.all_groupings.get(SIZE)
    if size is None or not 1 < episodes[size.column].drop_nulls().n_unique() <= _MOST_SIZES:
        return []
    return comparisons_of(episodes, suite, seed=seed, grouping=size)


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


def method_notes(rows: Sequence[ReportRow], pairs: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield notes on the methods behind intervals and tests, and on the reasons for which intervals are missing."""
    measures = [measure for pair in pairs for measure in pair["measures"].values()]
    yield (
        "Intervals: 95 %, by t with a cluster-robust standard error; the graph is the cluster, since tasks on one graph"
        " are dependent. Those of shares have one more graph that is half right."
    )
    if measures:
        yield "Pairs: first − second on identical tasks, repeats averaged; percentages differ in percentage points."
        yield "Holm p: sign-flip test over graphs (mid-p), adjusted over all pairs of its table."
    if "question" in {one["unit"] for one in (*rows, *measures)}:
        yield f"Where all tasks are on one graph, both are {OVER_QUESTIONS}; they do not hold for other graphs."
    reasons = {one["no_interval"] for one in measures if one["difference"] is not None and one["no_interval"]}
    if reasons := reasons.union(*(row["no_interval"].values() for row in rows)):
        causes = ", or ".join(sorted(reasons))
        yield f"{UNKNOWN} instead of an interval: {causes}; the variance between them is unknown."


@dataclass(frozen=True)
class RunComparison:
    """Players of one or more runs: `overall` of `comparisons_of`, `by_size` of `comparisons_by_size`, and a verdict.

    `split`: the requested grouping with its `comparisons_of`.
    """

    suite: str
    measures: tuple[str, ...]
    overall: list[dict[str, Any]]
    by_size: list[dict[str, Any]]
    notes: tuple[str, ...]
    verdict: tuple[str, ...] = ()
    incomplete: str | None = None
    split: tuple[Grouping, list[dict[str, Any]]] | None = None

    def as_dict(self) -> dict[str, Any]:
        names = ("suite", "verdict", "overall", "by_size", "notes")
        split = {f"by_{self.split[0].name}": self.split[1]} if self.split else {}
        return {"schema_version": SCHEMA_VERSION, **{name: getattr(self, name) for name in names}, **split}


@dataclass
class _ComparedRun:
    """A run to compare. `names`: those of its models. `tasks`: task → digest of its graph and target."""

    folder: RunFolder
    manifest: Mapping[str, Any]
    names: Mapping[str, str]
    tasks: dict[str, str] = field(default_factory=dict)

    def records(self) -> Iterator[ResultRecord]:
        """Yield the results and collect their tasks."""
        names = self.names
        for result in explained(self.folder):
            content = json.dumps([result["task"]["graph_digest"], result["task"]["gold"]], sort_keys=True)
            self.tasks[result["task_id"]] = hashlib.sha256(content.encode()).hexdigest()
            yield {**result, "model": names.get(result["model"], result["model"])}


def compare_runs(
    paths: Sequence[Path],
    *,
    models: Sequence[str] = (),
    settings: Sequence[str] = (),
    by: str | None = None,
    names: Mapping[str, str] = {},
) -> RunComparison:
    """Compare all pairs of players, or these; `by`: also in each group of one of `SPLITS`.

    `names`: other names of models, which replace those of the runs. Raise RunLogError if tasks differ, ConfigError for
    fewer than two players, for no task with a group, and for the name of no model.
    """
    folders = [RunFolder.open(path) for path in paths]
    run_names = _short_names([folder.path.resolve() for folder in folders])
    manifests = [folder.read_manifest() for folder in folders]
    configs = [manifest["config"] for manifest in manifests]
    check_names(names, configs)
    runs = [
        _ComparedRun(folder, manifest, names_of(manifest["config"], names))
        for folder, manifest in zip(folders, manifests, strict=True)
    ]
    suites = {config["suite"]["name"] for config in configs}
    if len(suites) > 1:
        raise ConfigError(f"these are runs of different suites: {', '.join(sorted(suites))}")
    declared, protocols = analysis_of(folders[0].suite).report(), {config["protocol"] for config in configs}
    protocol = protocols.pop() if len(protocols) == 1 else DEFAULT_PROTOCOL
    measured = [
        observe(run.records(), declared, protocol).episodes.with_columns(run=pl.lit(name))
        for name, run in zip(run_names, runs, strict=True)
    ]
    episodes = pl.concat(measured, how="vertical_relaxed")
    notes = [f"{name}: {protocol_note(config)}" for name, config in zip(run_names, configs, strict=True)]
    notes += [line for other in runs[1:] for line in _differences(runs[0], other)]

    name_of = {model: name for run in runs for model, name in run.names.items()}
    compared = chosen(episodes, [name_of.get(model, model) for model in models], settings)
    if len(runs) > 1:
        compared = compared.with_columns(model=pl.format("{} @ {}", "model", "run"))
    if len(players_of(compared)) < 2:
        played = ", ".join(map(" ".join, players_of(episodes)))
        raise ConfigError("there are no two players to compare", hint=f"played: {played or 'nothing yet'}")
    seed = configs[0]["seed"]
    overall = comparisons_of(compared, declared, seed=seed)
    by_size = comparisons_by_size(compared, declared, seed=seed)
    verdict = verdict_on(
        compared,
        declared,
        rows_of(compared, declared),
        overall,
        pairs_by_size=by_size,
        primary=configs[0].get("primary") if len({str(config.get("primary")) for config in configs}) == 1 else None,
    )
    split = None
    if by:
        grouping = declared.all_groupings[by]
        split = grouping, comparisons_of(compared, declared, seed=seed, grouping=grouping)
        if not split[1]:
            raise ConfigError(
                f"cannot split by {by}: the calls that the expert needs are unknown", hint="--by question"
            )
    notes += method_notes((), [*overall, *(split[1] if split else ())])
    return RunComparison(declared.suite, declared.compared, overall, by_size, tuple(notes), tuple(verdict), split=split)


def _short_names(paths: Sequence[Path]) -> list[str]:
    """Return the names of runs, or whole paths if two are equal. Raise ConfigError if one is given twice."""
    if len(set(paths)) < len(paths):
        raise ConfigError("a run is compared with itself", hint="name it once: its models and settings are compared")
    short = [path.name for path in paths]
    return short if len(set(short)) == len(short) else [str(path) for path in paths]


def _differences(first: _ComparedRun, second: _ComparedRun) -> list[str]:
    """Describe the differences of two runs. Raise RunLogError if they cannot be compared."""
    versions = [run.manifest.get("graphwalk_version") for run in (first, second)]
    lines = [f"version: {versions[0]} → {versions[1]}"] if versions[0] != versions[1] else []
    configs = [
        {name: value for name, value in run.manifest["config"].items() if name not in _OF_NO_EPISODE}
        for run in (first, second)
    ]
    lines += [f"{name}: {then} → {now}" for name, (then, now) in differences(*configs).items()]
    prints = [run.manifest["fingerprint"] for run in (first, second)]
    lines += [f"text: {name}" for name in differences(*(one["texts"] for one in prints))]
    common = first.tasks.keys() & second.tasks.keys()
    changed = sorted(task for task in common if first.tasks[task] != second.tasks[task])
    names = f"{first.folder.path} and {second.folder.path}"
    if changed or not common:
        what = (
            f"differ in graph or target of {counted(len(changed), 'task')} of the same name, for example {changed[0]}"
            if changed
            else f"share no task of {len(first.tasks)} and {len(second.tasks)}"
        )
        raise RunLogError(
            "\n  ".join([f"{names} {what}", *lines]),
            hint="compare runs of the same graphs and questions: the same suite settings, --seed, --graphs",
        )
    if prints[0]["scorer"] != prints[1]["scorer"]:
        raise RunLogError(
            f"{names} were scored by different code: {prints[0]['scorer']} → {prints[1]['scorer']}",
            hint="; ".join(f"graphwalk rescore {run.folder.quoted}" for run in (first, second)),
        )
    left_out = len(first.tasks) + len(second.tasks) - 2 * len(common)
    if left_out:
        lines.insert(0, f"tasks: {len(common)} in both; {left_out} in one run only, left out")
    return [f"{second.folder.path.name} against {first.folder.path.name}: {line}" for line in lines]
