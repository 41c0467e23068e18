"""Compare contestants on identical tasks: of one run, across runs, and on a graph against its anonymised copy."""

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.episodes import CONTESTANT, chosen, contestants_of, observe, rows_of
from graphwalk.analysis.report.names import check_model_names, names_of
from graphwalk.analysis.report.rows import Contestant, Group, Interval, MeasureDifference, Pair, ReportRow
from graphwalk.analysis.report.suite_report import ACCURACY, DIGITS, PERCENT, SIZE, Grouping, Kind, SuiteReport
from graphwalk.analysis.report.text_table import OVER_QUESTIONS, UNKNOWN
from graphwalk.analysis.report.verdict import verdict_on
from graphwalk.analysis.statistics import compare_pairs, holm, least_p_value, tasks_of
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.errors import ConfigError, RunLogError, counted
from graphwalk.runs.experiment import DEFAULT_PROTOCOL, protocol_note
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import differences
from graphwalk.runs.record import ResultRecord
from graphwalk.suites.setting import Setting
from graphwalk.version import SCHEMA_VERSION

_MOST_SIZES = 5
_OF_NO_EPISODE = frozenset(
    {"name", "description", "models", "names", "settings", "repeats", "limit", "limits", "prices", "reference"}
)
"""Fields of the configuration that do not affect a single episode."""
_PAIR = ("first_model", "first_setting", "second_model", "second_setting")


def pairs_of(
    episodes: pl.DataFrame,
    suite: SuiteReport,
    *,
    seed: int,
    grouping: Grouping | None = None,
    contestants: Iterable[tuple[Contestant, Contestant]] | None = None,
) -> list[Pair]:
    """Compare the pairs of contestants that share tasks, overall or in each group; `contestants`: only these.

    Each pair has the measures that the suite compares. Holm's p of a measure is adjusted over all pairs of all groups.
    """
    parts: dict[Group | None, pl.DataFrame] = {None: episodes}
    if grouping is not None:
        parts = _parts(episodes, grouping)
    pairs: list[Pair] = []
    for group, part in parts.items():
        names = list(combinations(contestants_of(part), 2) if contestants is None else contestants)
        if not names:  # a single contestant
            continue
        rows = [(first.model, str(first.setting), second.model, str(second.setting)) for first, second in names]
        frame = pl.DataFrame(rows, dict.fromkeys(_PAIR, pl.String), orient="row")
        figures = compare_pairs(tasks_of(part, CONTESTANT, suite.compared), frame, suite.compared, seed=seed)
        for of_pair in figures.partition_by(_PAIR, maintain_order=True):
            pair = _pair(of_pair, suite, group)
            if pair.measures[ACCURACY].tasks:
                pairs.append(pair)
    return _with_holm(pairs, suite.compared) if pairs else []


def _parts(episodes: pl.DataFrame, grouping: Grouping) -> dict[Group | None, pl.DataFrame]:
    """Return the episodes of each group in its order."""
    # A task is in one group, also if runs differ in what it needs.
    group = pl.col(grouping.column).drop_nulls().first().over("task_id")
    episodes = episodes.with_columns(group.alias(grouping.column)).drop_nulls(grouping.column)
    parts = {key[0]: part for key, part in episodes.partition_by(grouping.column, as_dict=True).items()}
    return {group: parts[group] for group in sorted(parts, key=grouping.sort_key)}


def _pair(figures: pl.DataFrame, suite: SuiteReport, group: Group | None) -> Pair:
    """Return a pair from its lines of `statistics.compare_pairs`, one for each measure; p is not adjusted yet."""
    kinds = {measure.name: measure.kind for measure in suite.measures}
    # {"first_model": "a/one", …, "measure": "accuracy", "value": 0.33, "low": 0.1, "high": 0.5, "p_value": 0.031, …}
    lines = figures.to_dicts()
    measures = {line["measure"]: _difference(line, kinds[line["measure"]]) for line in lines}
    first = Contestant(lines[0]["first_model"], Setting.parse(lines[0]["first_setting"]))
    second = Contestant(lines[0]["second_model"], Setting.parse(lines[0]["second_setting"]))
    return Pair(first, second, measures, group)


def _difference(line: Mapping[str, Any], kind: Kind) -> MeasureDifference:
    """Return the difference in a measure of this kind; of percentages it is in percentage points."""
    scale = PERCENT if kind == "percent" else 1
    # A share cannot differ by more than 1, however wide its interval is.
    most = scale if kind in ("percent", "share") else math.inf

    def scaled(value: float) -> float:
        return round(max(-most, min(most, scale * value)), DIGITS)

    def scaled_or_none(value: float | None) -> float | None:
        return None if value is None else scaled(value)

    clusters = int(line["clusters"])
    is_tested = line["p_value"] is not None
    return MeasureDifference(
        difference=scaled_or_none(line["value"]),
        interval=None if line["low"] is None else Interval(scaled(line["low"]), scaled(line["high"])),
        no_interval=line["reason"],
        first_mean=scaled_or_none(line["first_mean"]),
        second_mean=scaled_or_none(line["second_mean"]),
        tasks=int(line["n"]),
        graphs=clusters if line["unit"] == "graph" else min(clusters, 1),
        unit=line["unit"],
        p_value=line["p_value"],
        p_exact=line["p_exact"] if is_tested else None,
        p_holm=None,
        p_least=least_p_value(clusters) if is_tested else None,
        first_better=line["first_better"],
        second_better=line["second_better"],
        equal=line["equal"],
    )


def _with_holm(pairs: Sequence[Pair], measures: Iterable[str]) -> list[Pair]:
    """Return the pairs with the p of each measure adjusted over all of them."""
    adjusted = list(pairs)
    for name in measures:
        p_values = holm([pair.measures[name].p_value for pair in pairs])
        for number, p_holm in enumerate(p_values):
            measure = replace(pairs[number].measures[name], p_holm=p_holm)
            adjusted[number] = replace(adjusted[number], measures={**adjusted[number].measures, name: measure})
    return adjusted


def pairs_by_size(episodes: pl.DataFrame, suite: SuiteReport, *, seed: int) -> list[Pair]:
    """Return `pairs_of` each size of the graph, if there are two to five."""
    size = suite.all_groupings.get(SIZE)
    if size is None or not 1 < episodes[size.column].drop_nulls().n_unique() <= _MOST_SIZES:
        return []
    return pairs_of(episodes, suite, seed=seed, grouping=size)


def memorisation_test(episodes: pl.DataFrame, suite: SuiteReport, *, seed: int) -> list[Pair]:
    """Compare each contestant on a graph and on its anonymised copy, question by question."""
    tasks_of_originals = episodes["twin_of"].drop_nulls()
    if tasks_of_originals.is_empty():
        return []
    originals = episodes.filter(pl.col("task_id").is_in(tasks_of_originals.implode()))

    # The episodes on copies get the task and the graph of the original, and another setting: "tools (copy)".
    graphs = originals.select("task_id", "graph").unique()
    copies = episodes.drop("task_id", "graph").join(graphs, left_on="twin_of", right_on="task_id")
    copies = copies.rename({"twin_of": "task_id"}).with_columns(pl.col("setting") + _COPY)

    both = pl.concat([originals, copies], how="diagonal").with_columns(question="task_id")
    played = set(contestants_of(copies))
    contestants = []
    for original in sorted(contestants_of(originals)):
        copy = original._replace(setting=Setting.parse(f"{original.setting}{_COPY}"))
        if copy in played:
            contestants.append((original, copy))
    return pairs_of(both, suite, seed=seed, contestants=contestants)


_COPY = " (copy)"
"""The end of the setting of episodes on anonymised graphs."""


def method_notes(rows: Sequence[ReportRow], pairs: Iterable[Pair]) -> Iterator[str]:
    """Yield notes on the methods behind intervals and tests, and on the reasons for which intervals are missing."""
    measures: list[MeasureDifference] = []
    for pair in pairs:
        measures += pair.measures.values()
    yield (
        "Intervals: 95 %, by t with a cluster-robust standard error; the graph is the cluster, since tasks on one graph"
        " are dependent. Those of shares have one more graph that is half right."
    )
    if measures:
        yield "Pairs: first − second on identical tasks, repeats averaged; percentages differ in percentage points."
        yield "Holm p: sign-flip test over graphs (mid-p), adjusted over all pairs of its table."
    units = {row.unit for row in rows} | {measure.unit for measure in measures}
    if "question" in units:
        yield f"Where all tasks are on one graph, both are {OVER_QUESTIONS}; they do not hold for other graphs."

    reasons: set[str] = set()
    for row in rows:
        reasons.update(row.no_interval.values())
    for measure in measures:
        if measure.difference is not None and measure.no_interval:
            reasons.add(measure.no_interval)
    if reasons:
        causes = ", or ".join(sorted(reasons))
        yield f"{UNKNOWN} instead of an interval: {causes}; the variance between them is unknown."


@dataclass(frozen=True)
class RunComparison:
    """Contestants of one or more runs: `overall` of `pairs_of`, `by_size` of `pairs_by_size`, and a verdict.

    `split`: the requested grouping with its `pairs_of`.
    """

    suite: str
    measures: tuple[str, ...]
    overall: list[Pair]
    by_size: list[Pair]
    notes: tuple[str, ...]
    verdict: tuple[str, ...] = ()
    incomplete: str | None = None
    split: tuple[Grouping, list[Pair]] | None = None

    def as_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "suite": self.suite,
            "verdict": self.verdict,
            "overall": [pair.as_dict() for pair in self.overall],
            "by_size": [pair.as_dict(SIZE) for pair in self.by_size],
            "notes": self.notes,
        }
        if self.split is not None:
            grouping, pairs = self.split
            fields[f"by_{grouping.name}"] = [pair.as_dict(grouping.name) for pair in pairs]
        return fields


@dataclass
class _ComparedRun:
    """A run to compare. `names`: those of its models. `tasks`: task → digest of its graph and target."""

    title: str
    """The name of its folder, or the path if two have the same name."""
    folder: RunFolder
    manifest: Mapping[str, Any]
    names: Mapping[str, str]
    tasks: dict[str, str] = field(default_factory=dict)

    @property
    def config(self) -> Mapping[str, Any]:
        config: Mapping[str, Any] = self.manifest["config"]
        return config

    @property
    def of_episodes(self) -> dict[str, Any]:
        """The fields of the configuration that affect episodes."""
        return {name: value for name, value in self.config.items() if name not in _OF_NO_EPISODE}

    @property
    def fingerprint(self) -> Mapping[str, Any]:
        fingerprint: Mapping[str, Any] = self.manifest["fingerprint"]
        return fingerprint

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
    """Compare all pairs of contestants, or these; `by`: also in each group of one of `SPLITS`.

    `names`: other names of models, which replace those of the runs. Raise RunLogError if tasks differ, ConfigError for
    fewer than two contestants, for no task with a group, and for the name of no model.
    """
    runs = _open(paths, names)
    declared = analysis_of(runs[0].folder.suite).report()
    seed = runs[0].config["seed"]

    measured = []
    for run in runs:
        observed = observe(run.records(), declared, _protocol(runs))
        measured.append(observed.episodes.with_columns(run=pl.lit(run.title)))
    episodes = pl.concat(measured, how="vertical_relaxed")
    notes = [f"{run.title}: {protocol_note(run.config)}" for run in runs]
    for other in runs[1:]:
        notes += _differences(runs[0], other)

    compared = _chosen(episodes, runs, models, settings)
    overall = pairs_of(compared, declared, seed=seed)
    by_size = pairs_by_size(compared, declared, seed=seed)
    verdict = verdict_on(
        compared, declared, rows_of(compared, declared), overall, pairs_by_size=by_size, primary=_primary(runs)
    )
    split = None
    tested = list(overall)
    if by is not None:
        grouping = declared.all_groupings[by]
        of_groups = pairs_of(compared, declared, seed=seed, grouping=grouping)
        if not of_groups:
            raise ConfigError(
                f"cannot split by {by}: the calls that the expert needs are unknown", hint="--by question"
            )
        split = (grouping, of_groups)
        tested += of_groups
    notes += method_notes((), tested)
    return RunComparison(declared.suite, declared.compared, overall, by_size, tuple(notes), tuple(verdict), split=split)


def _open(paths: Sequence[Path], names: Mapping[str, str]) -> list[_ComparedRun]:
    """Open the runs to compare. Raise ConfigError for runs of different suites, and for the name of no model."""
    folders = [RunFolder.open(path) for path in paths]
    titles = _titles([folder.path.resolve() for folder in folders])
    manifests = [folder.read_manifest() for folder in folders]
    check_model_names(names, [manifest["config"] for manifest in manifests])

    runs = []
    for title, folder, manifest in zip(titles, folders, manifests, strict=True):
        runs.append(_ComparedRun(title, folder, manifest, names_of(manifest["config"], names)))
    suites = {run.config["suite"]["name"] for run in runs}
    if len(suites) > 1:
        raise ConfigError(f"these are runs of different suites: {', '.join(sorted(suites))}")
    return runs


def _titles(paths: Sequence[Path]) -> list[str]:
    """Return the names of runs, or whole paths if two are equal. Raise ConfigError if one is given twice."""
    if len(set(paths)) < len(paths):
        raise ConfigError("a run is compared with itself", hint="name it once: its models and settings are compared")
    names = [path.name for path in paths]
    if len(set(names)) == len(names):
        return names
    return [str(path) for path in paths]


def _protocol(runs: Sequence[_ComparedRun]) -> str:
    """Return the protocol of all runs; if they differ, the usual one."""
    protocols = {run.config["protocol"] for run in runs}
    return protocols.pop() if len(protocols) == 1 else DEFAULT_PROTOCOL


def _primary(runs: Sequence[_ComparedRun]) -> Sequence[str] | None:
    """Return the settings of the primary comparison that all runs declare; None without one, and if they differ."""
    settings: Sequence[str] | None = runs[0].config.get("primary")
    for run in runs[1:]:
        if run.config.get("primary") != settings:
            return None
    return settings


def _chosen(
    episodes: pl.DataFrame, runs: Sequence[_ComparedRun], models: Sequence[str], settings: Sequence[str]
) -> pl.DataFrame:
    """Return the episodes of the requested models and settings. Of several runs, each model has the run in its name.

    Raise ConfigError for fewer than two contestants.
    """
    # Models are chosen by the names in their runs: "openai/gpt-4.1" may be called "Large" there.
    name_of: dict[str, str] = {}
    for run in runs:
        name_of.update(run.names)
    compared = chosen(episodes, [name_of.get(model, model) for model in models], settings)
    if len(runs) > 1:
        compared = compared.with_columns(model=pl.format("{} @ {}", "model", "run"))
    if len(contestants_of(compared)) < 2:
        played = ", ".join(str(contestant) for contestant in contestants_of(episodes))
        raise ConfigError("there are no two contestants to compare", hint=f"played: {played or 'nothing yet'}")
    return compared


def _differences(first: _ComparedRun, second: _ComparedRun) -> list[str]:
    """Describe the differences of two runs. Raise RunLogError if they cannot be compared."""
    common = first.tasks.keys() & second.tasks.keys()
    lines = _setup_differences(first, second)
    _check_tasks(first, second, common, lines)
    _check_scorer(first, second)

    left_out = len(first.tasks) + len(second.tasks) - 2 * len(common)
    if left_out:
        lines.insert(0, f"tasks: {len(common)} in both; {left_out} in one run only, left out")
    return [f"{second.folder.path.name} against {first.folder.path.name}: {line}" for line in lines]


def _setup_differences(first: _ComparedRun, second: _ComparedRun) -> list[str]:
    """Return a line for each difference in version, configuration and texts: `agent.turn_limit: 30 → 20`."""
    lines = []
    # Not checked: another version may score alike, which the scorer's own version tells.
    versions = (first.manifest.get("graphwalk_version"), second.manifest.get("graphwalk_version"))
    if versions[0] != versions[1]:
        lines.append(f"version: {versions[0]} → {versions[1]}")
    for name, (then, now) in differences(first.of_episodes, second.of_episodes).items():
        lines.append(f"{name}: {then} → {now}")
    for name in differences(first.fingerprint["texts"], second.fingerprint["texts"]):
        lines.append(f"text: {name}")
    return lines


def _check_tasks(first: _ComparedRun, second: _ComparedRun, common: Collection[str], lines: Sequence[str]) -> None:
    """Raise RunLogError, with these lines, if runs share no task or if a common task is not the same in both."""
    changed = sorted(task for task in common if first.tasks[task] != second.tasks[task])
    if changed:
        tasks = counted(len(changed), "task")
        problem = f"differ in graph or target of {tasks} of the same name, for example {changed[0]}"
    elif not common:
        problem = f"share no task of {len(first.tasks)} and {len(second.tasks)}"
    else:
        return
    raise RunLogError(
        "\n  ".join([f"{first.folder.path} and {second.folder.path} {problem}", *lines]),
        hint="compare runs of the same graphs and questions: the same suite settings, --seed, --graphs",
    )


def _check_scorer(first: _ComparedRun, second: _ComparedRun) -> None:
    """Raise RunLogError if runs were scored by different code."""
    scorers = (first.fingerprint["scorer"], second.fingerprint["scorer"])
    if scorers[0] == scorers[1]:
        return
    raise RunLogError(
        f"{first.folder.path} and {second.folder.path} were scored by different code: {scorers[0]} → {scorers[1]}",
        hint="; ".join(f"graphwalk rescore {run.folder.quoted}" for run in (first, second)),
    )
