"""The rows of a report: a contestant with its figures, and the difference of two contestants on identical tasks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from graphwalk.suites.setting import Setting

Group = str | int | float
"""A kind of question, a size of graphs, a share of walls."""


class Interval(NamedTuple):
    """An interval of 95 %."""

    low: float
    high: float


class Contestant(NamedTuple):
    """A model in a setting."""

    model: str
    setting: Setting

    def __str__(self) -> str:
        return f"{self.model} {self.setting}"


@dataclass(frozen=True)
class ReportRow:
    """A contestant, overall or in one group.

    `figures` has every measure of the suite by name, None if it is unknown. `intervals` and `no_interval` (the reason)
    are by measure, too.
    """

    contestant: Contestant
    figures: Mapping[str, float | None]
    group: Group | None = None
    tasks: int | None = None
    """Scored tasks; None in a row of a paper."""
    graphs: int | None = None
    unit: str | None = None
    """The independent unit, on whose number the width of intervals depends: graph or question."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    no_interval: Mapping[str, str] = field(default_factory=dict)
    is_published: bool = False
    note: str | None = None
    """A remark on a row of a paper."""

    @classmethod
    def published(cls, fields: Mapping[str, Any], grouping: str | None = None) -> "ReportRow":
        """Return a row of a paper: {"model": "gpt-4.1", "setting": "tools", "size": 100, "accuracy": 29.17}."""
        # What is left after names, group and note are figures.
        figures = dict(fields)
        contestant = Contestant(figures.pop("model"), Setting.parse(figures.pop("setting")))
        group = None
        if grouping is not None:
            group = figures.pop(grouping)
        note = figures.pop("note", None)
        return cls(contestant, figures, group, is_published=True, note=note)

    @property
    def model(self) -> str:
        return self.contestant.model

    @property
    def setting(self) -> Setting:
        return self.contestant.setting

    def number(self, measure: str) -> float:
        """Return a figure that is known."""
        value = self.figures[measure]
        assert value is not None, measure
        return value

    def count(self, measure: str) -> int:
        """Return how many episodes or tasks are counted; 0 if that is unknown."""
        return int(self.figures.get(measure) or 0)

    def as_dict(self, grouping: str | None = None) -> dict[str, Any]:
        """Return the row as in JSON, with the group by the name of its grouping."""
        fields: dict[str, Any] = {"model": self.model, "setting": str(self.setting)}
        if grouping is not None:
            fields[grouping] = self.group
        # A paper tells neither its graphs nor intervals.
        if not self.is_published:
            fields |= {"tasks": self.tasks, "graphs": self.graphs, "unit": self.unit}
        fields |= self.figures
        if not self.is_published:
            fields["intervals"] = {name: list(interval) for name, interval in self.intervals.items()}
            fields["no_interval"] = dict(self.no_interval)
        return fields


@dataclass(frozen=True)
class MeasureDifference:
    """The difference first − second in one measure, repeats averaged per task, in the unit of the measure."""

    difference: float | None
    """In percentage points, if the measure is a percentage."""
    interval: Interval | None
    no_interval: str | None
    """The reason for which there is none."""
    first_mean: float | None
    second_mean: float | None
    tasks: int
    graphs: int
    unit: str
    """The independent unit: graph or question."""
    p_value: float | None
    """Of sign flips over the units, mid-p."""
    p_exact: bool | None
    """True if all assignments of signs are counted, False if they are drawn; None without a test."""
    p_holm: float | None
    """Adjusted over all pairs of all groups."""
    p_least: float | None
    """The smallest p that this number of units allows."""
    first_better: int
    second_better: int
    """Tasks, as `first_better` and `equal`."""
    equal: int

    @property
    def units(self) -> int:
        return self.graphs if self.unit == "graph" else self.tasks

    def as_dict(self) -> dict[str, Any]:
        fields = dict(vars(self))
        if self.interval is not None:
            fields["interval"] = list(self.interval)
        return fields


@dataclass(frozen=True)
class Pair:
    """Two contestants on identical tasks, overall or in one group, with their difference in each measure."""

    first: Contestant
    second: Contestant
    measures: Mapping[str, MeasureDifference]
    group: Group | None = None

    def as_dict(self, grouping: str | None = None) -> dict[str, Any]:
        """Return the pair as in JSON, with the group by the name of its grouping."""
        fields: dict[str, Any] = {}
        if grouping is not None:
            fields[grouping] = self.group
        fields["first_model"] = self.first.model
        fields["first_setting"] = str(self.first.setting)
        fields["second_model"] = self.second.model
        fields["second_setting"] = str(self.second.setting)
        fields["measures"] = {name: measure.as_dict() for name, measure in self.measures.items()}
        return fields
