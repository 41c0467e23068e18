"""Digests of what fixed seeds make in this process: digests of the graphs, tasks, prompts, transcripts and scores of small runs.

python -m tests.made_digests WORKERS
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from graphwalk.graphs.generate import GraphSpec, generate_graph
from tests.test_golden import RUNS, digests, play


async def made(folder: Path, workers: int) -> dict[str, object]:
    """By name of the run; `graph` is that of a graph alone."""
    found: dict[str, object] = {"graph": generate_graph(GraphSpec(preset="paper-100"), 7).digest}
    for name in RUNS:
        found[name] = digests((await play(name, folder / name, workers)).records())
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(asyncio.run(made(Path(scratch), int(sys.argv[1]))), sort_keys=True))
