"""How planning grows with the graph: processor time and memory of the twelve questions, as a table and a plot.

    python -m benchmarks.planning_growth [SIZE…]

Every graph is planned in a process of its own. Writes docs/planning.svg and the table in docs/reliability.md.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from math import log2
from statistics import median
from typing import NamedTuple

from benchmarks.markers import DOCS, markdown_table, write_between_markers
from benchmarks.planning import AIMS, seconds_of_planning
from graphwalk.reports.plot_files import page_svg
from graphwalk.reports.plots import Panel, Plot, Point, Series

SIZES = (100, 1_000, 10_000, 100_000)
GRAPHS, LARGE = 3, 1_000_000
"""Graphs of each size; one of the largest, which takes minutes."""


class Planned(NamedTuple):
    """Seconds of processor time, and the most memory that the process had, in GB."""

    seconds: float
    memory: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planning_growth", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--one", type=int, metavar="N", help="plan graph N of one size, and print what it took")
    options = parser.parse_args()
    if options.one is not None:
        seconds = seconds_of_planning(options.sizes[0], options.one)
        print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6]))
        return
    measured: dict[int, list[Planned]] = {}
    for nodes in options.sizes:
        measured[nodes] = [planned(nodes, number) for number in range(1 if nodes >= LARGE else GRAPHS)]
        print(nodes, measured[nodes], f"load {os.getloadavg()[0]:.1f}", flush=True)
    middle = {nodes: median(one.seconds for one in each) for nodes, each in measured.items()}
    write_between_markers(DOCS / "reliability.md", "planning", table(measured))
    (DOCS / "planning.svg").write_text(page_svg(figure(middle)), encoding="utf-8")


def planned(nodes: int, number: int) -> Planned:
    words = [sys.executable, "-m", "benchmarks.planning_growth", str(nodes), "--one", str(number)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return Planned(*json.loads(done.stdout))


def table(measured: dict[int, list[Planned]]) -> str:
    lines = []
    for nodes, each in measured.items():
        seconds = [one.seconds for one in each]
        spread = f"{min(seconds):.3g}–{max(seconds):.3g} s" if len(each) > 1 else ""
        aim = f"≤ {AIMS[nodes]:g} s" if nodes in AIMS else ""
        growth = f"{median(seconds) / (nodes * log2(nodes)) * 1e6:.1f} µs"
        cells = [f"{median(seconds):.3g} s", spread, aim, growth, f"{max(one.memory for one in each):.3g} GB"]
        lines.append([f"{nodes:,}, {5 * nodes:,}", *cells])
    return markdown_table(["nodes, relationships", "processor time", "spread", "aim", "÷ n log₂ n", "memory"], lines)


def figure(seconds: dict[int, float]) -> Plot:
    """Measured times, and n log n through that of the largest graph."""
    largest = max(seconds)
    each = seconds[largest] / (largest * log2(largest))
    return Plot(
        "planning",
        "Planning twelve questions about a graph",
        "lines",
        (Panel((_line("measured", seconds), _line("n log n", {n: each * n * log2(n) for n in seconds}))),),
        x="nodes; five times as many relationships",
        y="seconds of processor time",
        logarithmic=True,
    )


def _line(name: str, values: dict[int, float]) -> Series:
    points: Sequence[Point] = [Point(nodes, value) for nodes, value in sorted(values.items())]
    return Series(name, tuple(points))


if __name__ == "__main__":
    main()
