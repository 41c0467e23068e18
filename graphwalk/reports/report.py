"""The report of a run: its figures as plain data, and the tables and plots made of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

from graphwalk.reports.common_plots import by_model, common_plots
from graphwalk.reports.compare import comparisons_of, method_notes
from graphwalk.reports.observations import Case, Observations, Player, player_order
from graphwalk.reports.player_rows import exact_row, row_of
from graphwalk.reports.plots import Plot, worth_drawing
from graphwalk.reports.suite_report import Reference, ReportRow, SuiteReport
from graphwalk.reports.tables import text_tables
from graphwalk.reports.text_table import TextTable
from graphwalk.reports.verdict import verdict_on
from graphwalk.types.episode import SCHEMA_VERSION, setting_of


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
        return worth_drawing([by_model(self), *(self.suite.plots or common_plots)(self)])

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
    declared = observed.suite
    rows = [row_of(observed, player, observed.rows_of(player)) for player in observed.players]
    groups = dict(_rows_by_grouping(observed, row_of))
    baselines, baseline_rows = observed.baselines, list[ReportRow]()
    if baselines:
        baseline_rows = [exact_row(baselines, player, baselines.rows_of(player)) for player in baselines.players]
    comparisons = comparisons_of(observed, seed=seed)
    return Report(
        suite=declared,
        observed=observed,
        rows=rows,
        baselines=baseline_rows,
        groups=groups,
        baseline_groups=dict(_rows_by_grouping(baselines, exact_row)) if baselines else {},
        comparisons=comparisons,
        memorisation_test=memorisation_test(observed, seed=seed),
        reference=_matching(reference, observed.players),
        notes=(
            *declared.notes,
            *method_notes(chain(rows, *groups.values()), comparisons),
            *observed.remarks,
        ),
        verdict=verdict_on(observed, rows, comparisons, baseline_rows),
    )


def _rows_by_grouping(observed: Observations, row: Callable[..., ReportRow]) -> Iterator[tuple[str, list[ReportRow]]]:
    """Yield each grouping that has groups, with its rows."""
    for number, grouping in enumerate(observed.suite.groupings):
        members = observed.members(number)
        ordered = sorted(members, key=lambda key: (grouping.sort_key(key[0]), player_order(key[1])))
        if ordered:
            rows = [
                row(observed, player, members[group, player], **{grouping.name: group}) for group, player in ordered
            ]
            yield grouping.name, rows


def _matching(reference: Reference | None, players: list[Player]) -> Reference | None:
    """Return the published rows of settings that were run."""
    if reference is None:
        return None
    settings = {setting_of(player.setting) for player in players}

    def run(rows: tuple[ReportRow, ...]) -> tuple[ReportRow, ...]:
        return tuple(row for row in rows if row["setting"] in settings)

    return replace(
        reference, rows=run(reference.rows), groups={name: run(rows) for name, rows in reference.groups.items()}
    )


def memorisation_test(observed: Observations, *, seed: int) -> list[dict[str, Any]]:
    """Compare each player on a graph and on its anonymised copy, question by question: pairs as of `comparisons_of`."""
    copied = {case.twin_of for case in observed.cases}
    originals = {case.task_id: case for case in observed.cases if case.task_id in copied}
    cases: dict[int, Case] = {}
    pairs: dict[Player, Player] = {}
    for number, case in enumerate(observed.cases):
        if case.task_id in originals:
            cases[number] = case._replace(question=case.task_id)
        elif original := originals.get(case.twin_of or ""):
            pairs[case.player] = case.player._replace(setting=f"{case.player.setting} (copy)")
            cases[number] = original._replace(player=pairs[case.player], repeat=case.repeat, question=original.task_id)
    both = replace(observed, cases=[*cases.values()], values=observed.values[[*cases]]) if cases else observed
    played = set(both.players)
    return comparisons_of(both, seed=seed, pairs=[pair for pair in sorted(pairs.items()) if played.issuperset(pair)])
