"""The verdict in words at the top of a report and of a comparison, from the numbers of their tables."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import polars as pl

from graphwalk.analysis.report.suite_report import (
    CALLS,
    GUESSES,
    PROVEN,
    SIDES,
    SIZE,
    ReportRow,
    SuiteReport,
    report_file,
)
from graphwalk.analysis.report.text_table import OVER_QUESTIONS, UNKNOWN, one_decimal
from graphwalk.analysis.statistics import ALPHA, holm, units_needed
from graphwalk.errors import counted
from graphwalk.sanitise import one_line
from graphwalk.suites.suite import setting_of

_MEASURE = "accuracy"
_MOST_SCORES = 3
"""Players in one sentence each, if no two share tasks."""
_MOST_NAMES = 5
_MOST_CAUSES = 3

Pair = Mapping[str, Any]
Player = tuple[str, str]


def verdict_on(
    episodes: pl.DataFrame,
    suite: SuiteReport,
    rows: Sequence[ReportRow],
    pairs: Sequence[Pair],
    *,
    rows_by_size: Sequence[ReportRow],
    pairs_by_size: Sequence[Pair],
    baselines: Sequence[ReportRow] = (),
    primary: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """Return the verdict on the rows of a report and the pairs of its players, overall and by size of the graph.

    A difference is claimed only if its p, adjusted by Holm, is at most 0.05 and its interval does not contain 0. The
    comparison of the two `primary` settings comes first, with p adjusted over its own pairs.
    """
    failures = tuple(_failures(episodes))
    scored = [row for row in rows if row.get(_MEASURE) is not None]
    if suite.compared[0] != _MEASURE or not scored:
        return failures
    name, best = _names(scored), _best(scored)
    guesses = {row["model"]: row[_MEASURE] for row in baselines if row["model"] in GUESSES}
    family = [pair for pair in pairs if is_primary(*_players(pair), primary)]
    secondary = [pair for pair in pairs if pair not in family]
    reason = no_significance(pairs, _MEASURE, "secondary difference" if family else "difference")
    reasons = [reason] if reason and secondary else []
    tested = reason is None
    if not pairs:
        scored = scored[:_MOST_SCORES]
        results = [_score("score", row, name, guesses) for row in scored]
    elif not best[0][_MEASURE]:
        answers = counted(sum(row["scored"] for row in scored), "answer")
        results = [_sentence("nothing_right", answers=answers, players=_join([*map(name, scored)]))]
    elif len(pairs) == 1:
        gains = _gains(secondary, tested=tested)
        results = [*(gains or [_difference(pair, name, tested=tested) for pair in secondary]), *reasons]
    else:
        accuracy = one_decimal(best[0][_MEASURE])
        tie = _sentence("several_best", players=_join([*map(name, best)]), accuracy=accuracy)
        behind, others = _against(best, pairs, name, tested=tested, primary=primary)
        results = [*_gains(secondary, tested=tested), tie if len(best) > 1 else _score("best", best[0], name, guesses)]
        if behind:
            results.append(_sentence("best_is_better" if len(best) == 1 else "each_is_better", others=_join(behind)))
        if others:
            results.append(_sentence("best_is_not_better", others=_join(others)))
        results += reasons
    results += _by_size(suite, rows_by_size, pairs_by_size, name)
    if best[0][_MEASURE] and any(row[PROVEN] is not None for row in scored):
        results.append(_sentence("proven", players=_join([_proven(row, name) for row in scored])))
    causes = scored if len(scored) <= _MOST_SCORES else best[:1]
    first = _primary(family, primary, scored, is_alone=not secondary) if primary else ()
    return (*failures, *first, *results, *(sentence for row in causes for sentence in _wrong(row, suite, name)))


def is_primary(first: Player, second: Player, settings: Sequence[str] | None) -> bool:
    """Return True if two players are one model, in the same variant, in the two settings of the primary comparison."""
    (base, _, variant), (other, _, other_variant) = first[1].partition(":"), second[1].partition(":")
    return settings is not None and (first[0], variant) == (second[0], other_variant) and {base, other} == {*settings}


def one_call(episodes: pl.DataFrame, suite: SuiteReport) -> Iterator[str]:
    """Yield the share of questions that one call of the expert answers; nothing without an expert that uses tools."""
    tasks = episodes.drop_nulls(CALLS.column).unique("task_id")[CALLS.column]
    if total := len(tasks):
        number = int((tasks == "one").sum())
        questions = counted(total, report_file(suite.suite).get("task", "question"))
        yield _sentence("one_call", number=number, questions=questions, share=one_decimal(100 * number / total))


def no_significance(pairs: Sequence[Pair], measure: str, what: str = "difference") -> str | None:
    """Return the reason why no pair can be significant, whatever the outcomes are, or None."""
    every = [pair["measures"][measure] for pair in pairs]
    if not (tested := [one for one in every if one["p_value"] is not None]):
        return f"No {what} can be tested: each comparison has only one {every[0]['unit']}." if every else None
    strongest = min(tested, key=lambda one: one["p_least"])
    least, unit = min(1.0, len(tested) * strongest["p_least"]), strongest["unit"]
    if least <= ALPHA:
        return None
    numbers = {one["graphs" if unit == "graph" else "tasks"] for one in tested if one["unit"] == unit}
    name, each = ("Holm p", " each") if len(tested) > 1 else ("p", "")
    return (
        f"No {what} can be significant: in {counted(len(tested), 'comparison')} on"
        f" {'at most ' * (len(numbers) > 1)}{counted(max(numbers), unit)}{each}, {name} is at least {least:.2g}."
        f" It takes {counted(units_needed(ALPHA / len(tested)), unit)}{each}."
    )


_Name = Callable[..., str]
"""Return the name of the player of a row, or of a side of a pair."""


def _players(pair: Pair) -> tuple[Player, Player]:
    return (pair["first_model"], pair["first_setting"]), (pair["second_model"], pair["second_setting"])


def _names(rows: Sequence[ReportRow]) -> _Name:
    """Return a function that names players by model, setting or both, whichever tells them apart."""
    parts = [part for part in ("model", "setting") if len({row[part] for row in rows}) > 1] or ["model", "setting"]
    return lambda row, side="": " ".join(one_line(row[f"{side}{part}"]) for part in parts)


def _failures(episodes: pl.DataFrame) -> Iterator[str]:
    """Yield the number of failed episodes with the most frequent causes."""
    episodes = episodes.filter((pl.col("scored") == 1) | (pl.col("infrastructure_failures") == 1))
    failed = episodes.filter(pl.col("infrastructure_failures") == 1)
    if len(failed):
        causes = Counter(failed["failure"].drop_nulls()).most_common(_MOST_CAUSES)
        yield _sentence(
            "failed" if len(failed) < len(episodes) else "nothing_scored",
            failed=len(failed),
            episodes=counted(len(episodes), "episode"),
            causes=" ".join(f"{count} × {cause.rstrip('.')}." for cause, count in causes),
        )


def _best(rows: Sequence[ReportRow]) -> list[ReportRow]:
    highest = max(row[_MEASURE] for row in rows)
    return [row for row in rows if row[_MEASURE] == highest]


def _score(sentence: str, row: ReportRow, name: _Name, guesses: Mapping[str, float]) -> str:
    """Return the sentence on the accuracy of a player, beside that of `guesses`, by name."""
    ends: list[float] = row["intervals"].get(_MEASURE, [])
    over = f" {OVER_QUESTIONS}" if row["unit"] == "question" else ""
    not_above = {guess: value for guess, value in guesses.items() if not ends or ends[0] <= value}
    compared = _join([f"{guess} ({one_decimal(value)} %)" for guess, value in (not_above or guesses).items()])
    return _sentence(
        sentence,
        player=name(row),
        accuracy=one_decimal(row[_MEASURE]),
        answers=counted(row["scored"], "answer"),
        interval=f" ({' to '.join(map(one_decimal, ends))}{over})" if ends else "",
        guesses=_sentence("not_above" if not_above else "above", guesses=compared) if guesses else "",
    )


def _proven(row: ReportRow, name: _Name) -> str:
    """Return the share of right and proven answers of a player, and of how many right ones; – without tools."""
    if row[PROVEN] is None:
        return f"{name(row)} {UNKNOWN}"
    right = counted(row["correct"], "right answer")
    return f"{name(row)} {one_decimal(row[PROVEN])} % ({row['proven']} of {right})"


def _primary(
    family: Sequence[Pair], settings: Sequence[str], rows: Sequence[ReportRow], *, is_alone: bool
) -> Iterator[str]:
    """Yield a sentence on each pair of the primary comparison, and its family. `is_alone`: there is no other pair."""
    row_of = {(row["model"], row["setting"]): row for row in rows}
    p_values = [pair["measures"][_MEASURE]["p_value"] for pair in family]
    adjusted = iter(holm([p for p in p_values if p is not None]))
    reason = no_significance(family, _MEASURE, "primary difference")

    def score(player: Player) -> str:
        row, setting = row_of[player], one_line(setting_of(player[1]))
        proven = UNKNOWN if row[PROVEN] is None else f"{one_decimal(row[PROVEN])} %"
        is_provable = any(one[PROVEN] is not None for one in rows)
        return f"{setting} {one_decimal(row[_MEASURE])} %{f' (right and proven {proven})' if is_provable else ''}"

    for pair, p_value in zip(family, p_values, strict=True):
        measure = {**pair["measures"][_MEASURE], "p_holm": None if p_value is None else next(adjusted)}
        pair = {**pair, "measures": {_MEASURE: measure}}
        model, variant = pair["first_model"], pair["first_setting"].partition(":")[2]
        first, second = sorted(_players(pair), key=lambda player: settings.index(setting_of(player[1])))
        bases = (one_line(setting_of(setting)) for _, setting in _players(pair))
        figures = _figures(pair, *bases, tested=reason is None)
        yield _sentence(
            "primary",
            player=one_line(f"{model} ({variant})" if variant else model),
            first=score(first),
            second=score(second),
            lead=_sentence("ahead" if measure["difference"] else "even", **figures),
            **{**figures, "shown": figures["shown"] or ": shown"},
        )
    if reason:
        yield reason
    if not family:
        yield _sentence("no_primary", first=settings[0], second=settings[1])
    elif not is_alone:
        yield _sentence("secondary", family=counted(len(family), "primary comparison"))


def _is_shown(pair: Pair) -> bool:
    """Return True if the test and the interval show a difference."""
    measure = pair["measures"][_MEASURE]
    ends: Sequence[float] | None = measure["interval"]
    significant = measure["p_holm"] is not None and measure["p_holm"] <= ALPHA
    return significant and (not ends or ends[0] > 0 or ends[1] < 0)


def _difference(pair: Pair, name: _Name, *, tested: bool) -> str:
    """Return the sentence on the only pair. `tested`: p can be significant."""
    measure = pair["measures"][_MEASURE]
    first, second = (name(pair, f"{side}_") for side in SIDES)
    words = {"first": first, "second": second, **_figures(pair, first, second, tested=tested)}
    if _is_shown(pair):
        return _sentence("better", **words)
    lead = _sentence("ahead" if measure["difference"] else "even", **words)
    return _sentence("not_shown", lead=lead, **words)


def _figures(pair: Pair, first: str, second: str, *, tested: bool) -> dict[str, str]:
    """Return the words of a sentence on a pair, with the difference and its interval from the better side's view."""

    def short(value: float) -> str:
        return f"{value:.0f}" if abs(value) >= 1 else f"{value:.1f}"

    measure = pair["measures"][_MEASURE]
    sign = -1 if measure["difference"] < 0 else 1
    ends = sorted(sign * end for end in measure["interval"] or ())
    p, points = measure["p_holm"], short(abs(measure["difference"]))
    return {
        "better": first if sign > 0 else second,
        "worse": second if sign > 0 else first,
        "points": f"{points} point{'' if points == '1' else 's'}",
        "interval": f" ({' to '.join(map(short, ends))})" if ends else "",
        "p": "" if p is None or not tested else f", p {'< 0.001' if p < 0.001 else f'= {p:.3f}'}",
        "over": f", {OVER_QUESTIONS}" if measure["unit"] == "question" else "",
        "shown": "" if _is_shown(pair) else ": not shown",
    }


def _gains(pairs: Sequence[Pair], *, tested: bool) -> list[str]:
    """Return the gain of each model by walking over another setting of its variant; of many, only what is shown."""
    words, sentences = report_file("verdict")["settings"], list[str]()
    gains: list[tuple[Pair, str, str]] = []
    for pair in pairs:
        both = [pair[f"{side}_setting"] for side in SIDES]
        walking, other = both if both[0].partition(":")[0] == "tools" else reversed(both)
        (kind, _, variant), (base, _, other_variant) = walking.partition(":"), other.partition(":")
        if pair["first_model"] == pair["second_model"] and variant == other_variant and kind == "tools" != base:
            gains.append((pair, variant, words.get(base, one_line(base))))
    models, variants = {pair["first_model"] for pair, *_ in gains}, {variant for _, variant, _ in gains}
    form = "{model}" if len(variants) < 2 else "{variant}" if len(models) < 2 else "{model} ({variant})"
    if is_many := len(gains) > _MOST_NAMES:
        shown = sum(_is_shown(pair) for pair, *_ in gains)
        sentences.append(_sentence("few_shown", number=len(gains), shown=shown))
    for pair, variant, other in [one for one in gains if not is_many or _is_shown(one[0])][:_MOST_NAMES]:
        name = one_line(form.format(model=pair["first_model"], variant=variant))
        sign = 1 if pair["first_setting"].partition(":")[0] == "tools" else -1
        key = "gains" if sign * pair["measures"][_MEASURE]["difference"] >= 0 else "loses"
        sentences.append(_sentence(key, name=name, other=other, **_figures(pair, "", "", tested=tested)))
    return sentences


def _against(
    best: Sequence[ReportRow],
    pairs: Sequence[Pair],
    name: _Name,
    *,
    tested: bool,
    primary: Sequence[str] | None = None,
) -> tuple[list[str], list[str]]:
    """Return the players that each of the best ones is shown to be better than, and all others, with points and p.

    Players whose difference from a best one is primary have a sentence of their own, and are left out.
    """
    leaders = {(row["model"], row["setting"]) for row in best}
    pairs_of: dict[str, list[tuple[bool, Pair]]] = {}
    for pair, (side, other, sign) in product(pairs, (("first_", "second_", 1), ("second_", "first_", -1))):
        players = [(pair[f"{one}model"], pair[f"{one}setting"]) for one in (side, other)]
        if players[0] in leaders and players[1] not in leaders:
            is_ahead = sign * pair["measures"][_MEASURE]["difference"] > 0
            pairs_of.setdefault(name(pair, other), []).append((is_ahead and _is_shown(pair), pair))
    behind, others = list[str](), list[str]()
    for other_name, compared in pairs_of.items():
        if any(is_primary(*_players(pair), primary) for _, pair in compared):
            continue
        is_shown = all(shown for shown, _ in compared)
        weakest = max((pair for _, pair in compared), key=lambda pair: pair["measures"][_MEASURE]["p_holm"] or 0)
        figures = _figures(weakest, "", "", tested=tested)
        (behind if is_shown else others).append(f"{other_name} ({figures['points']}{figures['p']})")
    return behind, others


def _by_size(suite: SuiteReport, rows: Sequence[ReportRow], pairs: Sequence[Pair], name: _Name) -> Iterator[str]:
    """Yield for each size of the graph who is best, and better than whom."""
    title = next((one.title for one in suite.groupings if one.name == SIZE), SIZE)
    sizes, tested = dict.fromkeys(pair[SIZE] for pair in pairs), no_significance(pairs, _MEASURE) is None
    for size in sizes:
        scored = [row for row in rows if row[SIZE] == size and row[_MEASURE] is not None]
        best = _best(scored)
        behind, others = _against(best, [one for one in pairs if one[SIZE] == size], name, tested=tested)
        key = "at_size" if best[0][_MEASURE] else "nothing_right_at_size"
        yield _sentence(
            key,
            title=f"{title[:1].upper()}{title[1:]}",
            size=size,
            players=_join([*map(name, best)]),
            accuracy=one_decimal(best[0][_MEASURE]),
            better=_sentence("better_at_size", others=_join(behind)) if behind else "",
            not_better=_sentence("not_better_at_size", others=_join(others)) if others else "",
        )


def _wrong(row: ReportRow, suite: SuiteReport, name: _Name) -> Iterator[str]:
    """Yield the most frequent causes of the wrong answers of a player, as shares of those with a known cause."""
    number = (row["scored"] or 0) - (row["correct"] or 0)
    causes = Counter({cause.heading.lower(): row.get(cause.field) or 0 for cause in suite.causes})
    if total := causes.total():
        shares = [f"{words} {100 * count / total:.0f} %" for words, count in causes.most_common(_MOST_CAUSES) if count]
        of = "" if total == number else f", cause known for {total}"
        yield _sentence("wrong", player=name(row), number=f"{number}{of}", causes=", ".join(shares))


def _join(names: Sequence[str]) -> str:
    """Return `a, b and c`; of many names, the first ones and the number of the others."""
    if len(names) > _MOST_NAMES:
        names = [*names[:_MOST_NAMES], f"{len(names) - _MOST_NAMES} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _sentence(key: str, /, **fields: Any) -> str:
    return str(report_file("verdict")[key]).format_map(fields)
