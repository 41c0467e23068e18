"""What withstands what, in figures: the long forms of the promises, measured and written into docs/reliability.md.

Each row is written into the page as soon as it is measured; those of other names stay as they are.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.markers import DOCS, markdown_table, write_between_markers
from benchmarks.reliability import databases, determinism, endurance, models, runs
from benchmarks.reliability.row import COLUMNS
from benchmarks.reliability.tested import Measure, by_tests

PAGE, MARK = DOCS / "reliability.md", "reliability"


class Promise(NamedTuple):
    title: str
    measure: Measure
    long: int
    quick: int


def _tested(title: str, *selection: str) -> Promise:
    return Promise(title, by_tests(*selection), long=2, quick=1)


PROMISES: Mapping[str, Promise] = {
    "kills": Promise("R01, R02 killed at any moment, resumes too", runs.kills, 20, 2),
    "points": Promise("R01, R02 killed at named points of writing, resumes too", runs.named_points, 120, 1),
    "damage": Promise("R03 a bit of the log flipped, its tail cut", runs.damage, 2000, 50),
    "foreign-lines": Promise("R03 lines of another run in the log", runs.foreign_lines, 100, 1),
    "vanished": Promise("R04 folder or file removed, moved, replaced", runs.vanished, 20, 2),
    "signals": Promise("R05 SIGINT, SIGTERM at any moment", runs.signals, 20, 1),
    "two-processes": Promise("R06 two processes on one folder", runs.two_processes, 10, 1),
    "paid": _tested("R08 replies already paid for", "tests/runs", "-k", "paid or resume"),
    "drift": _tested("R09 conditions changed before a resume", "tests/runs", "-k", "changed or refused"),
    "misbehaviour": Promise("R11 servers and models that misbehave", models.misbehaviour, 3, 1),
    "storms": Promise("R12 storms of failing requests", models.storms, 200, 20),
    "hanging": Promise("R14 servers that hang, drip, never end", models.hanging, 10, 1),
    "runaway": _tested("R15 models that call for ever", "tests/agent", "-k", "limit"),
    "budgets": Promise("R16 budget with 64 in flight", models.budgets, 5, 1),
    "overflow": _tested("R17 contexts that are too small", "tests/models", "-k", "overflow"),
    "hostile-text": Promise("R18 hostile text logged and read back", models.hostile_answers, 300, 3),
    "determinism": Promise("R20 same seed in other processes", determinism.processes, 5, 2),
    "injection": _tested("R21, R22 hostile arguments, READ mode of each tool", "tests/safety"),
    "expensive": Promise("R23 queries without an end", databases.expensive, 50, 1),
    "restarts": Promise("R24 Neo4j killed in a run", databases.restarts, 20, 1),
    "cut-runs": Promise("R24 connections cut in a run", databases.cut_runs, 5, 1),
    "loads": Promise("R25 loads killed, cut, made twice beside foreign data", databases.loads, 10, 1),
    "versions": _tested(
        "R26 the same rows on both releases",
        "tests/tools/test_same_on_neo4j.py",
        "tests/stores/neo4j",
        "-k",
        "same or deprecation",
    ),
    "oracle": _tested(
        "R27 Cypher and evaluator agree",
        "tests/suites/questions",
        "-k",
        "oracles or agreement or any_graphs or evaluators or graph_index or test_rows",
    ),
    "secrets": _tested("R29 planted keys and passwords", "tests/test_sanitise.py", "tests/integration/test_secrets.py"),
    "inert": _tested(
        "R31 hostile text in reports, pages, exports",
        "tests/reports",
        "tests/serve/page",
        "tests/exports",
        "tests/runs",
        "tests/suites",
        "-k",
        "hostile",
    ),
    "network": _tested("R33 attempts to reach other machines", "tests/network", "tests/test_guard.py"),
    "endurance": Promise("R37 episodes in one process", endurance.episodes, 20_000, 120),
    "file-handles": Promise("R37 256 in flight, 256 files", endurance.file_handles, 2_000, 300),
    "large-log": Promise("R38 results in one log", endurance.large_log, 100_000, 500),
}
"""Name → what it is called, how it is tried, how often in the long form, how often to see that it works."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=__doc__)
    parser.add_argument("--only", action="append", choices=PROMISES, metavar="NAME", help=f"{', '.join(PROMISES)}")
    parser.add_argument("--quick", action="store_true", help="few tries, printed and not written into the page")
    parser.add_argument("--tries", type=int, metavar="N", help="so many instead, printed and not written into the page")
    options = parser.parse_args()
    for name in options.only or PROMISES:
        promise = PROMISES[name]
        row = measured(name, options.tries or (promise.quick if options.quick else promise.long))
        print(" | ".join([promise.title, *row]), flush=True)
        if not (options.quick or options.tries):
            write_row(name, row)


def measured(name: str, tries: int) -> list[str]:
    """Try one promise so often; the cells of its row behind the title."""
    promise, begun = PROMISES[name], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="graphwalk-reliability-") as folder:
        row = asyncio.run(promise.measure(Path(folder), tries))
    print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    return row.cells()


def write_row(name: str, row: list[str], page: Path = PAGE) -> None:
    """Put a row into the table of the page, in the place of the one that was there."""
    lines = page.read_text(encoding="utf-8").partition(f"<!-- {MARK}: begin -->")[2].partition("<!--")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines if line.startswith("| R")]
    rows = {title: rest for title, *rest in cells} | {PROMISES[name].title: row}
    kept = [[promise.title, *rows[promise.title]] for promise in PROMISES.values() if promise.title in rows]
    write_between_markers(page, MARK, markdown_table(COLUMNS, kept))


if __name__ == "__main__":
    main()
