"""The verdict in words at the top of a report and of a comparison, from the numbers of their tables.

Rows and pairs are those of the tables. A difference is claimed only if its p, adjusted by Holm, is at most 0.05 and its
interval does not contain 0.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import polars as pl

from graphwalk.analysis.report.episodes import rows_of
from graphwalk.analysis.report.rows import Contestant, Group, Interval, Pair, ReportRow
from graphwalk.analysis.report.suite_report import (
    ACCURACY,
    CALLS,
    GUESSES,
    PROVEN,
    SIZE,
    SuiteReport,
)
from graphwalk.analysis.report.text_table import OVER_QUESTIONS, UNKNOWN, one_decimal
from graphwalk.analysis.statistics import ALPHA, holm, lower_bound_in_words, units_needed
from graphwalk.errors import counted
from graphwalk.sanitise import one_line

_MOST_CONTESTANTS = 3
"""Contestants in one sentence each, if no two share tasks."""
_MOST_NAMES = 5
_MOST_CAUSES = 3


def verdict_on(
    episodes: pl.DataFrame,
    suite: SuiteReport,
    rows: Sequence[ReportRow],
    pairs: Sequence[Pair],
    *,
    pairs_by_size: Sequence[Pair],
    baselines: Sequence[ReportRow] = (),
    primary: Sequence[str] | None = None,
    windows: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[str]:
    """Yield the verdict, overall and by size of the graph. The comparison of the two `primary` settings comes first.

    `windows`: the context window by model, where it is known.
    """
    yield from _failures(episodes)
    scored = [row for row in rows if row.figures.get(ACCURACY) is not None]
    if not scored:
        return

    differences = _with_least_p([_Difference.in_accuracy(pair) for pair in pairs])
    primary_differences = [pair for pair in differences if is_primary(pair.first, pair.second, primary)]
    if primary and not primary_differences:
        yield f"Primary comparison {primary[0]} against {primary[1]}: no model is compared in both settings."

    names = _Names(scored)
    best = _best(scored)
    yield from _overflows(scored, names, windows)
    if all(row.figures.get("context_overflows") == row.count("scored") for row in scored):
        return
    if not best[0].figures.get(ACCURACY):
        answers = counted(sum(row.count("scored") for row in scored), "answer")
        yield f"No answer is correct: 0 of {answers} by {_join(names.of_rows(scored))}."
    else:
        guesses = _guesses(baselines)
        if differences:
            yield from _compared(differences, primary_differences, best, names, guesses)
            by_size = _with_least_p([_Difference.in_accuracy(pair) for pair in pairs_by_size])
            yield from _by_size(episodes, suite, by_size, names)
        else:
            for row in scored[:_MOST_CONTESTANTS]:
                yield f"{names.of(row.contestant)}: {_score(row, guesses)}."
        yield from _proven(scored, names)

    explained = scored if len(scored) <= _MOST_CONTESTANTS else best[:1]
    for row in explained:
        yield from _causes(row, suite, names)


def _guesses(baselines: Iterable[ReportRow]) -> dict[str, float]:
    """Return the accuracy of guesses by name: {"chance": 4.13, "best constant answer": 9.3}."""
    guesses = {}
    for row in baselines:
        accuracy = row.figures.get(ACCURACY)
        if row.model in GUESSES and accuracy is not None:
            guesses[row.model] = accuracy
    return guesses


def is_primary(first: Contestant, second: Contestant, settings: Collection[str] | None) -> bool:
    """Return True if two contestants are one model, in one variant, in the two settings of the primary comparison."""
    if settings is None or first.model != second.model or first.setting.variant != second.setting.variant:
        return False
    return {first.setting.name, second.setting.name} == set(settings)


def one_call(episodes: pl.DataFrame, suite: SuiteReport) -> Iterator[str]:
    """Yield the share of questions that one call of the expert answers; nothing without an expert that uses tools."""
    needed_calls = episodes.drop_nulls(CALLS.column).unique("task_id")[CALLS.column]
    total = len(needed_calls)
    if not total:
        return
    number = int((needed_calls == "one").sum())
    questions = counted(total, suite.task_word)
    yield f"One call of the expert answers {number} of {questions} ({one_decimal(100 * number / total)} %)."


@dataclass(frozen=True)
class _Difference:
    """The difference of two contestants in accuracy, first − second, as in the tables of compare.py."""

    first: Contestant
    second: Contestant
    points: float
    """Percentage points."""
    interval: Interval | None
    p_value: float | None
    p_holm: float | None
    p_is_exact: bool
    """All assignments of signs are counted."""
    p_least: float
    """The smallest p that this number of units allows; 1 without a test."""
    unit: str
    """Graph or question."""
    units: int
    size: Group | None
    """Size of the graphs; None for graphs of all sizes."""
    p_holm_least: float | None = None
    """The smallest p that is possible after Holm, if that is not significant while others of the table can be."""

    @classmethod
    def in_accuracy(cls, pair: Pair) -> "_Difference":
        accuracy = pair.measures[ACCURACY]
        assert accuracy.difference is not None  # they share tasks
        return cls(
            first=pair.first,
            second=pair.second,
            points=accuracy.difference,
            interval=accuracy.interval,
            p_value=accuracy.p_value,
            p_holm=accuracy.p_holm,
            p_is_exact=accuracy.p_exact is not False,
            p_least=1.0 if accuracy.p_least is None else accuracy.p_least,
            unit=accuracy.unit,
            units=accuracy.units,
            size=pair.group,
        )

    def turned(self) -> "_Difference":
        """Return the difference second − first."""
        interval = None
        if self.interval is not None:
            interval = Interval(-self.interval.high, -self.interval.low)
        return replace(self, first=self.second, second=self.first, points=-self.points, interval=interval)

    @property
    def is_shown(self) -> bool:
        """Return True if the test and the interval show that the first one is better."""
        if self.p_holm is None or self.p_holm > ALPHA or self.points <= 0:
            return False
        return self.interval is None or self.interval.low > 0

    def size_in_words(self, *, with_interval: bool) -> str:
        """Return the points and p: `12 points (-2 to 27), p = 0.125`."""
        points = _rounded(abs(self.points))
        words = f"{points} point" if points == "1" else f"{points} points"
        if with_interval and self.interval is not None:
            words += f" ({_rounded(self.interval.low)} to {_rounded(self.interval.high)})"
        if self.p_holm is None:
            return words
        words += f", {self._p_in_words(self.p_holm)}"
        if self.p_holm_least is not None:
            words += (
                f", which is at least {lower_bound_in_words(self.p_holm_least)} with {counted(self.units, self.unit)}"
            )
        return words

    def _p_in_words(self, p_value: float) -> str:
        # Random assignments tell two digits.
        if not self.p_is_exact:
            return f"p ≈ {max(p_value, 0.01):.2f}"
        if p_value < 0.001:
            return "p < 0.001"
        return f"p = {p_value:.3f}"

    def sentence(self, names: "_Names") -> str:
        """Return who is better, or that nothing is shown, with the one first that is ahead."""
        if self.points < 0:
            return self.turned().sentence(names)
        first = names.of(self.first)
        second = names.of(self.second)
        size = self.size_in_words(with_interval=True)
        if self.unit == "question":
            size += f", {OVER_QUESTIONS}"
        if self.is_shown:
            return f"{first} is better than {second} by {size}."
        lead = f"{first} is ahead by" if self.points else "the difference is"
        return f"No difference between {first} and {second} is shown: {lead} {size}."


def _with_least_p(differences: Sequence[_Difference]) -> list[_Difference]:
    """Return differences of one table with the smallest p that each can have after Holm.

    Where none can be significant, `_no_significance` names this once for all.
    """
    tested = [difference.p_least for difference in differences if difference.p_value is not None]
    if not tested:
        return list(differences)
    least = holm(tested)
    if min(filter(None, least)) > ALPHA:
        return list(differences)

    noted = []
    remaining = iter(least)
    for difference in differences:
        if difference.p_value is not None:
            p_holm_least = next(remaining)
            if p_holm_least is not None and p_holm_least > ALPHA:
                difference = replace(difference, p_holm_least=p_holm_least)
        noted.append(difference)
    return noted


def _rounded(points: float) -> str:
    return f"{points:.0f}" if abs(points) >= 1 else f"{points:.1f}"


class _Names:
    """Names contestants by model, setting or both, whichever tells them apart."""

    def __init__(self, rows: Sequence[ReportRow]) -> None:
        several_models = len({row.model for row in rows}) > 1
        several_settings = len({row.setting for row in rows}) > 1
        self._with_model = several_models or not several_settings
        self._with_setting = several_settings or not several_models

    def of(self, contestant: Contestant) -> str:
        parts = []
        if self._with_model:
            parts.append(one_line(contestant.model))
        if self._with_setting:
            parts.append(one_line(contestant.setting))
        return " ".join(parts)

    def of_rows(self, rows: Iterable[ReportRow]) -> list[str]:
        return [self.of(row.contestant) for row in rows]


def _best(rows: Sequence[ReportRow]) -> list[ReportRow]:
    """Return the rows with the highest accuracy: several if contestants tie."""
    highest = max(row.number(ACCURACY) for row in rows)
    return [row for row in rows if row.figures.get(ACCURACY) == highest]


def _failures(episodes: pl.DataFrame) -> Iterator[str]:
    """Yield the number of failed episodes with the most frequent causes."""
    finished = episodes.filter((pl.col("scored") == 1) | (pl.col("infrastructure_failures") == 1))
    failed = finished.filter(pl.col("infrastructure_failures") == 1)
    if failed.is_empty():
        return

    number = f"{len(failed)} of {counted(len(finished), 'episode')} failed"
    if len(failed) < len(finished):
        sentences = [f"{number} without a score."]
    else:
        sentences = [f"Nothing is scored: {number}."]
    for cause, count in Counter(failed["failure"].drop_nulls()).most_common(_MOST_CAUSES):
        sentences.append(f"{count} × {cause.rstrip('.')}.")
    sentences.append("Resume the run once the cause is removed.")
    yield " ".join(sentences)


def _overflows(rows: Sequence[ReportRow], names: _Names, windows: Mapping[str, int]) -> Iterator[str]:
    """Yield how many answers of each one ran out of context: `4 of 4 answers ran out of context (3,000 tokens)`."""
    for row in rows:
        overflows = row.count("context_overflows")
        if overflows:
            window = windows.get(row.model)
            size = f" ({window:,} tokens)" if window else ""
            answers = counted(row.count("scored"), "answer")
            yield f"{names.of(row.contestant)}: {overflows} of {answers} ran out of context{size}."


def _score(row: ReportRow, guesses: Mapping[str, float]) -> str:
    """Return the accuracy of a contestant in words, beside that of `guesses`, by name.

    Example: `54.2 % correct of 24 answers (35.1 to 72.1); not shown to be above chance (40.0 %)`
    """
    words = f"{one_decimal(row.number(ACCURACY))} % correct of {counted(row.count('scored'), 'answer')}"
    interval = row.intervals.get(ACCURACY)
    if interval is not None:
        over = f" {OVER_QUESTIONS}" if row.unit == "question" else ""
        words += f" ({one_decimal(interval.low)} to {one_decimal(interval.high)}{over})"
    if not guesses:
        return words

    # Without an interval nothing is shown.
    as_good = {}
    for guess, accuracy in guesses.items():
        if interval is None or interval.low <= accuracy:
            as_good[guess] = accuracy
    if as_good:
        return f"{words}; not shown to be above {_guesses_in_words(as_good)}"
    return f"{words}; above {_guesses_in_words(guesses)}"


def _guesses_in_words(guesses: Mapping[str, float]) -> str:
    return _join(f"{guess} ({one_decimal(accuracy)} %)" for guess, accuracy in guesses.items())


def _compared(
    differences: Sequence[_Difference],
    primary: Sequence[_Difference],
    best: Sequence[ReportRow],
    names: _Names,
    guesses: Mapping[str, float],
) -> Iterator[str]:
    """Yield the `primary` ones of the differences, then the others."""
    secondary = [difference for difference in differences if difference not in primary]
    if primary:
        yield from _primary(primary, names)
        if secondary:
            yield (
                f"The primary p is adjusted by Holm over {counted(len(primary), 'primary comparison')} alone. All other"
                " comparisons are secondary: Holm over all pairs of their table."
            )
    if secondary:
        yield from _secondary(secondary, primary, best, names, guesses)


def _primary(differences: Sequence[_Difference], names: _Names) -> Iterator[str]:
    """Yield a sentence on each primary difference, with p adjusted over these alone."""
    adjusted = holm([difference.p_value for difference in differences])
    of_primary_alone = [
        replace(difference, p_holm=p_holm, p_holm_least=None)
        for difference, p_holm in zip(differences, adjusted, strict=True)
    ]
    for difference in _with_least_p(of_primary_alone):
        yield f"Primary comparison: {difference.sentence(names)}"
    yield from _no_significance(differences, "primary difference")


def _secondary(
    differences: Sequence[_Difference],
    primary: Sequence[_Difference],
    best: Sequence[ReportRow],
    names: _Names,
    guesses: Mapping[str, float],
) -> Iterator[str]:
    """Yield the difference of walking from another setting of each model, if these are few, and the best contestants.

    The best are compared with all others, except in `primary` differences.
    """
    if len(differences) == 1 and not primary:
        yield differences[0].sentence(names)
        yield from _no_significance(differences, "difference")
        return

    of_walking = [difference for difference in differences if _is_of_walking(difference)]
    if len(of_walking) <= _MOST_NAMES:
        for difference in of_walking:
            yield difference.sentence(names)

    if len(best) == 1:
        yield f"{names.of(best[0].contestant)} has the highest accuracy: {_score(best[0], guesses)}."
    else:
        yield f"{_join(names.of_rows(best))} have the highest accuracy: {one_decimal(best[0].number(ACCURACY))} %."
    behind, others = _behind_and_others(best, differences, primary, names)
    if behind:
        subject = "It" if len(best) == 1 else "Each"
        yield f"{subject} is shown to be better than {_join(behind)}."
    if others:
        yield f"No difference is shown from {_join(others)}."

    # All pairs of a table are adjusted together, the primary ones too.
    in_table = [*differences, *primary]
    yield from _no_significance(in_table, "secondary difference" if primary else "difference")


def _is_of_walking(difference: _Difference) -> bool:
    """Return True if two contestants are one model, in the same variant, with tools and in another setting."""
    settings = {difference.first.setting.name, difference.second.setting.name}
    return "tools" in settings and is_primary(difference.first, difference.second, settings)


def _no_significance(differences: Sequence[_Difference], what: str) -> Iterator[str]:
    """Yield the reason why no difference can be significant, whatever the outcomes are, if there is one."""
    tested = [difference for difference in differences if difference.p_value is not None]
    if not tested:
        yield f"No {what} can be tested: each comparison has only one {differences[0].unit}."
        return

    strongest = min(tested, key=lambda difference: difference.p_least)
    least = min(1.0, len(tested) * strongest.p_least)
    if least > ALPHA:
        most = counted(strongest.units, strongest.unit)
        needed = counted(units_needed(ALPHA / len(tested)), strongest.unit)
        yield (
            f"No {what} can be significant: in {counted(len(tested), 'comparison')} on at most {most},"
            f" Holm p is at least {lower_bound_in_words(least)}. It takes {needed}."
        )


def _behind_and_others(
    best: Sequence[ReportRow], differences: Sequence[_Difference], primary: Sequence[_Difference], names: _Names
) -> tuple[list[str], list[str]]:
    """Return the contestants that each of the best ones is shown to be better than, and all others, with points and p.

    Contestants whose difference from a best one is `primary` are left out.
    """
    leaders = {row.contestant for row in best}
    compared_with = _leads_by_other(differences, leaders)
    for other in _leads_by_other(primary, leaders):
        compared_with.pop(other, None)

    behind = []
    others = []
    for other, leads in compared_with.items():
        weakest = max(leads, key=lambda lead: lead.p_holm or 0)
        words = f"{names.of(other)} ({weakest.size_in_words(with_interval=False)})"
        # A leader that shares no task with this contestant has no lead.
        if len(leads) == len(best) and all(lead.is_shown for lead in leads):
            behind.append(words)
        else:
            others.append(words)
    return behind, others


def _leads_by_other(
    differences: Sequence[_Difference], leaders: Collection[Contestant]
) -> dict[Contestant, list[_Difference]]:
    """Return the differences of leaders from each other contestant, the leader first."""
    turned = [difference.turned() for difference in differences]
    leads: dict[Contestant, list[_Difference]] = {}
    for difference in [*differences, *turned]:
        if difference.first in leaders and difference.second not in leaders:
            leads.setdefault(difference.second, []).append(difference)
    return leads


def _by_size(
    episodes: pl.DataFrame, suite: SuiteReport, differences: Sequence[_Difference], names: _Names
) -> Iterator[str]:
    """Yield one text on who is best at each size of the graph and better than whom, or that nothing can be shown.

    Example: `Graph size 20: a 75.0 %; 50: a 50.0 %, shown to be better than b (50 points, p = 0.012).`
    """
    if not differences:
        return
    grouping = suite.all_groupings[SIZE]
    rows = rows_of(episodes, suite, grouping)
    parts = []
    is_undecided = False
    for size in dict.fromkeys(difference.size for difference in differences):
        best = _best([row for row in rows if row.group == size and row.figures.get(ACCURACY) is not None])
        if not best[0].figures.get(ACCURACY):
            parts.append(f"{size}: no answer is correct")
            continue

        of_size = [difference for difference in differences if difference.size == size]
        behind, others = _behind_and_others(best, of_size, [], names)
        part = f"{size}: {_join(names.of_rows(best))} {one_decimal(best[0].number(ACCURACY))} %"
        if behind:
            part += f", shown to be better than {_join(behind)}"
        if others:
            is_undecided = True
        parts.append(part)

    text = f"{grouping.title.capitalize()} {'; '.join(parts)}."
    reason = next(_no_significance(differences, "difference at one size"), None)
    if reason is not None:
        text += f" {reason}"
    elif is_undecided:
        text += f" No other difference from the best is shown.{_sizes_without_a_test(differences)}"
    yield text


def _sizes_without_a_test(differences: Sequence[_Difference]) -> str:
    """Return at which sizes no difference can be significant, with a blank before it; nothing without such a size."""
    few_units: dict[Group | None, _Difference] = {}
    sizes_with_a_test = set()
    for difference in differences:
        if difference.p_value is not None and difference.p_holm_least is None:
            sizes_with_a_test.add(difference.size)
        else:
            few_units[difference.size] = difference

    reasons = []
    for size, difference in few_units.items():
        if size in sizes_with_a_test:
            continue
        reason = f"{size} ({counted(difference.units, difference.unit)}"
        if difference.p_holm_least is not None:
            reason += f": Holm p is at least {lower_bound_in_words(difference.p_holm_least)}"
        reasons.append(f"{reason})")
    return f" None can be significant at {_join(reasons)}." if reasons else ""


def _proven(rows: Sequence[ReportRow], names: _Names) -> Iterator[str]:
    """Yield the share of right and proven answers of each contestant, if one of them has tools."""
    if all(row.figures.get(PROVEN) is None for row in rows):
        return
    shares = []
    for row in rows:
        share = UNKNOWN
        proven = row.figures.get(PROVEN)
        if proven is not None:
            right_answers = counted(row.count("correct"), "right answer")
            share = f"{one_decimal(proven)} % ({row.count('proven')} of {right_answers})"
        shares.append(f"{names.of(row.contestant)} {share}")
    yield f"Right and proven by tool results: {_join(shares)}."


def _causes(row: ReportRow, suite: SuiteReport, names: _Names) -> Iterator[str]:
    """Yield the most frequent causes of the wrong answers of a contestant, as shares of those with a known cause."""
    causes = Counter({cause.heading.lower(): row.count(cause.field) for cause in suite.causes})
    with_cause = causes.total()
    if not with_cause:
        return
    shares = []
    for cause, count in causes.most_common(_MOST_CAUSES):
        if count:
            shares.append(f"{cause} {100 * count / with_cause:.0f} %")
    wrong = row.count("scored") - row.count("correct")
    number = str(wrong)
    if with_cause != wrong:
        number += f", cause known for {with_cause}"
    yield f"Wrong answers of {names.of(row.contestant)} ({number}): {', '.join(shares)}."


def _join(names: Iterable[str]) -> str:
    """Return `a, b and c`; of many names, the first ones and the number of the others."""
    joined = list(names)
    if len(joined) > _MOST_NAMES:
        more = len(joined) - _MOST_NAMES
        joined = joined[:_MOST_NAMES]
        joined.append(f"{more} more")
    if len(joined) < 2:
        return "".join(joined)
    return f"{', '.join(joined[:-1])} and {joined[-1]}"
