"""Print the digests of what fixed seeds give in this process, as JSON: of one graph, and of each run of `tests.test_golden`.

python -m tests.run_digests WORKERS

A test starts this in several processes, and compares what they print.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from graphwalk.graphs.generate import GraphSpec, generate_graph
from tests.test_golden import RUNS, digests, play


async def run_digests(folder: Path, workers: int) -> dict[str, object]:
    """Play the runs in `folder`; return {"graph": digest, "quickstart": {"tasks": digest, …}, …}."""
    graph = generate_graph(GraphSpec(preset="paper-100"), 7)
    by_name: dict[str, object] = {"graph": graph.digest}
    for name in RUNS:
        run = await play(name, folder / name, workers)
        by_name[name] = digests(run.records())
    return by_name


def main() -> None:
    workers = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        by_name = asyncio.run(run_digests(Path(folder), workers))
    print(json.dumps(by_name, sort_keys=True))


if __name__ == "__main__":
    main()
