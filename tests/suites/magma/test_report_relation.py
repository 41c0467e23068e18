"""Final states by the correctness of earlier ones, and free dialogues beside single steps."""

import asyncio

from graphwalk.reports.report import build_report
from graphwalk.reports.tables import text_tables
from graphwalk.suites.magma.suite import MagmaSuite
from tests.suites.magma.logged_runs import logged, results

DECLARED = MagmaSuite.presentation.report(MagmaSuite())
RIGHT, WRONG = [True, True, True], [False, True, False]
LATE, SPOILT = [True, True, False], [True, False, True]
TITLE = "Final state by correctness of earlier states"


def traces(n: int, *kinds: list[bool]) -> dict[str, list[bool]]:
    return {f"bfs {n} {number}": kind for number, kind in enumerate(kinds)}


def test_final_states_are_counted_by_the_earlier_ones() -> None:
    small, large = [RIGHT] * 4 + [LATE] + [SPOILT] + [WRONG] * 2, [RIGHT] * 3 + [LATE] * 2 + [WRONG] * 5
    report = build_report(logged(traces(5, *small) | traces(9, *large), setting="is"), DECLARED)
    (row,) = report.groups["algorithm"]
    assert (row["final_if_earlier_right"], row["final_if_earlier_wrong"]) == (70, 12.5)
    assert TITLE in [table.title for table in text_tables(report)]


def test_final_states_alone_have_no_such_table() -> None:
    final = [r for r in logged(traces(5, RIGHT), setting="io") if r["task"]["step"] == 3]
    assert TITLE not in [table.title for table in text_tables(build_report(final, DECLARED))]


def test_divergence_and_recovery_of_dialogues_by_algorithm_and_size() -> None:
    run = asyncio.run(results("expert", "hallucination", settings=("is",), free_running=True))
    report = build_report(run, DECLARED)
    free = next(table for table in text_tables(report) if table.title.startswith("Free running"))
    assert [header.title for header in free.headers][3:5] == ["Dialogues", "Diverged %"]
    rows = {tuple(cell.text for cell in row[:3]): [cell.text for cell in row[3:]] for row in free.rows}
    assert len(rows) == 2 * 2 * 2
    assert rows["mst_prim   8", "expert", "is"] == ["3", "0.0", "–", "–", "–", "–"]
    assert rows["mst_prim   8", "hallucination", "is"] == ["3", "100.0", "1.0", "12.5", "0.0", "0.0"]
