"""What a player knew by heart: its accuracy on a graph minus that on the anonymised twin, question by question."""

from typing import Any

import numpy as np

from graphwalk.report.layout import Cell, Header, TextTable
from graphwalk.report.observations import Observations, Player
from graphwalk.report.rows import PERCENT
from graphwalk.scoring.statistics import Comparison, compare, outcomes_of

_DIGITS = 6
_HEADERS = (
    Header("model", name=True),
    Header("setting", name=True, optional=1),
    Header("graph accuracy %"),
    Header("twin accuracy %"),
    Header("difference"),
    Header("questions", optional=2),
    Header("only graph", optional=3),
    Header("only twin", optional=3),
    Header("McNemar p", optional=1),
)
_OVER_QUESTIONS = (
    "Known by heart: A on the graph minus A on its anonymised twin, on the same questions, in points. With one graph"
    " the range is over questions: what other questions on this graph would show, and nothing about other graphs."
)


def known_by_heart(observed: Observations, *, seed: int) -> list[dict[str, Any]]:
    """Per player that was asked on a graph and on its twin: `graph` and `twin` (accuracy in percent), `difference`
    with its `interval` (95 %; None with `no_interval`, which says why), `questions`, `graphs`, those right on one only
    (`only_graph`, `only_twin`; repeats averaged), `p_value` (exact McNemar) and `p_sign_flips` (None with one graph).
    """
    found = []
    for player in observed.players:
        compared = _compared(observed, player, seed)
        if compared is not None:
            found.append({**player._asdict(), **compared})
    return found


def by_heart_table(rows: list[dict[str, Any]]) -> TextTable:
    """The same as a table."""
    return TextTable("Known by heart", _HEADERS, tuple(map(_cells, rows)), _OVER_QUESTIONS)


def _compared(observed: Observations, player: Player, seed: int) -> dict[str, Any] | None:
    accuracy = observed.column(observed.suite.compared[0])
    twins = [i for i in observed.rows_of(player).tolist() if observed.cases[i].twin_of is not None]
    asked = {observed.cases[i].twin_of for i in twins}
    originals = [i for i in observed.rows_of(player).tolist() if observed.cases[i].task_id in asked]
    if not twins or not originals:
        return None
    graph_of = {observed.cases[i].task_id: observed.cases[i].cluster for i in originals}
    several = len(set(graph_of.values())) > 1

    def outcomes(numbers: list[int], tasks: list[str]) -> Any:
        known = [(i, task) for i, task in zip(numbers, tasks, strict=True) if task in graph_of]
        graphs = [graph_of[task] if several else task for _, task in known]
        return outcomes_of(accuracy[[i for i, _ in known]], graphs, [task for _, task in known])

    first = outcomes(originals, [observed.cases[i].task_id for i in originals])
    second = outcomes(twins, [observed.cases[i].twin_of or "" for i in twins])
    (compared,) = compare(first, second, seed=seed)
    return {
        "graph": _percent(float(np.nanmean(first.values))),
        "twin": _percent(float(np.nanmean(second.values))),
        **_difference(compared),
        "graphs": len(set(graph_of.values())),
        "p_sign_flips": compared.sign_flips.mid_p if several else None,
    }


def _difference(one: Comparison) -> dict[str, Any]:
    difference = one.difference.scaled(PERCENT)
    ends = [max(-PERCENT, min(PERCENT, end)) for end in (difference.low, difference.high) if end is not None]
    return {
        "difference": None if difference.value is None else round(difference.value, _DIGITS),
        "interval": [round(end, _DIGITS) for end in ends] or None,
        "no_interval": "all questions have the same difference" if difference.reason else None,
        "questions": one.difference.n,
        "only_graph": one.first_better,
        "only_twin": one.second_better,
        "p_value": one.mcnemar_p_value,
    }


def _percent(share: float) -> float:
    return round(PERCENT * share, _DIGITS)


def _cells(row: dict[str, Any]) -> tuple[Cell, ...]:
    low_high = "" if row["interval"] is None else "{:+.1f} to {:+.1f}".format(*row["interval"])
    return (
        Cell(row["model"]),
        Cell(row["setting"]),
        Cell(f"{row['graph']:.2f}"),
        Cell(f"{row['twin']:.2f}"),
        Cell(f"{row['difference']:+.2f}", low_high),
        *(Cell(str(row[name])) for name in ("questions", "only_graph", "only_twin")),
        Cell(f"{row['p_value']:.3f}"),
    )
