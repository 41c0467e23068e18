"""Players against each other on identical tasks: differences with intervals, and tests that neither is better."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.report.declared import SuiteReport
from graphwalk.report.observations import Observations, Player
from graphwalk.report.rows import PERCENT
from graphwalk.scoring.statistics import Comparison, Outcomes, compare, holm, outcomes_of

_DIGITS = 6
_UNITS: Mapping[str, tuple[float, float]] = {"percent": (PERCENT, PERCENT), "share": (1, 1)}
"""By kind of measure: its unit in a table, and the largest difference that there can be."""


def comparisons_of(observed: Observations, *, seed: int) -> list[dict[str, Any]]:
    """All pairs of players that share tasks: `first_model`, `first_setting`, the same of the second, and `measures`.

    Each of `measures` (those that the suite compares) has `difference` (first − second, repeats averaged per task; in
    percentage points or in the unit of the measure) with `interval`, or `no_interval` which says why not; `tasks`,
    `graphs`; `p_value` (sign flips over graphs, mid-p), `p_holm` (the same, adjusted over all pairs), `p_exact`
    (sign flips with ties in full), `p_t`; tasks `first_better`, `second_better`, `equal`; and `mcnemar_p`, which
    `mcnemar_ignores` something.
    """
    return adjusted([pair for _, pair in _pairs(observed, _by_player(observed), seed)], observed.suite)


def grouped_comparisons(observed: Observations, grouping: int, *, seed: int) -> list[dict[str, Any]]:
    """The same for each group of one grouping, adjusted over all pairs and groups."""
    declared = observed.suite.groupings[grouping]
    members = observed.members(grouping)
    found: list[dict[str, Any]] = []
    for group in sorted({group for group, _ in members}, key=declared.sort_key):
        outcomes = {
            player: player_outcomes(observed, numbers)
            for (of, player), numbers in sorted(members.items(), key=lambda item: item[0][1])
            if of == group
        }
        found += [{**pair, declared.name: group} for _, pair in _pairs(observed, outcomes, seed)]
    return adjusted(found, observed.suite)


def player_outcomes(observed: Observations, numbers: NDArray[np.int64]) -> Outcomes:
    """What a player reached by task in the measures that are compared."""
    names = [measure.name for measure in observed.suite.measures]
    values, graphs, tasks = observed.part(numbers)
    return outcomes_of(values[:, [names.index(name) for name in observed.suite.compared]], graphs, tasks)


def adjusted(pairs: list[dict[str, Any]], declared: SuiteReport) -> list[dict[str, Any]]:
    """With `p_holm`, which takes all of these pairs for one table."""
    for name in declared.compared:
        tested = [pair["measures"][name] for pair in pairs if pair["measures"][name]["p_value"] is not None]
        for measure, p in zip(tested, holm([measure["p_value"] for measure in tested]), strict=True):
            measure["p_holm"] = p
    return pairs


def _by_player(observed: Observations) -> dict[Player, Outcomes]:
    return {player: player_outcomes(observed, observed.rows_of(player)) for player in observed.players}


def _pairs(
    observed: Observations, outcomes: dict[Player, Outcomes], seed: int
) -> Iterator[tuple[tuple[Player, Player], dict[str, Any]]]:
    kinds = {measure.name: measure.kind for measure in observed.suite.measures}
    units = [_UNITS.get(kinds[name], (1, math.inf)) for name in observed.suite.compared]
    for first, second in combinations(outcomes, 2):
        compared = compare(outcomes[first], outcomes[second], seed=seed)
        if compared[0].difference.n:
            yield (
                (first, second),
                {
                    **{f"first_{name}": value for name, value in first._asdict().items()},
                    **{f"second_{name}": value for name, value in second._asdict().items()},
                    "measures": dict(_measures(observed.suite.compared, units, compared)),
                },
            )


def _measures(
    names: Sequence[str], units: Sequence[tuple[float, float]], compared: Sequence[Comparison]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, (scale, most), one in zip(names, units, compared, strict=True):
        difference = one.difference.scaled(scale)
        ends = [end for end in (difference.low, difference.high) if end is not None]
        yield (
            name,
            {
                "difference": None if difference.value is None else round(difference.value, _DIGITS),
                "interval": [round(max(-most, min(most, end)), _DIGITS) for end in ends] or None,
                "no_interval": difference.reason or None,
                "tasks": difference.n,
                "graphs": difference.clusters,
                **_p_values(one),
                "first_better": one.first_better,
                "second_better": one.second_better,
                "equal": one.equal,
                "mcnemar_p": one.mcnemar_p_value,
                "mcnemar_ignores": one.mcnemar_ignores,
            },
        )


def _p_values(one: Comparison) -> dict[str, float | None]:
    """No test with a single graph: its sign says nothing. Where no task tells the players apart, p is 1."""
    flips, same = one.sign_flips, one.first_better == one.second_better == 0
    several = flips.clusters > 1
    return {
        "p_value": (1.0 if same else flips.mid_p) if several else None,
        "p_holm": None,
        "p_exact": flips.p_value if several else None,
        "p_t": one.t_p_value,
    }
