"""The relation between earlier and final states: which traces it counts, and free dialogues beside single steps."""

import asyncio
from typing import Any

import pytest

from graphwalk.reports.report import build_report
from graphwalk.reports.tables import text_tables
from graphwalk.suites.magma.matrices import Fourfold, exact_p_value
from graphwalk.suites.magma.suite import MagmaSuite
from tests.suites.magma.report.logged_runs import logged, results

DECLARED = MagmaSuite.presentation.report(MagmaSuite())
RIGHT, WRONG = [True, True, True], [False, True, False]
LATE, SPOILT = [True, True, False], [True, False, True]


def relation(run: list[dict[str, Any]], group: str = "bfs") -> dict[str, Any]:
    return next(row for row in build_report(run, DECLARED).groups["relation"] if row["relation"] == group)


def traces(n: int, *kinds: list[bool]) -> dict[str, list[bool]]:
    return {f"bfs {n} {number}": kind for number, kind in enumerate(kinds)}


def test_traces_are_counted_by_their_earlier_and_final_states() -> None:
    small, large = [RIGHT] * 4 + [LATE] + [SPOILT] + [WRONG] * 2, [RIGHT] * 3 + [LATE] * 2 + [WRONG] * 5
    run = logged(traces(5, *small) | traces(9, *large), setting="is")
    row = relation(run)
    assert (row["both_right"], row["earlier_only_right"]) == (7, 3)
    assert (row["final_only_right"], row["none_right"]) == (1, 7)
    assert (row["final_if_earlier_right"], row["final_if_earlier_wrong"]) == (70, 12.5)
    # Mantel and Haenszel by hand: (4·2/8 + 3·5/10) / (1·1/8 + 2·0/10).
    assert row["odds_ratio"] == 20
    assert row["intervals"]["odds_ratio"][0] < 20 < row["intervals"]["odds_ratio"][1]
    assert row["p_value"] == exact_p_value([Fourfold(4, 1, 1, 2), Fourfold(3, 2, 0, 5)])
    assert (row["strata"], row["context"]) == (2, "correct states")
    assert relation(run, "bfs   9")["both_right"] == 3
    assert relation(run, "bfs   9")["p_value"] == exact_p_value([Fourfold(3, 2, 0, 5)])


def test_traces_that_tell_nothing_are_left_out() -> None:
    """A single state has none before it; and of a step that failed nobody knows."""
    run = logged(traces(5, RIGHT, [True]), setting="is")
    assert relation(run)["both_right"] == 1
    run[0] |= {"score": None, "exit_status": "model_error"}
    assert all("relation" not in build_report(some, DECLARED).groups for some in (run, logged(traces(5, [True]))))


def test_repeats_are_no_more_traces() -> None:
    first = logged(traces(5, RIGHT, WRONG), setting="is")
    again = [{**result, "repeat": 1} for result in logged(traces(5, LATE, WRONG), setting="is")]
    row = relation(first + again)
    assert (row["both_right"], row["earlier_only_right"], row["none_right"]) == (1, 0, 1)
    assert row["final_if_earlier_right"] == 50


def test_final_states_alone_have_no_relation() -> None:
    final = [r for r in logged(traces(5, RIGHT), setting="io") if r["task"]["step"] == 3]
    assert "relation" not in build_report(final, DECLARED).groups


@pytest.mark.parametrize(
    ("settings", "way", "context"),
    [
        (("is",), {}, "correct states"),
        (("is",), {"free_running": True}, "its own states"),
        (("io",), {"io_steps": True}, "no states"),
    ],
)
def test_the_context_is_told(settings: tuple[str, ...], way: dict[str, Any], context: str) -> None:
    report = build_report(asyncio.run(results("expert", settings=settings, **way)), DECLARED)
    rows = report.groups["relation"]
    assert {row["context"] for row in rows} == {context}
    assert {row["final_if_earlier_right"] for row in rows} == {100}
    assert {row["odds_ratio"] for row in rows} == {row["p_value"] for row in rows} == {None}
    titles = [table.title for table in text_tables(report)]
    assert "Final state by correctness of earlier states" in titles
    assert ("Free running: divergence and recovery" in titles) == (context == "its own states")


def test_divergence_and_recovery_of_dialogues_by_algorithm_and_size() -> None:
    run = asyncio.run(results("expert", "flawed:hallucination", settings=("is",), free_running=True))
    report = build_report(run, DECLARED)
    free = next(table for table in text_tables(report) if table.title.startswith("Free running"))
    assert [header.title for header in free.headers][3:5] == ["Dialogues", "Diverged %"]
    rows = {tuple(cell.text for cell in row[:3]): [cell.text for cell in row[3:]] for row in free.rows}
    assert len(rows) == 2 * 2 * 2
    assert rows["mst_prim   8", "expert", "is"] == ["3", "0.0", "–", "–", "–", "–"]
    assert rows["mst_prim   8", "flawed:hallucination", "is"] == ["3", "100.0", "1.0", "12.5", "0.0", "0.0"]
