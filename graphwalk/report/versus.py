"""Players of one or more runs against each other: overall, by group, and the tasks that changed sides."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.report.comparison_table import PAIRS_NOTE, comparison_table
from graphwalk.report.comparisons import comparisons_of, grouped_comparisons, player_outcomes
from graphwalk.report.declared import Grouping
from graphwalk.report.formats import two_decimals, without_range
from graphwalk.report.layout import Cell, Header, TextTable
from graphwalk.report.observations import Observations, Player
from graphwalk.types.episode import SCHEMA_VERSION
from graphwalk.types.inert import visible

ShowCommands = Callable[[str, Sequence[Player]], Sequence[str]]
"""Task and players → the commands that show these episodes."""


@dataclass(frozen=True)
class Versus:
    """`overall` and `groups` as `comparisons_of` gives them. `changed`: a record for each task and pair in which one
    player was better, with the groups of the task, the value of each and the `commands` that show the episodes."""

    suite: str
    measures: tuple[str, ...]
    groupings: tuple[Grouping, ...]
    overall: list[dict[str, Any]]
    groups: dict[str, list[dict[str, Any]]]
    changed: list[dict[str, Any]]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "suite": self.suite,
            "overall": self.overall,
            "groups": self.groups,
            "changed": self.changed,
            "notes": list(self.notes),
        }


def merged(runs: Mapping[str, Observations], keep: Callable[[Player], bool]) -> Observations:
    """The episodes of several runs of a suite; of more than one, its name is put behind the model (`in_run`)."""
    cases, values = [], []
    for name, observed in runs.items():
        chosen = [i for i, case in enumerate(observed.cases) if keep(case.player)]
        values.append(observed.values[chosen])
        for i in chosen:
            case = observed.cases[i]
            cases.append(case._replace(player=in_run(case.player, name)) if len(runs) > 1 else case)
    first = next(iter(runs.values()))
    return replace(first, cases=cases, values=np.concatenate(values), baselines=None)


def in_run(player: Player, run: str) -> Player:
    return player._replace(model=f"{player.model} @ {run}")


def versus(observed: Observations, show: ShowCommands, *, seed: int, notes: Sequence[str] = ()) -> Versus:
    """Compare all players of `observed` that share tasks."""
    suite = observed.suite
    groups = {
        grouping.name: grouped_comparisons(observed, number, seed=seed)
        for number, grouping in enumerate(suite.groupings)
        if grouping.shown and len({case.groups[number] for case in observed.cases} - {None}) > 1
    }
    overall = comparisons_of(observed, seed=seed)
    reasons = {m["no_interval"] for pair in overall for m in pair["measures"].values()} - {None}
    missing = without_range(reasons)
    return Versus(
        suite.suite,
        suite.compared,
        suite.groupings,
        overall,
        {name: pairs for name, pairs in groups.items() if pairs},
        list(_changed(observed, overall, show)),
        (*notes, "Ranges are 95 % intervals over graphs.", PAIRS_NOTE, *missing),
    )


def _changed(
    observed: Observations, pairs: Sequence[Mapping[str, Any]], show: ShowCommands
) -> Iterator[dict[str, Any]]:
    numbers = {player: observed.rows_of(player) for player in observed.players}
    groups_of = {case.task_id: case.groups for case in observed.cases}
    reached = {player: _by_task(observed, rows) for player, rows in numbers.items()}
    for pair in pairs:
        first, second = (Player(pair[f"{side}_model"], pair[f"{side}_setting"]) for side in ("first", "second"))
        for task in sorted(reached[first].keys() & reached[second].keys()):
            values = reached[first][task], reached[second][task]
            if values[0] != values[1] and not np.isnan(values).any():
                yield {
                    "task_id": task,
                    **{
                        grouping.name: group
                        for grouping, group in zip(observed.suite.groupings, groups_of[task], strict=True)
                        if group is not None
                    },
                    **{name: pair[name] for name in pair if name.startswith(("first_", "second_"))},
                    "better": "first" if values[0] > values[1] else "second",
                    "first": round(values[0], 6),
                    "second": round(values[1], 6),
                    "commands": list(show(task, (first, second))),
                }


def _by_task(observed: Observations, rows: NDArray[np.int64]) -> dict[str, float]:
    """The first measure of each task, repeats averaged."""
    outcomes = player_outcomes(observed, rows)
    return {str(task): float(value) for (_, task), value in zip(outcomes.keys, outcomes.values[:, 0], strict=True)}


def versus_tables(made: Versus) -> Iterator[TextTable]:
    """Overall, by group, and the tasks that changed sides; a terminal leaves out what is beyond its bounds."""
    if made.overall:
        yield comparison_table(made.overall, made.measures)
    titles = {grouping.name: grouping.title for grouping in made.groupings}
    for name, pairs in made.groups.items():
        yield comparison_table(pairs, made.measures, title=f"By {titles[name]}", group=name)
    if made.changed:
        yield _changed_table(made)


def _changed_table(made: Versus) -> TextTable:
    headers = (
        *(Header(name, name=True) for name in ("task", "first", "second")),
        *(Header(title) for title in ("1st", "2nd")),
    )
    rows = tuple(
        (
            Cell(visible(one["task_id"])),
            *(
                Cell(f"{visible(one[f'{side}_model'])} {visible(one[f'{side}_setting'])}")
                for side in ("first", "second")
            ),
            *(Cell(two_decimals(one[side])) for side in ("first", "second")),
        )
        for one in made.changed
    )
    return TextTable(f"Tasks that changed sides ({made.measures[0]}, 0 to 1)", headers, rows)
