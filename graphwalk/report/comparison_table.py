"""Players against each other, as a table of text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphwalk.report.formats import UNKNOWN, integer, p_value, two_decimals
from graphwalk.report.layout import Cell, Header, TextTable
from graphwalk.types.inert import visible

PAIRS_NOTE = (
    "Pairs: first − second on identical tasks, repeats averaged; a percentage differs in points. p: sign flips over"
    " graphs (mid-p). Holm p: adjusted over all pairs of its table. McNemar p ignores that tasks share graphs."
)
_MOST_PAIRS = 28
"""Pairs shown in a terminal."""


def comparison_table(
    pairs: Sequence[Mapping[str, Any]],
    measures: Sequence[str],
    *,
    title: str = "Pairwise, on identical tasks (first − second)",
    group: str | None = None,
) -> TextTable:
    """`pairs` as `comparisons_of` gives them; counts and p-values are those of the first measure.

    `group`: the field with the group that a pair is about.
    """
    headline = measures[0]
    headers = (
        *(Header(name, name=True) for name in (*([group] if group else []), "first", "second")),
        Header("tasks", optional=1),
        Header("graphs", optional=4),
        Header("1st better", optional=2),
        Header("2nd better", optional=2),
        Header(f"Δ {headline}"),
        Header("p", optional=1),
        Header("Holm p"),
        Header("McNemar p", optional=5),
        *(Header(f"Δ {name}", optional=3) for name in measures[1:]),
    )
    groups = [pair[group] if group else None for pair in pairs]
    repeated = [i > 0 and name == groups[i - 1] for i, name in enumerate(groups)]
    rows = tuple(tuple(_cells(pair, measures, group, said)) for pair, said in zip(pairs, repeated, strict=True))
    return TextTable(title, headers, rows, long_only=frozenset(range(_MOST_PAIRS, len(rows))))


def _cells(pair: Mapping[str, Any], measures: Sequence[str], group: str | None, repeated: bool) -> Iterator[Cell]:
    """A group is named in its first row only."""
    if group:
        yield Cell("" if repeated else visible(pair[group]))
    for side in ("first", "second"):
        yield Cell(f"{visible(pair[f'{side}_model'])} {visible(pair[f'{side}_setting'])}")
    headline = pair["measures"][measures[0]]
    for count in ("tasks", "graphs", "first_better", "second_better"):
        yield Cell(integer(headline[count]))
    yield _difference(headline)
    for name in ("p_value", "p_holm", "mcnemar_p"):
        yield Cell(UNKNOWN if headline[name] is None else p_value(headline[name]))
    for name in measures[1:]:
        yield _difference(pair["measures"][name])


def _difference(measure: Mapping[str, Any]) -> Cell:
    value, ends = measure["difference"], measure["interval"]
    if value is None:
        return Cell(UNKNOWN)
    return Cell(f"{value:+.2f}", " … ".join(map(two_decimals, ends)) if ends else UNKNOWN)
