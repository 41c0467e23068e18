"""The gain of each lever alone, and the loss without it, from the variants `base`, `all`, `+LEVER` and `-LEVER`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

from graphwalk.reports.observations import Player
from graphwalk.reports.suite_report import SIDES, ReportRow

PLANNED = ({"base", "+"}, {"all", "-"}, {"base", "all"})
"""Variants of an ablation that are compared; + and - mean those with the name of a lever."""


def planned_pairs(players: Iterable[Player]) -> Iterator[tuple[Player, Player]]:
    """Yield the pairs to compare: all of them, or those of an ablation.

    These are a lever alone with the base, all levers with those without one, all with the base, and models in the same
    variant.
    """
    players = list(players)
    ablation = _is_ablation(players)
    for pair in combinations(players, 2):
        (setting, variant), (other_setting, other) = map(_parts, pair)
        same_model = pair[0].model == pair[1].model and setting == other_setting
        kinds = {(name[:1] if name[:1] in ("+", "-") else name) for name in (variant, other)}
        if not ablation or (kinds in PLANNED if same_model else variant == other):
            yield pair


def gains_by_walking(players: Sequence[Player]) -> Iterator[tuple[Player, Player]]:
    """Yield each player that walks, with the same model in the same variant of another setting; none in an ablation."""
    for pair in () if _is_ablation(players) else permutations(players, 2):
        (walking, variant), (other, other_variant) = map(_parts, pair)
        if walking == "tools" != other and (pair[0].model, variant) == (pair[1].model, other_variant):
            yield pair


def _is_ablation(players: Iterable[Player]) -> bool:
    return {"base", "all"} <= {_parts(player)[1] for player in players}


def _parts(player: Player) -> tuple[str, str]:
    """Return the setting and the variant, which may be empty."""
    setting, _, variant = player.setting.partition(":")
    return setting, variant


def ablation_rows(rows: Sequence[ReportRow], pairs: Sequence[Mapping[str, Any]], measure: str) -> list[dict[str, Any]]:
    """Return a row per model, setting and lever; empty without variants of these names.

    `alone` and `left_out` are accuracies; `gain` (alone − base) and `worth` (all − left out) are paired differences in
    percentage points with `intervals`. The last row of a setting, `all levers`, has the gain of all.
    """
    accuracy = {Player(row["model"], row["setting"]): row.get(measure) for row in rows}
    differences = dict(_differences(pairs, measure))
    variants: dict[Player, list[str]] = {}
    for model, name in accuracy:
        setting, _, variant = name.partition(":")
        variants.setdefault(Player(model, setting), []).append(variant)
    table = []
    for (model, setting), names in variants.items():
        if not {"base", "all"} <= {*names}:
            continue
        base, every = Player(model, f"{setting}:base"), Player(model, f"{setting}:all")
        for lever in dict.fromkeys(name[1:] for name in names if name[:1] in "+-"):
            alone, left_out = Player(model, f"{setting}:+{lever}"), Player(model, f"{setting}:-{lever}")
            gain, worth = differences.get((alone, base)), differences.get((every, left_out))
            table.append(_row(model, setting, lever, accuracy.get(alone), gain, accuracy.get(left_out), worth))
        gain = differences.get((every, base))
        table.append(_row(model, setting, "all levers", accuracy[every], gain, accuracy[base], None))
    return table


def _row(model: str, setting: str, lever: str, alone: Any, gain: Any, left_out: Any, worth: Any) -> dict[str, Any]:
    columns = {"gain": gain, "worth": worth}
    return {
        **{"model": model, "setting": setting, "lever": lever, "alone": alone, "left_out": left_out},
        **{name: column and column["difference"] for name, column in columns.items()},
        "intervals": {name: column["interval"] for name, column in columns.items() if column},
    }


def _differences(
    pairs: Sequence[Mapping[str, Any]], measure: str
) -> Iterator[tuple[tuple[Player, Player], dict[str, Any]]]:
    """Yield each pair of players in both orders, with its difference and interval."""
    for pair in pairs:
        first, second = (Player(pair[f"{side}_model"], pair[f"{side}_setting"]) for side in SIDES)
        difference, interval = (pair["measures"][measure][name] for name in ("difference", "interval"))
        yield (first, second), {"difference": difference, "interval": interval}
        opposite = None if difference is None else 0.0 - difference
        yield (second, first), {"difference": opposite, "interval": interval and [-end for end in reversed(interval)]}
