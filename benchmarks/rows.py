"""Data by the million: rows a second of processor time, of one process. As many processes make as many times more."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measure import Row
from graphwalk.bulk import Rows, write_rows
from graphwalk.experiments.loading import load_experiment
from graphwalk.graphs.generate import GraphSpec
from graphwalk.graphs.rows import graph_rows
from graphwalk.suites.magma.commands import magma_rows
from graphwalk.suites.magma.config import MagmaSpec
from graphwalk.suites.mazes.commands import maze_rows
from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.training.traces import TraceOptions, trace_rows

KINDS: dict[str, Callable[[bool], Rows]] = {
    "mazes of 10 × 10": lambda quick: maze_rows(MazeSpec(), 0, 100 if quick else 3000),
    "MAGMA, breadth-first, 20 nodes": lambda quick: magma_rows(
        [MagmaSpec(algorithm="bfs", nodes=20, count=50 if quick else 2000, split="train")], 0
    ),
    "graphs paper-100": lambda quick: graph_rows(GraphSpec(preset="paper-100"), 0, 0, 5 if quick else 400),
    "chats of quickstart": lambda quick: trace_rows(
        load_experiment("quickstart", flags={"models": ["scripted/expert"]}, graphs=1 if quick else 16),
        TraceOptions(correct=True),
    ),
}


def measure(quick: bool) -> Iterator[Row]:
    """Every kind as JSON Lines and as Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in KINDS.items():
            for ending in ("jsonl", "parquet"):
                begun = time.process_time()
                written = write_rows(rows(quick), Path(folder) / f"rows.{ending}", 1)
                seconds = time.process_time() - begun
                yield Row(f"{name}, {ending}", "rows/s", [written.rows / seconds])
