"""The verdict in words at the top of a report and of a comparison, from the numbers of their tables.

Rows and pairs are those of the tables. A difference is claimed only if its p, adjusted by Holm, is at most 0.05 and its
interval does not contain 0.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from graphwalk.analysis.report.episodes import rows_of
from graphwalk.analysis.report.suite_report import (
    ACCURACY,
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

_MOST_PLAYERS = 3
"""Players in one sentence each, if no two share tasks."""
_MOST_NAMES = 5
_MOST_CAUSES = 3

Pair = dict[str, Any]
"""A pair of players in accuracy: names, `difference`, `interval`, `p_holm`, …, beside `measures` as in compare.py."""
Player = tuple[str, str]
Namer = Callable[..., str]
"""Return the name of the player of a row, or of the side `first` or `second` of a pair."""


def verdict_on(
    episodes: pl.DataFrame,
    suite: SuiteReport,
    rows: Sequence[ReportRow],
    pairs: Sequence[Mapping[str, Any]],
    *,
    pairs_by_size: Sequence[Mapping[str, Any]],
    baselines: Sequence[ReportRow] = (),
    primary: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yield the verdict, overall and by size of the graph. The comparison of the two `primary` settings comes first."""
    yield from _failures(episodes)
    scored = [row for row in rows if row[ACCURACY] is not None]
    if not scored:
        return
    name, best, accuracies = _namer(scored), _best(scored), [_in_accuracy(pair) for pair in pairs]
    guesses = {row["model"]: row[ACCURACY] for row in baselines if row["model"] in GUESSES}
    family = [pair for pair in accuracies if is_primary(*_players(pair), primary)]
    if primary and not family:
        yield f"Primary comparison {primary[0]} against {primary[1]}: no model is compared in both settings."
    if not best[0][ACCURACY]:
        answers = counted(sum(row["scored"] for row in scored), "answer")
        yield f"No answer is correct: 0 of {answers} by {_join(map(name, scored))}."
    elif pairs:
        secondary = [pair for pair in accuracies if pair not in family]
        if family:
            yield from _primary(family, name, is_alone=not secondary)
        if secondary:
            yield from _secondary(secondary, family, best, name, guesses)
        if pairs_by_size:
            yield from _by_size(episodes, suite, [_in_accuracy(pair) for pair in pairs_by_size], name)
    else:
        yield from (f"{name(row)}: {_score(row, guesses)}." for row in scored[:_MOST_PLAYERS])
    if best[0][ACCURACY] and any(row[PROVEN] is not None for row in scored):
        yield f"Right and proven by tool results: {_join(f'{name(row)} {_proven(row)}' for row in scored)}."
    for row in scored if len(scored) <= _MOST_PLAYERS else best[:1]:
        yield from _wrong(row, suite, name)


def is_primary(first: Player, second: Player, settings: Iterable[str] | None) -> bool:
    """Return True if two players are one model, in the same variant, in the two settings of the primary comparison."""
    (base, _, variant), (other, _, other_variant) = first[1].partition(":"), second[1].partition(":")
    return settings is not None and (first[0], variant) == (second[0], other_variant) and {base, other} == {*settings}


def one_call(episodes: pl.DataFrame, suite: SuiteReport) -> Iterator[str]:
    """Yield the share of questions that one call of the expert answers; nothing without an expert that uses tools."""
    tasks = episodes.drop_nulls(CALLS.column).unique("task_id")[CALLS.column]
    if total := len(tasks):
        number = int((tasks == "one").sum())
        questions = counted(total, report_file(suite.suite).get("task", "question"))
        yield f"One call of the expert answers {number} of {questions} ({one_decimal(100 * number / total)} %)."


def _in_accuracy(pair: Mapping[str, Any]) -> Pair:
    return {**pair, **pair["measures"][ACCURACY]}


def _players(pair: Pair) -> tuple[Player, Player]:
    return (pair["first_model"], pair["first_setting"]), (pair["second_model"], pair["second_setting"])


def _turned(pair: Pair) -> Pair:
    """Return a pair with its sides exchanged."""
    (model, setting), (other_model, other_setting) = _players(pair)
    first = {"first_model": other_model, "first_setting": other_setting}
    second = {"second_model": model, "second_setting": setting}
    ends = pair["interval"] and [-end for end in reversed(pair["interval"])]
    return {**pair, **first, **second, "difference": -pair["difference"], "interval": ends}


def _is_shown(pair: Pair) -> bool:
    """Return True if the test and the interval show that the first player is better."""
    is_significant = pair["p_holm"] is not None and pair["p_holm"] <= ALPHA
    return is_significant and pair["difference"] > 0 and (pair["interval"] is None or pair["interval"][0] > 0)


def _namer(rows: Sequence[ReportRow]) -> Namer:
    """Return a function that names players by model, setting or both, whichever tells them apart."""
    parts = [part for part in ("model", "setting") if len({row[part] for row in rows}) > 1] or ["model", "setting"]
    return lambda row, side="": " ".join(one_line(row[f"{side}_{part}" if side else part]) for part in parts)


def _best(rows: Sequence[ReportRow]) -> list[ReportRow]:
    highest = max(row[ACCURACY] for row in rows)
    return [row for row in rows if row[ACCURACY] == highest]


def _no_significance(pairs: Sequence[Pair], what: str) -> Iterator[str]:
    """Yield the reason why no pair can be significant, whatever the outcomes are, if there is one."""
    tested = [pair for pair in pairs if pair["p_value"] is not None]
    if not tested:
        yield f"No {what} can be tested: each comparison has only one {pairs[0]['unit']}."
        return
    strongest = min(tested, key=lambda pair: pair["p_least"])
    least, unit = min(1.0, len(tested) * strongest["p_least"]), strongest["unit"]
    if least > ALPHA:
        most = counted(strongest["graphs" if unit == "graph" else "tasks"], unit)
        needed = counted(units_needed(ALPHA / len(tested)), unit)
        yield (
            f"No {what} can be significant: in {counted(len(tested), 'comparison')} on at most {most},"
            f" Holm p is at least {least:.2g}. It takes {needed}."
        )


def _failures(episodes: pl.DataFrame) -> Iterator[str]:
    """Yield the number of failed episodes with the most frequent causes."""
    episodes = episodes.filter((pl.col("scored") == 1) | (pl.col("infrastructure_failures") == 1))
    failed = episodes.filter(pl.col("infrastructure_failures") == 1)
    if len(failed):
        causes = Counter(failed["failure"].drop_nulls()).most_common(_MOST_CAUSES)
        number = f"{len(failed)} of {counted(len(episodes), 'episode')} failed"
        yield " ".join(
            [
                f"{number} without a score." if len(failed) < len(episodes) else f"Nothing is scored: {number}.",
                *(f"{count} × {cause.rstrip('.')}." for cause, count in causes),
                "Resume the run once the cause is removed.",
            ]
        )


def _score(row: ReportRow, guesses: Mapping[str, float]) -> str:
    """Return the accuracy of a player in words, beside that of `guesses`, by name."""
    ends: list[float] = row["intervals"].get(ACCURACY, [])
    over = f" {OVER_QUESTIONS}" if row["unit"] == "question" else ""
    interval = f" ({' to '.join(map(one_decimal, ends))}{over})" if ends else ""
    not_above = {guess: value for guess, value in guesses.items() if not ends or ends[0] <= value}
    compared = _join(f"{guess} ({one_decimal(value)} %)" for guess, value in (not_above or guesses).items())
    above = f"; {'not shown to be ' if not_above else ''}above {compared}" if guesses else ""
    return f"{one_decimal(row[ACCURACY])} % correct of {counted(row['scored'], 'answer')}{interval}{above}"


def _proven(row: ReportRow) -> str:
    """Return the share of right and proven answers, and of how many right ones; – without tools."""
    if row[PROVEN] is None:
        return UNKNOWN
    return f"{one_decimal(row[PROVEN])} % ({row['proven']} of {counted(row['correct'], 'right answer')})"


def _primary(family: Sequence[Pair], name: Namer, *, is_alone: bool) -> Iterator[str]:
    """Yield a sentence on each pair of the primary comparison, with p adjusted over these alone."""
    for pair, p_holm in zip(family, holm([pair["p_value"] for pair in family]), strict=True):
        yield f"Primary comparison: {_difference({**pair, 'p_holm': p_holm}, name)}"
    yield from _no_significance(family, "primary difference")
    if not is_alone:
        yield (
            f"The primary p is adjusted by Holm over {counted(len(family), 'primary comparison')} alone. All other"
            " comparisons are secondary: Holm over all pairs of their table."
        )


def _secondary(
    pairs: Sequence[Pair], family: Sequence[Pair], best: Sequence[ReportRow], name: Namer, guesses: Mapping[str, float]
) -> Iterator[str]:
    """Yield the difference of walking from another setting of each model, if these are few, and the best players.

    The best are compared with all others, except in pairs of the primary `family`.
    """
    if len(pairs) == 1 and not family:
        yield _difference(pairs[0], name)
    else:
        of_walking = [pair for pair in pairs if _is_of_walking(*_players(pair))]
        if len(of_walking) <= _MOST_NAMES:
            yield from (_difference(pair, name) for pair in of_walking)
        if len(best) == 1:
            yield f"{name(best[0])} has the highest accuracy: {_score(best[0], guesses)}."
        else:
            yield f"{_join(map(name, best))} have the highest accuracy: {one_decimal(best[0][ACCURACY])} %."
        behind, others = _against(best, pairs, family, name)
        if behind:
            yield f"{'It' if len(best) == 1 else 'Each'} is shown to be better than {_join(behind)}."
        if others:
            yield f"No difference is shown from {_join(others)}."
    yield from _no_significance([*pairs, *family], "secondary difference" if family else "difference")


def _is_of_walking(first: Player, second: Player) -> bool:
    """Return True if two players are one model, in the same variant, with tools and in another setting."""
    settings = {setting_of(first[1]), setting_of(second[1])}
    return "tools" in settings and is_primary(first, second, settings)


def _difference(pair: Pair, name: Namer) -> str:
    if pair["difference"] < 0:
        pair = _turned(pair)
    first, second = (name(pair, side) for side in SIDES)
    over = f", {OVER_QUESTIONS}" if pair["unit"] == "question" else ""
    if _is_shown(pair):
        return f"{first} is better than {second} by {_points(pair, interval=True)}{over}."
    lead = f"{first} is ahead by" if pair["difference"] else "the difference is"
    return f"No difference between {first} and {second} is shown: {lead} {_points(pair, interval=True)}{over}."


def _points(pair: Pair, *, interval: bool = False) -> str:
    """Return the difference in words, with its p, and its interval if asked."""

    def short(value: float) -> str:
        return f"{value:.0f}" if abs(value) >= 1 else f"{value:.1f}"

    points, p = short(abs(pair["difference"])), pair["p_holm"]
    ends = f" ({' to '.join(map(short, pair['interval']))})" if interval and pair["interval"] else ""
    test = "" if p is None else f", p {'< 0.001' if p < 0.001 else f'= {p:.3f}'}"
    return f"{points} point{'' if points == '1' else 's'}{ends}{test}"


def _against(
    best: Sequence[ReportRow], pairs: Sequence[Pair], family: Sequence[Pair], name: Namer
) -> tuple[list[str], list[str]]:
    """Return the players that each of the best ones is shown to be better than, and all others, with points and p.

    Players whose difference from a best one is in the primary `family` are left out.
    """
    leaders = {(row["model"], row["setting"]) for row in best}

    def with_leaders(pairs: Sequence[Pair]) -> list[Pair]:
        """Return the pairs of a leader and another player, the leader first."""
        return [pair for pair in (*pairs, *map(_turned, pairs)) if {*_players(pair)} & leaders == {_players(pair)[0]}]

    pairs_of: dict[str, list[Pair]] = {}
    for pair in with_leaders(pairs):
        pairs_of.setdefault(name(pair, "second"), []).append(pair)
    for pair in with_leaders(family):
        pairs_of.pop(name(pair, "second"), None)
    behind, others = list[str](), list[str]()
    for other, compared in pairs_of.items():
        is_behind = len(compared) == len(best) and all(map(_is_shown, compared))
        weakest = max(compared, key=lambda pair: pair["p_holm"] or 0)
        (behind if is_behind else others).append(f"{other} ({_points(weakest)})")
    return behind, others


def _by_size(episodes: pl.DataFrame, suite: SuiteReport, pairs: Sequence[Pair], name: Namer) -> Iterator[str]:
    """Yield for each size of the graph who is best, and better than whom."""
    grouping = suite.all_groupings[SIZE]
    rows = rows_of(episodes, suite, grouping)
    for size in dict.fromkeys(pair[SIZE] for pair in pairs):
        best = _best([row for row in rows if row[SIZE] == size and row[ACCURACY] is not None])
        place = f"{grouping.title.capitalize()} {size}"
        if not best[0][ACCURACY]:
            yield f"{place}: no answer is correct."
            continue
        behind, others = _against(best, [pair for pair in pairs if pair[SIZE] == size], [], name)
        better = f", shown to be better than {_join(behind)}" if behind else ""
        not_better = f"; no difference is shown from {_join(others)}" if others else ""
        yield f"{place}: {_join(map(name, best))} {one_decimal(best[0][ACCURACY])} %{better}{not_better}."


def _wrong(row: ReportRow, suite: SuiteReport, name: Namer) -> Iterator[str]:
    """Yield the most frequent causes of the wrong answers of a player, as shares of those with a known cause."""
    number = row["scored"] - row["correct"]
    causes = Counter({cause.heading.lower(): row.get(cause.field) or 0 for cause in suite.causes})
    if total := causes.total():
        shares = [f"{words} {100 * count / total:.0f} %" for words, count in causes.most_common(_MOST_CAUSES) if count]
        of = "" if total == number else f", cause known for {total}"
        yield f"Wrong answers of {name(row)} ({number}{of}): {', '.join(shares)}."


def _join(names: Iterable[str]) -> str:
    """Return `a, b and c`; of many names, the first ones and the number of the others."""
    names = list(names)
    if len(names) > _MOST_NAMES:
        names = [*names[:_MOST_NAMES], f"{len(names) - _MOST_NAMES} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
