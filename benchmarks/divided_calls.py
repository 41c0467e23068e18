"""256 episodes in flight in two processes: the shards of one run, as `graphwalk run … --shard 1/2` makes them.

    python -m benchmarks.divided_calls --url URL --folder FOLDER --shard 1/2 --rounds 4

is one of them. It says when its plan is made, waits for a line, and says when it began, ended, and the processor
seconds between.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Row
from benchmarks.model_calls import DELAY, SEED, TOOL_TURNS, Stopwatch, each_tool, run
from benchmarks.walking_server import walking_server
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.runs.shards import Shard

IN_FLIGHT = 256
PROCESSES = 2
DELAYS = (DELAY, 0.5, 1.0)
"""Seconds that the server takes to answer: as in `model_calls`, and as models do."""


class Together(Stopwatch):
    """Begins when all processes are ready to."""

    def started(self, episodes: int, done: int) -> None:
        print("ready", flush=True)
        sys.stdin.readline()
        self.at = time.perf_counter()
        super().started(episodes, done)


def measure(quick: bool) -> Iterator[Row]:
    """Rows for throughput and for processor time per call of both processes together, by the time of an answer."""
    for delay in DELAYS[: 1 if quick else None]:
        yield from _measured(delay, quick)


def _measured(delay: float, quick: bool) -> Iterator[Row]:
    rounds, repetitions = (1, 1) if quick else (4, 3)
    calls = IN_FLIGHT * rounds * (TOOL_TURNS + 1)
    graph = generate_graph(GraphSpec(preset="paper-100"), SEED, 0)
    seconds, busy = [], []
    with walking_server(each_tool(graph), turns=TOOL_TURNS, delay=delay) as url:
        for _ in range(repetitions):
            spans = _play(url, rounds)
            seconds.append(max(ended for _, ended, _ in spans) - min(begun for begun, _, _ in spans))
            busy.append(sum(cpu for _, _, cpu in spans))
    ideal = [IN_FLIGHT / delay] * repetitions
    name = f"{IN_FLIGHT} episodes in flight in {PROCESSES} processes, {calls} calls of {delay:g} s, ÷ ideal"
    yield Row(name, "calls/s", [calls / wall for wall in seconds], ideal, 0.9, "at least")
    yield Row("processor time of a call there", "ms", [cpu / calls * 1e3 for cpu in busy])


def _play(url: str, rounds: int) -> list[tuple[float, float, float]]:
    """Beginning, end (of one clock) and processor seconds of each process."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        shards = []
        for number in range(1, PROCESSES + 1):
            words = ["--url", url, "--folder", folder, "--shard", f"{number}/{PROCESSES}", "--rounds", str(rounds)]
            command = [sys.executable, "-m", "benchmarks.divided_calls", *words]
            shard = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            shards.append(stack.enter_context(shard))
        for shard in shards:
            assert shard.stdout is not None
            assert shard.stdout.readline() == "ready\n", "a process of the benchmark ended"
        for shard in shards:
            assert shard.stdin is not None
            shard.stdin.write("go\n")
            shard.stdin.flush()
        return [tuple(json.loads(shard.communicate()[0])) for shard in shards]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.divided_calls", description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--shard", required=True, type=Shard.parse)
    parser.add_argument("--rounds", required=True, type=int)
    given = parser.parse_args()
    begun, ended, cpu = asyncio.run(
        _shard(given.url, given.folder / str(given.shard.number), given.shard, given.rounds)
    )
    print(json.dumps([begun, ended, cpu]))


async def _shard(url: str, folder: Path, shard: Shard, rounds: int) -> tuple[float, float, float]:
    """The first run of a process imports what it needs."""
    await run(folder / "warm-up", url, rounds=1)
    watch = Together()
    usage = await run(folder / "shard", url, rounds, IN_FLIGHT, shard=shard, watch=watch)
    return watch.at, watch.at + usage.wall, usage.cpu


if __name__ == "__main__":
    main()
