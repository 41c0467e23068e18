"""The report of a run: its figures as plain data, made of a run folder or of observed results."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Any

import polars as pl

from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.compare import memorisation_test, method_notes, pairs_by_size, pairs_of
from graphwalk.analysis.report.episodes import Observations, observe, rows_of
from graphwalk.analysis.report.names import check_model_names, names_of
from graphwalk.analysis.report.rows import Pair, ReportRow
from graphwalk.analysis.report.suite_report import MARK, NOT_PUBLISHED, SIZE, Reference, SuiteReport
from graphwalk.analysis.report.verdict import one_call, verdict_on
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.config.resources import YamlFile
from graphwalk.errors import RunLogError, counted
from graphwalk.runs.experiment import (
    DEFAULT_PROTOCOL,
    deviations,
    field_value,
    load_experiment,
    protocol_note,
    shipped_experiments,
)
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.record import EpisodeKey, ResultRecord, key_of
from graphwalk.sanitise import one_line
from graphwalk.suites.suite import suite_named
from graphwalk.version import SCHEMA_VERSION


@dataclass(frozen=True)
class RunProtocol:
    """The protocol of a run, and the dotted fields in which the run differs from it."""

    name: str
    differences: list[str]


@dataclass(frozen=True)
class Report:
    """The report of one run, which terminal, page, Markdown and notebook print.

    `rows` has one row per model and setting, `groups` one per group, model and setting, by the name of the grouping.
    `baselines` and `baseline_groups` are the rows of baselines. `comparisons` are differences first − second on
    identical tasks (compare.py).
    """

    suite: SuiteReport
    rows: list[ReportRow]
    baselines: list[ReportRow]
    groups: dict[str, list[ReportRow]]
    baseline_groups: dict[str, list[ReportRow]]
    comparisons: list[Pair]
    comparisons_by_size: list[Pair]
    """`comparisons` at each size of the graph, if there are several."""
    memorisation_test: list[Pair]
    """Each contestant on graphs against their anonymised copies, as `comparisons`."""
    reference: Reference
    """The published results beside those of this run; without a source if there are none."""
    notes: tuple[str, ...]
    verdict: tuple[str, ...] = ()
    """Sentences on failed episodes, differences, causes of wrong answers, and questions of one call (verdict.py)."""
    incomplete: str | None = None
    """Note on an unfinished run."""
    protocol: RunProtocol | None = None

    @property
    def follows_paper(self) -> bool:
        """Return True if the run has the paper's protocol, or published results beside it."""
        if self.reference.source:
            return True
        return self.protocol is not None and self.protocol.name == "paper"

    def all_rows(self, grouping: str | None = None) -> list[ReportRow]:
        """Return rows of contestants and baselines, then published ones of the same groups, marked behind the model."""
        if grouping is None:
            rows = self.rows + self.baselines
        else:
            rows = self.groups.get(grouping, []) + self.baseline_groups.get(grouping, [])
        if not self.reference.source:
            return rows

        groups = {row.group for row in rows}
        published = []
        for row in self.reference.report_rows(grouping):
            if row.group in groups:
                marked = row.contestant._replace(model=one_line(row.model) + MARK)
                published.append(replace(row, contestant=marked))
        return rows + published

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "suite": self.suite.suite,
            "rows": _dicts(self.rows),
            "baselines": _dicts(self.baselines),
            "groups": {name: _dicts(rows, name) for name, rows in self.groups.items()},
            "baseline_groups": {name: _dicts(rows, name) for name, rows in self.baseline_groups.items()},
            "comparisons": _dicts(self.comparisons),
            "comparisons_by_size": _dicts(self.comparisons_by_size, SIZE),
            "memorisation_test": _dicts(self.memorisation_test),
            "verdict": self.verdict,
            "notes": self.notes,
            "incomplete": self.incomplete,
            "protocol": None if self.protocol is None else asdict(self.protocol),
            "reference": asdict(self.reference) if self.reference.source else None,
        }


def _dicts(rows: Iterable[ReportRow | Pair], grouping: str | None = None) -> list[dict[str, Any]]:
    return [row.as_dict(grouping) for row in rows]


def report_of(
    folder: RunFolder, records: Iterable[dict[str, Any]] | None = None, *, names: Mapping[str, str] = {}
) -> Report:
    """Return the report of a run; `records`: its results, by default with their explanations.

    `names`: other names of models, which replace those of the run. Raise ConfigError for the name of no model.

    Raise RunLogError for results of another form.
    """
    manifest = folder.read_manifest()
    config = manifest["config"]
    if names:
        check_model_names(names, [config])
    names = names_of(config, names)
    declared = analysis_of(suite_named(config["suite"]["name"])).report()
    results = _NamedResults(explained(folder) if records is None else records, names)
    # Without its API key, a run may have played without the extractor that it names.
    extractor = config["extractor"]
    without_extractor = bool(extractor) and manifest["fingerprint"]["stage_2"] is None
    reference, why_unpublished = _published(declared, config, without_extractor=without_extractor)
    try:
        report = report_on(
            observe(results, declared, config["protocol"]),
            reference=reference,
            seed=config["seed"],
            primary=config.get("primary"),
            windows=_windows(manifest),
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        cause = f"{type(error).__name__}: {error}"
        raise RunLogError(
            f"{folder.path}: a result does not have the form of its suite ({cause})",
            hint=f"to find the line: graphwalk verify {folder.quoted}",
        ) from error

    incomplete = _missing_part(manifest, len(results.episodes))
    first = [note for note in (incomplete, protocol_note(config)) if note]
    notes = [*first, *report.notes]
    if names:
        named = ", ".join(f"{name} is {model}" for model, name in names.items())
        notes.append(f"Names of models: {named}.")
    if why_unpublished is not None:
        notes.append(why_unpublished)
    ambiguous = sum(row.count("lossy_readings") for row in report.rows)
    if ambiguous:
        hint = "" if extractor else " To let a model read such replies: -o extractor=PROVIDER/MODEL."
        answers = counted(ambiguous, "answer")
        notes.append(f"Ambiguous: {answers}; the reply may mean another one, and the last one counts.{hint}")
    if without_extractor:
        notes.append(f"Run without the extractor {extractor['model']}: replies are scored as the parser reads them.")
    for missing, number in results.missing.most_common():
        notes.append(f"{counted(number, 'result')} with {missing}.")
    notes += [str(line) for line in manifest.get("unplayed", ())]
    protocol = RunProtocol(config["protocol"], deviations(config))
    return replace(report, notes=tuple(notes), incomplete=incomplete, protocol=protocol)


class _NamedResults:
    """The results of a run under the names of its models; counts episodes and what is missing while they are read."""

    def __init__(self, records: Iterable[ResultRecord], names: Mapping[str, str]) -> None:
        self._records = records
        self._names = names
        self.episodes: set[EpisodeKey] = set()
        self.missing: Counter[str] = Counter()
        """By what is missing: "evidence missing: the graph cannot be read"."""

    def __iter__(self) -> Iterator[ResultRecord]:
        for record in self._records:
            self.episodes.add(key_of(record))
            missing = (record["score"] or {}).get("missing")
            if missing:
                self.missing[missing] += 1
            model = record["model"]
            yield {**record, "model": self._names.get(model, model)}


def report_on(
    observed: Observations,
    *,
    reference: Reference = NOT_PUBLISHED,
    seed: int = 0,
    primary: Sequence[str] | None = None,
    windows: Mapping[str, int] = MappingProxyType({}),
) -> Report:
    """Return the report of observed results. `seed` is used by randomisation tests with many graphs.

    `primary`: the two settings of the primary comparison. `windows`: the context window by model, where it is known.
    """
    declared = observed.suite
    episodes = observed.episodes
    rows = rows_of(episodes, declared)
    groups = _groups(episodes, declared)
    baselines = rows_of(observed.baselines, declared)
    comparisons = pairs_of(episodes, declared, seed=seed)
    # Who shares no tasks overall shares none of a size.
    by_size = pairs_by_size(episodes, declared, seed=seed) if comparisons else []
    verdict = verdict_on(
        episodes,
        declared,
        rows,
        comparisons,
        pairs_by_size=by_size,
        baselines=baselines,
        primary=primary,
        windows=windows,
    )
    # Groups may have too few graphs for an interval where the whole run has enough.
    measured_rows = [*rows, *chain.from_iterable(groups.values())]
    return Report(
        suite=declared,
        rows=rows,
        baselines=baselines,
        groups=groups,
        baseline_groups=_groups(observed.baselines, declared),
        comparisons=comparisons,
        comparisons_by_size=by_size,
        memorisation_test=memorisation_test(episodes, declared, seed=seed),
        reference=reference,
        notes=(*declared.notes, *method_notes(measured_rows, comparisons), *observed.remarks),
        verdict=(*verdict, *one_call(episodes, declared)),
    )


def _groups(episodes: pl.DataFrame, declared: SuiteReport) -> dict[str, list[ReportRow]]:
    """Return the rows of each grouping that has groups."""
    groups = {}
    for grouping in declared.groupings:
        rows = rows_of(episodes, declared, grouping)
        if rows:
            groups[grouping.name] = rows
    return groups


def origin_of(folder: RunFolder) -> str:
    """Return seed, graphs, version and digest of a run, for the captions of a paper."""
    manifest = folder.read_manifest()
    version = manifest["graphwalk_version"]
    seed = manifest["config"]["seed"]
    graphs = counted(len(manifest["fingerprint"]["graphs"]), "graph")
    return f"Seed {seed}, {graphs}, GraphWalk {version}, results sha256 {folder.results_digest()[:16]}"


def _published(
    declared: SuiteReport, config: Mapping[str, Any], *, without_extractor: bool
) -> tuple[Reference, str | None]:
    """Return the published rows that belong beside those of a run, or a note if there should be some and are none."""
    name = config["reference"]
    if not name:
        return NOT_PUBLISHED, None
    if name not in declared.references:
        return NOT_PUBLISHED, f"Published figures are not shown: the suite has no table {name!r}."

    # ["agent.turn_limit", "extractor (no API key)"]
    differences = published_differences(config)
    if without_extractor:
        differences.append("extractor (no API key)")
    if differences:
        hint = "" if config["protocol"] == "paper" else " For the papers' settings: --protocol paper."
        return NOT_PUBLISHED, f"Published figures are not shown: this run has its own {', '.join(differences)}.{hint}"
    return declared.references[name]().with_settings(config["settings"]), None


def published_differences(config: Mapping[str, Any]) -> list[str]:
    """Return the dotted fields in which a run differs from the published one whose figures its `reference` names.

    That is the nearest built-in experiment with this reference under the protocol `paper`. Models, seed, store and the
    numbers of graphs are free; a run may have a part of the settings, graphs and sizes.
    """
    if config["protocol"] == DEFAULT_PROTOCOL:
        return ["protocol"]
    nearest: list[str] | None = None
    for name, path in shipped_experiments().items():
        if YamlFile.read(path).data.get("reference") != config["reference"]:
            continue
        published = load_experiment(name, (), {"protocol": "paper"}).model_dump(mode="json")
        fields = ["repeats", "limit", "settings", "extractor", "scoring.extraction"]
        for part in ("suite", "agent"):
            fields += [f"{part}.{field}" for field in published[part]]
        differences = [
            field for field in fields if not _is_part(field_value(config, field), field_value(published, field))
        ]
        if nearest is None or len(differences) < len(nearest):
            nearest = differences
    return nearest or []


def _is_part(part: Any, whole: Any) -> bool:
    """Return True if each entry of a list is in the whole one; `count` in an entry is free."""
    if isinstance(part, list) and isinstance(whole, list):
        return all(_is_part_of_any(entry, whole) for entry in part)
    # {"preset": "paper-100", "count": 2} is a part of {"preset": "paper-100", "count": 10}.
    if isinstance(part, dict) and isinstance(whole, dict):
        names = (part.keys() | whole.keys()) - {"count"}
        return all(_is_part(part.get(name), whole.get(name)) for name in names)
    return bool(part == whole)


def _is_part_of_any(part: Any, wholes: Sequence[Any]) -> bool:
    return any(_is_part(part, whole) for whole in wholes)


def _windows(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return the context window by the model's name: the smaller one of its server's and `limits.context_tokens`."""
    config = manifest["config"]
    # Of a run without models in its experiment, the models are those whose servers reported a window.
    limit = config["limits"].get("context_tokens")
    reported = manifest.get("context_tokens", {})
    windows = {}
    for model in config["models"] or reported:
        sizes = [tokens for tokens in (limit, reported.get(model)) if tokens]
        if sizes:
            windows[config["names"].get(model, model)] = min(sizes)
    return windows


def _missing_part(manifest: Mapping[str, Any], episodes: int) -> str | None:
    """Return the note for an unfinished run, None for a finished one."""
    planned = manifest["fingerprint"]["episodes"]
    if episodes < planned:
        return f"NOT FINISHED: {episodes} of {planned} planned episodes; the figures cover only these."
    return None
