"""The report of a run: its figures as plain data, made of a run folder or of observed results."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Any

import polars as pl

from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.compare import comparisons_by_size, comparisons_of, memorisation_test, method_notes
from graphwalk.analysis.report.episodes import Observations, observe, rows_of
from graphwalk.analysis.report.names import check_names, names_of
from graphwalk.analysis.report.suite_report import MARK, NOT_PUBLISHED, Reference, ReportRow, SuiteReport
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
from graphwalk.runs.folder import RunFolder, own_episodes, shard_in_words
from graphwalk.runs.record import EpisodeKey, ResultRecord, key_of
from graphwalk.sanitise import one_line
from graphwalk.version import SCHEMA_VERSION


@dataclass(frozen=True)
class Report:
    """The report of one run, which terminal, page, Markdown and notebook print.

    `rows` has one row per model and setting, `groups` one per group, model and setting. `baselines` and
    `baseline_groups` are the rows of baselines. `comparisons` are differences first − second on identical tasks
    (compare.py).
    """

    suite: SuiteReport
    rows: list[ReportRow]
    baselines: list[ReportRow]
    groups: dict[str, list[ReportRow]]
    baseline_groups: dict[str, list[ReportRow]]
    comparisons: list[dict[str, Any]]
    comparisons_by_size: list[dict[str, Any]]
    """`comparisons` at each size of the graph, if there are several."""
    memorisation_test: list[dict[str, Any]]
    """Each player on graphs against their anonymised copies, as `comparisons`."""
    reference: Reference
    """The published results beside those of this run; without a source if there are none."""
    notes: tuple[str, ...]
    verdict: tuple[str, ...] = ()
    """Sentences on failed episodes, differences, causes of wrong answers, and questions of one call (verdict.py)."""
    incomplete: str | None = None
    """Note on an unfinished run."""
    protocol: Mapping[str, Any] | None = None
    """`name` of the run's protocol, and `differences` from it: [field, value of the protocol, value of the run]."""

    @property
    def follows_paper(self) -> bool:
        """Return True if the run has the paper's protocol, or published results beside it."""
        return bool(self.reference.source) or (self.protocol or {}).get("name") == "paper"

    def all_rows(self, grouping: str | None = None) -> list[ReportRow]:
        """Return rows of players and baselines, then published ones of the same groups, marked behind their model."""
        if grouping is None:
            rows, published = [*self.rows, *self.baselines], self.reference.rows
        else:
            rows = [*self.groups.get(grouping, ()), *self.baseline_groups.get(grouping, ())]
            groups = {row[grouping] for row in rows}
            published = tuple(row for row in self.reference.groups.get(grouping, ()) if row[grouping] in groups)
        marked = ({**row, "model": one_line(row["model"]) + MARK, "published": True} for row in published)
        return [*rows, *marked]

    def as_dict(self) -> dict[str, Any]:
        tables = ("rows", "baselines", "groups", "baseline_groups", "comparisons", "comparisons_by_size")
        names = (*tables, "memorisation_test", "verdict", "notes", "incomplete", "protocol")
        return {
            "schema_version": SCHEMA_VERSION,
            "suite": self.suite.suite,
            **{name: getattr(self, name) for name in names},
            "reference": asdict(self.reference) if self.reference.source else None,
        }


def report_of(
    folder: RunFolder, records: Iterable[dict[str, Any]] | None = None, *, names: Mapping[str, str] = {}
) -> Report:
    """Return the report of a run; `records`: its results, by default with their explanations.

    `names`: other names of models, which replace those of the run. Raise ConfigError for the name of no model.

    Raise RunLogError for results of another form.
    """
    manifest = folder.read_manifest()
    config = manifest["config"]
    check_names(names, [config])
    names = names_of(config, names)
    declared = analysis_of(folder.suite).report()
    episodes, missing = set[EpisodeKey](), Counter[str]()

    def named_records() -> Iterator[ResultRecord]:
        for record in explained(folder) if records is None else records:
            episodes.add(key_of(record))
            missing.update(filter(None, [(record["score"] or {}).get("missing")]))
            yield {**record, "model": names.get(record["model"], record["model"])}

    extractor = config["extractor"]
    without_extractor = bool(extractor) and manifest["fingerprint"]["stage_2"] is None
    reference, notes = _published(declared, config, without_extractor=without_extractor)
    try:
        observed = observe(named_records(), declared, config["protocol"])
        report = report_on(
            observed,
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
    if names:
        named = ", ".join(f"{name} is {model}" for model, name in names.items())
        notes.insert(0, f"Names of models: {named}.")
    if ambiguous := sum(row["lossy_readings"] for row in report.rows):
        hint = "" if extractor else " To let a model read such replies: -o extractor=PROVIDER/MODEL."
        answers = counted(ambiguous, "answer")
        notes.append(f"Ambiguous: {answers}; the reply may mean another one, and the last one counts.{hint}")
    if without_extractor:
        notes.append(f"Run without the extractor {extractor['model']}: replies are scored as the parser reads them.")
    notes += (f"{counted(number, 'result')} with {text}." for text, number in missing.most_common())
    notes += map(str, manifest.get("unplayed", ()))
    incomplete = _missing_part(manifest, len(episodes))
    first = [note for note in (incomplete, protocol_note(config)) if note]
    protocol = {"name": config["protocol"], "differences": deviations(config)}
    return replace(report, notes=(*first, *report.notes, *notes), incomplete=incomplete, protocol=protocol)


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
    declared, episodes = observed.suite, observed.episodes
    rows, groups = rows_of(episodes, declared), _groups(episodes, declared)
    baselines = rows_of(observed.baselines, declared)
    comparisons = comparisons_of(episodes, declared, seed=seed)
    by_size = comparisons_by_size(episodes, declared, seed=seed)
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
        notes=(*declared.notes, *method_notes(list(chain(rows, *groups.values())), comparisons), *observed.remarks),
        verdict=(*verdict, *one_call(episodes, declared)),
    )


def _groups(episodes: pl.DataFrame, declared: SuiteReport) -> dict[str, list[ReportRow]]:
    """Return the rows of each grouping that has groups."""
    rows = {grouping.name: rows_of(episodes, declared, grouping) for grouping in declared.groupings}
    return {name: of_groups for name, of_groups in rows.items() if of_groups}


def origin_of(folder: RunFolder) -> str:
    """Return seed, graphs, version and digest of a run, for the captions of a paper."""
    manifest = folder.read_manifest()
    version, seed = manifest["graphwalk_version"], manifest["config"]["seed"]
    graphs = counted(len(manifest["fingerprint"]["graphs"]), "graph")
    return f"Seed {seed}, {graphs}, GraphWalk {version}, results sha256 {folder.results_digest()[:16]}"


def _published(
    declared: SuiteReport, config: Mapping[str, Any], *, without_extractor: bool
) -> tuple[Reference, list[str]]:
    """Return the published rows that belong beside those of a run, and a note if there should be some and are none."""
    name = config["reference"]
    if not name:
        return NOT_PUBLISHED, []
    if name not in declared.references:
        return NOT_PUBLISHED, [f"Published figures are not shown: the suite has no table {name!r}."]
    differences = [*published_differences(config), *(["extractor (no API key)"] if without_extractor else [])]
    if differences:
        hint = "" if config["protocol"] == "paper" else " For the papers' settings: --protocol paper."
        return NOT_PUBLISHED, [f"Published figures are not shown: this run has its own {', '.join(differences)}.{hint}"]
    reference, settings = declared.references[name](), set(config["settings"])

    def played(rows: Iterable[ReportRow]) -> tuple[ReportRow, ...]:
        return tuple(row for row in rows if row["setting"] in settings)

    groups = {grouping: played(rows) for grouping, rows in reference.groups.items()}
    return replace(reference, rows=played(reference.rows), groups=groups), []


def published_differences(config: Mapping[str, Any]) -> list[str]:
    """Return the dotted fields in which a run differs from the published one whose figures its `reference` names.

    That is the nearest built-in experiment with this reference under the protocol `paper`. Models, seed, store and the
    numbers of graphs are free; a run may have a part of the settings, graphs and sizes.
    """
    if config["protocol"] == DEFAULT_PROTOCOL:
        return ["protocol"]
    differences = []
    for name, path in shipped_experiments().items():
        if YamlFile.read(path).data.get("reference") == config["reference"]:
            published = load_experiment(name, (), {"protocol": "paper"}).model_dump(mode="json")
            fields = ["repeats", "limit", "settings", "extractor", "scoring.extraction"]
            fields += [f"{part}.{field}" for part in ("suite", "agent") for field in published[part]]
            differs = (
                field for field in fields if not _is_part(field_value(config, field), field_value(published, field))
            )
            differences.append(list(differs))
    return min(differences, key=len, default=[])


def _is_part(part: Any, whole: Any) -> bool:
    """Return True if each entry of a list is in the whole one; `count` in an entry is free."""
    if isinstance(part, list) and isinstance(whole, list):
        return all(any(_is_part(entry, other) for other in whole) for entry in part)
    if isinstance(part, dict) and isinstance(whole, dict):
        names = (part.keys() | whole.keys()) - {"count"}
        return all(_is_part(part.get(name), whole.get(name)) for name in names)
    return bool(part == whole)


def _windows(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return the context window by the model's name: the smaller one of its server's and `limits.context_tokens`."""
    config = manifest["config"]
    limit, reported = config["limits"].get("context_tokens"), manifest.get("context_tokens", {})
    windows = {}
    for model in config["models"] or reported:
        known = [tokens for tokens in (limit, reported.get(model)) if tokens]
        if known:
            windows[config["names"].get(model, model)] = min(known)
    return windows


def _missing_part(manifest: Mapping[str, Any], episodes: int) -> str | None:
    """Return the note for an unfinished run, None for a finished one."""
    planned = manifest["fingerprint"]["episodes"]
    if shard := shard_in_words(manifest):
        own, shard = own_episodes(manifest), shard.replace("shard", "SHARD")
        whole = f"the whole run has {planned} (see graphwalk merge)"
        if episodes < own:
            return f"{shard}, NOT FINISHED: {episodes} of its {own} episodes; {whole}."
        return f"{shard}: complete, {counted(own, 'episode')}; {whole}."
    if episodes < planned:
        return f"NOT FINISHED: {episodes} of {planned} planned episodes; the figures cover only these."
    return None
