"""Players against each other on identical tasks: computation, tables, and written forms.

In a report, across runs (`graphwalk compare`), and on a graph against its anonymised copy (the memorisation test).
"""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from graphwalk.console import counted
from graphwalk.evaluation.statistics import Comparison, Outcomes, compare, holm, outcomes_of
from graphwalk.reports.observations import Observations, Player
from graphwalk.reports.suite_report import PERCENT, Grouping
from graphwalk.reports.text_table import (
    UNKNOWN,
    Cell,
    Header,
    TextTable,
    csv_cell,
    integer,
    markdown_table,
    p_value,
    rendered,
    two_decimals,
    without_range,
)
from graphwalk.sanitise import escape_markdown, one_line
from graphwalk.types.episode import SCHEMA_VERSION

PAIRS_NOTE = (
    "Pairs: first − second on identical tasks, repeats averaged; a percentage differs in points. p: sign flips over"
    " graphs (mid-p). Holm p: adjusted over all pairs of its table. McNemar p ignores that tasks share graphs."
)
MOST_TASKS = 20
"""Tasks with different outcomes that a terminal lists."""
_MOST_PAIRS = 28
"""Pairs that a terminal lists."""
_DIGITS = 6
_UNITS: Mapping[str, tuple[float, float]] = {"percent": (PERCENT, PERCENT), "share": (1, 1)}
"""By kind of measure: its unit in a table, and the largest possible difference."""
_SIDES = ("first", "second")

ShowCommands = Callable[[str, Sequence[Player]], Sequence[str]]
"""Task and players → the commands that show these episodes."""


def player_outcomes(observed: Observations, numbers: NDArray[np.int64]) -> Outcomes:
    """Return the outcomes by task of some episodes of a player, in the measures that are compared."""
    names = [measure.name for measure in observed.suite.measures]
    values, graphs, tasks = observed.part(numbers)
    return outcomes_of(values[:, [names.index(name) for name in observed.suite.compared]], graphs, tasks)


def comparisons_of(observed: Observations, *, seed: int) -> list[dict[str, Any]]:
    """Compare all pairs of players that share tasks.

    A pair has `first_model`, `first_setting`, the same of the second, and `measures` (those that the suite compares).
    Each has `difference` (first − second, repeats averaged per task; in percentage points or in the unit of the
    measure) with `interval`, or `no_interval` with the reason; `tasks`, `graphs`; `p_value` (sign flips over graphs,
    mid-p), `p_holm` (the same, adjusted over all pairs), `p_exact` (sign flips with ties in full), `p_t`; tasks
    `first_better`, `second_better`, `equal`; and `mcnemar_p`, with what it ignores in `mcnemar_ignores`.
    """
    outcomes = {player: player_outcomes(observed, observed.rows_of(player)) for player in observed.players}
    return _adjusted(list(_pairs(observed, outcomes, seed)), observed.suite.compared)


def grouped_comparisons(observed: Observations, grouping: int, *, seed: int) -> list[dict[str, Any]]:
    """Compare within each group of one grouping; adjusted over all pairs and groups."""
    declared = observed.suite.groupings[grouping]
    members = observed.members(grouping)
    found: list[dict[str, Any]] = []
    for group in sorted({group for group, _ in members}, key=declared.sort_key):
        players = sorted(player for of, player in members if of == group)
        outcomes = {player: player_outcomes(observed, members[group, player]) for player in players}
        found += [{**pair, declared.name: group} for pair in _pairs(observed, outcomes, seed)]
    return _adjusted(found, observed.suite.compared)


def _pairs(observed: Observations, outcomes: Mapping[Player, Outcomes], seed: int) -> Iterator[dict[str, Any]]:
    kinds = {measure.name: measure.kind for measure in observed.suite.measures}
    for players in combinations(outcomes, 2):
        compared = compare(*(outcomes[player] for player in players), seed=seed)
        if compared[0].difference.n:
            sides = zip(_SIDES, players, strict=True)
            yield {
                **{f"{side}_{name}": value for side, player in sides for name, value in player._asdict().items()},
                "measures": {
                    name: _measure(one, *_UNITS.get(kinds[name], (1, math.inf)))
                    for name, one in zip(observed.suite.compared, compared, strict=True)
                },
            }


def _measure(one: Comparison, scale: float, most: float) -> dict[str, Any]:
    """No test with a single graph: its sign has no meaning. Where no task differs, p is 1."""
    flips, same = one.sign_flips, one.first_better == one.second_better == 0
    several = flips.clusters > 1
    return {
        **_difference(one, scale, most),
        "no_interval": one.difference.reason or None,
        "tasks": one.difference.n,
        "graphs": one.difference.clusters,
        "p_value": (1.0 if same else flips.mid_p) if several else None,
        "p_holm": None,
        "p_exact": flips.p_value if several else None,
        "p_t": one.t_p_value,
        "first_better": one.first_better,
        "second_better": one.second_better,
        "equal": one.equal,
        "mcnemar_p": one.mcnemar_p_value,
        "mcnemar_ignores": "ignores that tasks share graphs",
    }


def _difference(one: Comparison, scale: float, most: float) -> dict[str, Any]:
    difference = one.difference.scaled(scale)
    ends = [end for end in (difference.low, difference.high) if end is not None]
    return {
        "difference": None if difference.value is None else round(difference.value, _DIGITS),
        "interval": [round(max(-most, min(most, end)), _DIGITS) for end in ends] or None,
    }


def _adjusted(pairs: list[dict[str, Any]], measures: Sequence[str]) -> list[dict[str, Any]]:
    """Set `p_holm`; all of these pairs are in one table."""
    for name in measures:
        tested = [pair["measures"][name] for pair in pairs if pair["measures"][name]["p_value"] is not None]
        for measure, p in zip(tested, holm([measure["p_value"] for measure in tested]), strict=True):
            measure["p_holm"] = p
    return pairs


def comparison_table(
    pairs: Sequence[Mapping[str, Any]],
    measures: Sequence[str],
    *,
    title: str = "Pairwise, on identical tasks (first − second)",
    group: str | None = None,
) -> TextTable:
    """Lay out what `comparisons_of` returns; counts and p-values are those of the first measure.

    `group`: the field with the group of a pair; a group is named in its first row only.
    """
    headers = (
        *(Header(name, name=True) for name in (*([group] if group else []), *_SIDES)),
        Header("tasks", optional=1),
        Header("graphs", optional=4),
        Header("1st better", optional=2),
        Header("2nd better", optional=2),
        Header(f"Δ {measures[0]}"),
        Header("p", optional=1),
        Header("Holm p"),
        Header("McNemar p", optional=5),
        *(Header(f"Δ {name}", optional=3) for name in measures[1:]),
    )
    rows: list[tuple[Cell, ...]] = []
    named = None
    for pair in pairs:
        headline = pair["measures"][measures[0]]
        tests = (headline[name] for name in ("p_value", "p_holm", "mcnemar_p"))
        rows.append(
            (
                *([Cell("" if rows and pair[group] == named else one_line(pair[group]))] if group else []),
                *_names(pair),
                *(Cell(integer(headline[count])) for count in ("tasks", "graphs", "first_better", "second_better")),
                _difference_cell(headline),
                *(Cell(UNKNOWN if p is None else p_value(p)) for p in tests),
                *(_difference_cell(pair["measures"][name]) for name in measures[1:]),
            )
        )
        named = pair[group] if group else None
    return TextTable(title, headers, tuple(rows), long_only=frozenset(range(_MOST_PAIRS, len(rows))))


def _names(pair: Mapping[str, Any]) -> Iterator[Cell]:
    for side in _SIDES:
        yield Cell(f"{one_line(pair[f'{side}_model'])} {one_line(pair[f'{side}_setting'])}")


def _difference_cell(measure: Mapping[str, Any]) -> Cell:
    value, ends = measure["difference"], measure["interval"]
    if value is None:
        return Cell(UNKNOWN)
    return Cell(f"{value:+.2f}", " … ".join(map(two_decimals, ends)) if ends else UNKNOWN)


@dataclass(frozen=True)
class RunComparison:
    """Players of one or more runs: `overall` and `groups` as `comparisons_of` returns them.

    `changed`: a record for each task and pair in which one player was better, with the groups of the task, the value of
    each and the `commands` that show the episodes.
    """

    suite: str
    measures: tuple[str, ...]
    groupings: tuple[Grouping, ...]
    overall: list[dict[str, Any]]
    groups: dict[str, list[dict[str, Any]]]
    changed: list[dict[str, Any]]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        names = ("suite", "overall", "groups", "changed")
        fields = {name: getattr(self, name) for name in names}
        return {"schema_version": SCHEMA_VERSION, **fields, "notes": list(self.notes)}


def merge_runs(runs: Mapping[str, Observations], keep: Callable[[Player], bool]) -> Observations:
    """Merge the episodes of several runs of a suite; of more than one, the run is named behind the model."""
    cases, values = [], []
    for name, observed in runs.items():
        chosen = [i for i, case in enumerate(observed.cases) if keep(case.player)]
        values.append(observed.values[chosen])
        for case in (observed.cases[i] for i in chosen):
            cases.append(case._replace(player=in_run(case.player, name)) if len(runs) > 1 else case)
    return replace(next(iter(runs.values())), cases=cases, values=np.concatenate(values), baselines=None)


def in_run(player: Player, run: str) -> Player:
    return player._replace(model=f"{player.model} @ {run}")


def compare_players(
    observed: Observations, show: ShowCommands, *, seed: int, notes: Sequence[str] = ()
) -> RunComparison:
    """Compare all players that share tasks: overall, by group, and task by task."""
    suite = observed.suite
    groups = {
        grouping.name: grouped_comparisons(observed, number, seed=seed)
        for number, grouping in enumerate(suite.groupings)
        if grouping.shown and len({case.groups[number] for case in observed.cases} - {None}) > 1
    }
    overall = comparisons_of(observed, seed=seed)
    reasons = {measure["no_interval"] for pair in overall for measure in pair["measures"].values()} - {None}
    return RunComparison(
        suite.suite,
        suite.compared,
        suite.groupings,
        overall,
        {name: pairs for name, pairs in groups.items() if pairs},
        list(_changed(observed, overall, show)),
        (*notes, "Ranges are 95 % intervals over graphs.", PAIRS_NOTE, *without_range(reasons)),
    )


def _changed(
    observed: Observations, pairs: Sequence[Mapping[str, Any]], show: ShowCommands
) -> Iterator[dict[str, Any]]:
    groups_of = {
        case.task_id: {g.name: group for g, group in zip(observed.suite.groupings, case.groups, strict=True)}
        for case in observed.cases
    }
    reached: dict[Player, dict[str, float]] = {}
    for player in observed.players:
        outcomes = player_outcomes(observed, observed.rows_of(player))
        values = outcomes.values[:, 0].tolist()
        reached[player] = {str(task): value for (_, task), value in zip(outcomes.keys, values, strict=True)}
    for pair in pairs:
        players = [Player(pair[f"{side}_model"], pair[f"{side}_setting"]) for side in _SIDES]
        first, second = (reached[player] for player in players)
        for task in sorted(first.keys() & second.keys()):
            if first[task] != second[task] and not math.isnan(first[task] + second[task]):
                yield {
                    "task_id": task,
                    **{name: group for name, group in groups_of[task].items() if group is not None},
                    **{name: pair[name] for name in pair if name.startswith(("first_", "second_"))},
                    "better": "first" if first[task] > second[task] else "second",
                    "first": round(first[task], _DIGITS),
                    "second": round(second[task], _DIGITS),
                    "commands": list(show(task, players)),
                }


def comparison_tables(made: RunComparison) -> Iterator[TextTable]:
    """Yield the tables overall, by group, and of tasks with different outcomes."""
    if made.overall:
        yield comparison_table(made.overall, made.measures)
    titles = {grouping.name: grouping.title for grouping in made.groupings}
    for name, pairs in made.groups.items():
        yield comparison_table(pairs, made.measures, title=f"By {titles[name]}", group=name)
    if made.changed:
        headers = (*(Header(name, name=True) for name in ("task", *_SIDES)), Header("1st"), Header("2nd"))
        rows = tuple(
            (Cell(one_line(one["task_id"])), *_names(one), *(Cell(two_decimals(one[side])) for side in _SIDES))
            for one in made.changed
        )
        yield TextTable(f"Tasks that changed sides ({made.measures[0]}, 0 to 1)", headers, rows)


class TerminalComparison:
    """Tables that fit into the width. The `commands` are not among them, since they must not be wrapped."""

    def __init__(self, made: RunComparison, *, most_tasks: int | None = MOST_TASKS) -> None:
        """`most_tasks`: tasks with different outcomes that are listed; None: all."""
        self.made = replace(made, changed=made.changed[:most_tasks])
        self.left_out = len(made.changed) - len(self.made.changed)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in comparison_tables(self.made):
            yield from rendered(table, options.max_width)
        if self.left_out:
            yield Text(f"… and {counted(self.left_out, 'more task')}: --all, or --json\n")
        for note in self.made.notes:
            yield Text(note, style="dim")

    @property
    def commands(self) -> list[str]:
        """The commands that show the tasks listed."""
        return list(dict.fromkeys(command for one in self.made.changed for command in one["commands"]))


def comparison_json(made: RunComparison) -> str:
    return json.dumps(made.as_dict(), indent=2, allow_nan=False)


def comparison_csv(made: RunComparison) -> str:
    """Write a line per pair and measure of every table, per task in `changed`, and per note; `table` says which."""
    lines: list[dict[str, Any]] = []
    for table, pairs in (("overall", made.overall), *made.groups.items()):
        for pair in pairs:
            names = {name: value for name, value in pair.items() if name not in ("measures", table)}
            for measure, found in pair["measures"].items():
                low, high = found["interval"] or (None, None)
                figures = {name: value for name, value in found.items() if name != "interval"}
                line = {"table": table, "group": pair.get(table, ""), **names, "measure": measure, **figures}
                lines.append(line | {"difference_low": low, "difference_high": high})
    lines += [{**one, "table": "changed", "commands": "; ".join(one["commands"])} for one in made.changed]
    lines += [{"table": "note", "no_interval": note} for note in made.notes]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(dict.fromkeys(name for line in lines for name in line)), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_cell(value) for name, value in line.items()} for line in lines)
    return stream.getvalue()


def comparison_markdown(made: RunComparison) -> str:
    notes = (f"* {escape_markdown(note)}" for note in made.notes)
    return "\n".join([*map(markdown_table, comparison_tables(made)), *notes, ""])


def memorisation_test(observed: Observations, *, seed: int) -> list[dict[str, Any]]:
    """Compare each player on a graph and on its anonymised copy, question by question.

    Per player: `graph` and `copy` (accuracy in percent), `difference` with its `interval` (95 %; None with the reason
    in `no_interval`), `questions`, `graphs`, questions right on one only (`only_graph`, `only_copy`; repeats averaged),
    `p_value` (exact McNemar) and `p_sign_flips` (None with one graph).
    """
    found = ((player, _memorised(observed, player, seed)) for player in observed.players)
    return [{**player._asdict(), **row} for player, row in found if row is not None]


def _memorised(observed: Observations, player: Player, seed: int) -> dict[str, Any] | None:
    accuracy = observed.column(observed.suite.compared[0])
    numbers = observed.rows_of(player).tolist()
    copies = [i for i in numbers if observed.cases[i].twin_of is not None]
    asked = {observed.cases[i].twin_of for i in copies}
    originals = [i for i in numbers if observed.cases[i].task_id in asked]
    if not copies or not originals:
        return None
    graph_of = {observed.cases[i].task_id: observed.cases[i].cluster for i in originals}
    graphs = len(set(graph_of.values()))

    def outcomes(tasks: list[tuple[int, str]]) -> Outcomes:
        known = [(i, task) for i, task in tasks if task in graph_of]
        # With one graph, the question is the cluster.
        clusters = [graph_of[task] if graphs > 1 else task for _, task in known]
        return outcomes_of(accuracy[[i for i, _ in known]], clusters, [task for _, task in known])

    first = outcomes([(i, observed.cases[i].task_id) for i in originals])
    second = outcomes([(i, observed.cases[i].twin_of or "") for i in copies])
    (compared,) = compare(first, second, seed=seed)
    return {
        "graph": round(PERCENT * float(np.nanmean(first.values)), _DIGITS),
        "copy": round(PERCENT * float(np.nanmean(second.values)), _DIGITS),
        **_difference(compared, PERCENT, PERCENT),
        "no_interval": "all questions have the same difference" if compared.difference.reason else None,
        "questions": compared.difference.n,
        "graphs": graphs,
        "only_graph": compared.first_better,
        "only_copy": compared.second_better,
        "p_value": compared.mcnemar_p_value,
        "p_sign_flips": compared.sign_flips.mid_p if graphs > 1 else None,
    }


def memorisation_table(rows: list[dict[str, Any]]) -> TextTable:
    headers = (
        Header("model", name=True),
        Header("setting", name=True, optional=1),
        Header("graph accuracy %"),
        Header("copy accuracy %"),
        Header("difference"),
        Header("questions", optional=2),
        Header("only graph", optional=3),
        Header("only copy", optional=3),
        Header("McNemar p", optional=1),
    )
    cells = tuple(
        (
            Cell(one_line(row["model"])),
            Cell(one_line(row["setting"])),
            Cell(two_decimals(row["graph"])),
            Cell(two_decimals(row["copy"])),
            Cell(f"{row['difference']:+.2f}", "{:+.1f} to {:+.1f}".format(*row["interval"]) if row["interval"] else ""),
            *(Cell(str(row[name])) for name in ("questions", "only_graph", "only_copy")),
            Cell(f"{row['p_value']:.3f}"),
        )
        for row in rows
    )
    note = (
        "Accuracy on the graph minus accuracy on its anonymised copy, on the same questions, in points. With one graph"
        " the range is over questions: what other questions on this graph would show, and nothing about other graphs."
    )
    return TextTable("Memorisation test", headers, cells, note)
