"""The report of a run: its figures as plain data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from graphwalk.analysis.report.episodes import Observations
from graphwalk.analysis.report.suite_report import Reference, ReportRow, SuiteReport
from graphwalk.version import SCHEMA_VERSION


@dataclass(frozen=True)
class Report:
    """The report of one run, which terminal, page, Markdown and notebook print.

    `rows` has one row per model and setting, `groups` one per group, model and setting. `baselines` and
    `baseline_groups` are the rows of baselines. `comparisons` are differences first − second on identical tasks
    (compare.py).
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
    """Sentences on failed episodes, differences, and causes of wrong answers (verdict.py)."""
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
