"""Compare episodes per second with inspect_ai: the same server, prompts, calls, tools and graph, in turns."""

import asyncio
import json
import os
import subprocess
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.markers import DOCS, caption, markdown_table, write_between_markers
from benchmarks.model_calls import DELAY, IN_FLIGHT, SEED, TOOL_TURNS, Usage, each_tool, recorded_bodies, run
from benchmarks.walking_server import walking_server
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.version import __version__

PYTHON = Path(".venv-peers/bin/python")
PRESET = "paper-100"
ROUNDS, TURNS = 4, 3
"""Episodes for each place in flight, and how often each is measured."""


def compare(python: Path = PYTHON, rounds: int = ROUNDS, turns: int = TURNS) -> str:
    """A table of all three, as Markdown: inspect_ai as it comes, and as its maintainers advise for large runs."""
    graph = generate_graph(GraphSpec(preset=PRESET), SEED, 0)
    calls = IN_FLIGHT * rounds * (TOOL_TURNS + 1)
    ours = list[Usage]()
    theirs: dict[bool, list[Usage]] = {True: [], False: []}
    """By whether inspect_ai writes its log for its live view, which is its default."""
    with TemporaryDirectory() as folder, walking_server(each_tool(graph), turns=TOOL_TURNS, delay=DELAY) as url:
        first = Path(folder) / "warm-up"
        asyncio.run(run(first, url, 1))
        body = asyncio.run(recorded_bodies(first, graph))[0][0]
        work = {"url": url, "episodes": IN_FLIGHT * rounds, "in_flight": IN_FLIGHT, "preset": PRESET, "seed": SEED}
        work |= {"messages": body["messages"], "tools": body["tools"]}
        for number in range(turns):
            ours.append(asyncio.run(run(Path(folder) / str(number), url, rounds)))
            for live, usages in theirs.items():
                used, version = _by_inspect(python, {**work, "log_realtime": live})
                usages.append(used)
    names = {True: f"inspect_ai {version}", False: f"inspect_ai {version}, `log_realtime=False`"}
    peers = [(names[live], usages) for live, usages in theirs.items()]
    rows = [[name, *_figures(usages, calls, ours)] for name, usages in ((f"graphwalk {__version__}", ours), *peers)]
    about = (
        f"{caption('make bench-peers')} "
        f"{IN_FLIGHT} episodes in flight, {calls:,} calls that take {DELAY:g} s each, {turns} times in turns, medians; "
        f"ideal: {IN_FLIGHT / DELAY:.0f} calls a second; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}."
    )
    columns = ["", "calls/s", "least to most", "÷ ideal", "processor time of a call", "our calls/s ÷ theirs"]
    return f"{about}\n\n{markdown_table(columns, rows)}"


def _by_inspect(python: Path, work: dict[str, object]) -> tuple[Usage, str]:
    command = [str(python), "-m", "benchmarks.inspect_calls"]
    done = subprocess.run(command, input=json.dumps(work), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    # A prompt, and for every turn a reply, each with one result but the last.
    expected = len(work["messages"]) + 2 * TOOL_TURNS + 1  # type: ignore[arg-type]
    assert (figures["right"], figures["messages"]) == (1.0, [expected]), figures
    return Usage(figures["wall"], figures["cpu"]), figures["version"]


def _figures(usages: list[Usage], calls: int, ours: list[Usage]) -> list[str]:
    rates = [calls / usage.wall for usage in usages]
    ahead = median(one.wall / own.wall for one, own in zip(usages, ours, strict=True))
    return [
        f"{median(rates):.0f}",
        f"{min(rates):.0f}–{max(rates):.0f}",
        f"{median(rates) * DELAY / IN_FLIGHT:.2f}",
        f"{median(usage.cpu for usage in usages) / calls * 1e3:.2f} ms",
        "" if usages is ours else f"{ahead:.1f}",
    ]


if __name__ == "__main__":
    write_between_markers(DOCS / "peers.md", "harness", compare())
