"""Does a right final state go with right states before it? Cases are traces, strata sizes; algorithm by algorithm.

There is no row over all algorithms: they run on the same graphs, so their traces are not independent.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphwalk.report.declared import ReportRow
from graphwalk.report.formats import UNKNOWN, integer, interval_text, one_decimal, p_value, two_decimals
from graphwalk.report.layout import Cell, Header, TextTable
from graphwalk.suites.magma.prompts import STEPWISE
from graphwalk.suites.magma.report.association import Fourfold, exact_p_value, mantel_haenszel
from graphwalk.suites.magma.report.traces import CELLS
from graphwalk.types.inert import visible

RELATION = "relation"
GIVEN_EARLIER = ("final_if_earlier_right", "final_if_earlier_wrong")
"""Measures: final states right in %, of the traces with all earlier ones right, and of the others."""
_CERTAINTY = ("intervals", "no_interval")
_NOTE = (
    "Odds ratio: Mantel–Haenszel over sizes. p: exact, over all permutations of the final states within each size, not"
    " adjusted for the number of rows. Both take the first repeat of a trace. With its own states as"
    " context an association may be errors that carry on;"
    " otherwise each step is asked on its own, and it says that some traces are hard throughout."
)
_HEADERS = (
    *(Header(title, name=True) for title in ("algorithm", "model", "setting", "context")),
    Header("traces"),
    Header("final % | all earlier right", optional=2),
    Header("final % | some wrong", optional=2),
    Header("odds ratio", optional=1),
    Header("p"),
)


def relations(groups: Mapping[str, Sequence[ReportRow]]) -> dict[str, list[ReportRow]]:
    """Rows of the group "relation": by algorithm, with sizes as strata, and by algorithm and size."""
    by_size: dict[tuple[str, str, str], list[ReportRow]] = {}
    for row in groups.get("case", ()):
        if all(row[name] is not None for name in CELLS):
            by_size.setdefault((row["case"].split()[0], row["model"], row["setting"]), []).append(row)
    pooled = {(row["algorithm"], row["model"], row["setting"]): row for row in groups.get("algorithm", ())}
    rows = [_relation(pooled[key], key[0], strata) for key, strata in by_size.items()]
    rows += [_relation(row, row["case"], [row]) for strata in by_size.values() for row in strata]
    return {RELATION: rows} if rows else {}


def _relation(row: ReportRow, group: str, strata: Sequence[ReportRow]) -> ReportRow:
    tables = [Fourfold(*(stratum[name] for name in CELLS)) for stratum in strata]
    ratio = mantel_haenszel(tables)
    intervals, reasons = ({n: row[part][n] for n in GIVEN_EARLIER if n in row[part]} for part in _CERTAINTY)
    return {
        "model": row["model"],
        "setting": row["setting"],
        RELATION: group,
        "context": _context(row),
        "strata": len(tables),
        **{name: sum(stratum[name] for stratum in strata) for name in CELLS},
        **{name: row[name] for name in GIVEN_EARLIER},
        "odds_ratio": ratio and round(ratio.value, 6),
        "p_value": exact_p_value(tables),
        "no_interval": reasons,
        "intervals": intervals | ({"odds_ratio": [round(ratio.low, 6), round(ratio.high, 6)]} if ratio else {}),
    }


def _context(row: ReportRow) -> str:
    """What stands before the question for a state."""
    if row["dialogues"]:
        return "its own states"
    return "correct states" if row["setting"] in STEPWISE else "no states"


def relation_tables(groups: Mapping[str, Sequence[ReportRow]]) -> Iterator[TextTable]:
    """One row per algorithm, model and setting."""
    rows = [row for row in groups.get(RELATION, ()) if " " not in row[RELATION]]
    if rows:
        cells = tuple(tuple(_cells(row)) for row in rows)
        yield TextTable("Is the final state right where the earlier ones are?", _HEADERS, cells, _NOTE)


def _cells(row: ReportRow) -> Iterator[Cell]:
    for name in (RELATION, "model", "setting", "context"):
        yield Cell(visible(row[name]))
    yield Cell(integer(sum(row[name] for name in CELLS)))
    yield _share(row, "final_if_earlier_right", row["both_right"] + row["earlier_only_right"])
    yield _share(row, "final_if_earlier_wrong", row["final_only_right"] + row["none_right"])
    yield Cell(_known(row["odds_ratio"], two_decimals), interval_text(row, "odds_ratio", two_decimals))
    yield Cell(_known(row["p_value"], p_value))


def _share(row: ReportRow, name: str, traces: int) -> Cell:
    return Cell(f"{_known(row[name], one_decimal)} of {traces}", interval_text(row, name, one_decimal))


def _known(value: Any, form: Any) -> str:
    return UNKNOWN if value is None else form(value)
