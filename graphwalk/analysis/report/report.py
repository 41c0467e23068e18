"""The report of a run: its figures as plain data, and the tables and plots made of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import polars as pl

from graphwalk.analysis.report.compare import comparisons_of, memorisation_test, method_notes
from graphwalk.analysis.report.episodes import Observations, rows_of
from graphwalk.analysis.report.plots import Plot, by_model, common_plots
from graphwalk.analysis.report.suite_report import Reference, ReportRow, SuiteReport
from graphwalk.analysis.report.tables import text_tables
from graphwalk.analysis.report.text_table import TextTable
from graphwalk.analysis.report.verdict import verdict_on
from graphwalk.suites.task import setting_of
from graphwalk.version import SCHEMA_VERSION


@dataclass(frozen=True)
class Report:
    """The report of one run, which terminal, page, Markdown and notebook print.

    `rows` has one row per model and setting, `groups` one per group, model and setting. `baselines` and
    `baseline_groups` are the rows of baselines. `comparisons` are differences first − second on identical tasks
    (reports/compare.py).
    """

    suite: SuiteReport
    observed: Observations = field(repr=False)
    rows: list[ReportRow]
    baselines: list[ReportRow]
    groups: dict[str, list[ReportRow]]
    baseline_groups: dict[str, list[ReportRow]]
    comparisons: list[dict[str, Any]]
    memorisation_test: list[dict[str, Any]]
    """Each player on graphs against their anonymised copies, as `comparisons`."""
    reference: Reference | None
    notes: tuple[str, ...]
    verdict: tuple[str, ...] = ()
    """Sentences on failed episodes, differences, and causes of wrong answers (reports/verdict.py)."""
    incomplete: str | None = None
    """Note on an unfinished run."""
    protocol: Mapping[str, Any] = field(default_factory=dict)
    """`name` of the run's protocol, and `differences` from it: [field, value of the protocol, value of the run]."""

    @property
    def published(self) -> Reference:
        """Return the published results beside those of this run; without rows if there are none."""
        return self.reference or Reference("")

    @property
    def is_scored(self) -> bool:
        return any(row.get(self.suite.compared[0]) is not None for row in self.rows)

    @cached_property
    def tables(self) -> list[TextTable]:
        """Return the tables overall, model against model, and by group; without empty ones."""
        return list(text_tables(self))

    @cached_property
    def plots(self) -> list[Plot]:
        """Return the plots that show results of this run, beginning with models and settings."""
        return [plot for plot in (by_model(self), *(self.suite.plots or common_plots)(self)) if plot.shows_results]

    def as_dict(self) -> dict[str, Any]:
        always = ("rows", "baselines", "groups", "baseline_groups", "comparisons")
        names = (*always, *(["memorisation_test"] if self.memorisation_test else []))
        fields = {name: getattr(self, name) for name in names}
        return {
            "schema_version": SCHEMA_VERSION,
            "suite": self.suite.suite,
            **fields,
            "reference": self.reference and asdict(self.reference),
            "verdict": list(self.verdict),
            "notes": list(self.notes),
            "incomplete": self.incomplete,
            "protocol": dict(self.protocol) or None,
        }


def report_on(observed: Observations, *, reference: Reference | None = None, seed: int = 0) -> Report:
    """Return the report of observed results. `seed` is used by randomisation tests with many graphs."""
    declared, episodes = observed.suite, observed.episodes
    rows, groups = rows_of(episodes, declared), _groups(episodes, declared)
    baselines = list(map(_exact, rows_of(observed.baselines, declared)))
    baseline_groups = _groups(observed.baselines, declared)
    comparisons = comparisons_of(episodes, declared, seed=seed)
    return Report(
        suite=declared,
        observed=observed,
        rows=rows,
        baselines=baselines,
        groups=groups,
        baseline_groups={name: list(map(_exact, of_group)) for name, of_group in baseline_groups.items()},
        comparisons=comparisons,
        memorisation_test=memorisation_test(episodes, declared, seed=seed),
        reference=reference and _of_settings(reference, {setting_of(row["setting"]) for row in rows}),
        notes=(*declared.notes, *method_notes(chain(rows, *groups.values()), comparisons), *observed.remarks),
        verdict=verdict_on(episodes, declared, rows, comparisons, baselines),
    )


def _groups(episodes: pl.DataFrame, declared: SuiteReport) -> dict[str, list[ReportRow]]:
    """Return the rows of each grouping that has groups."""
    rows = {grouping.name: rows_of(episodes, declared, grouping) for grouping in declared.groupings}
    return {name: of_groups for name, of_groups in rows.items() if of_groups}


def _exact(row: ReportRow) -> ReportRow:
    """Return the row of a baseline, which has no intervals."""
    return row | {"intervals": {}, "no_interval": {}}


def _of_settings(reference: Reference, settings: set[str]) -> Reference:
    """Return the published rows of these settings."""

    def chosen(rows: tuple[ReportRow, ...]) -> tuple[ReportRow, ...]:
        return tuple(row for row in rows if row["setting"] in settings)

    groups = {name: chosen(rows) for name, rows in reference.groups.items()}
    return replace(reference, rows=chosen(reference.rows), groups=groups)
