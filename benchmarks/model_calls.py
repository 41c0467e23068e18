"""Model calls through the real runner, against the ideal and against a bare client that sends the same requests.

64 episodes in flight; the server answers every call after 200 ms. The runner keeps its run folder, its cache and its
log, walks its LangGraph loop and executes a tool call each turn. The bare client sends the requests that the runner's
log holds, episode by episode, and does nothing with the replies. Both look for cycles of objects as seldom as the
command does.
"""

import asyncio
import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import Row
from benchmarks.walking_server import walking_server
from graphwalk.agent.conversation import Conversation
from graphwalk.cli.app import OBJECTS_BETWEEN_COLLECTIONS
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.runs.experiment import AnyExperiment, load_experiment
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.play import start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.record import Result
from graphwalk.runs.resolve import resolve
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.variables import Variables

IN_FLIGHT = 64
DELAY = 0.2
"""Seconds that the server takes to answer."""
TASKS = 8
SEED = 7
TOOL_TURNS = 4
"""Calls of an episode: these, and the answer."""
Bodies = list[dict[str, Any]]
"""The requests of one episode, in order."""


@dataclass(frozen=True)
class Usage:
    """The time of all calls together: seconds from the first to the last, and processor seconds of this process."""

    wall: float
    cpu: float


class Stopwatch(Progress):
    """Counts from the start of the first episode to the end of the last, without the planning before them."""

    def started(self, episodes: int, done: int) -> None:
        self._left = episodes - done
        gc.collect()
        self._begun = _clocks()

    def finished(self, result: Result) -> None:
        self._left -= 1
        if not self._left:  # the processor's clock is slow to read
            self.usage = _since(self._begun)


def measure(quick: bool) -> Iterator[Row]:
    """Rows for throughput and for processor time per call."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    rounds, repetitions = (1, 1) if quick else (16, 3)
    calls = IN_FLIGHT * rounds * (TOOL_TURNS + 1)
    ours, bare = asyncio.run(_both(rounds, repetitions))
    ideal = [IN_FLIGHT / DELAY] * repetitions
    name = f"{IN_FLIGHT} episodes in flight, {calls} calls of {DELAY:g} s"
    yield Row(f"{name}: the runner, ÷ ideal", "calls/s", _per_second(ours, calls), ideal, 0.8, "at least")
    yield Row(f"{name}: a bare client, ÷ ideal", "calls/s", _per_second(bare, calls), ideal)
    per_call = [[usage.cpu / calls * 1e3 for usage in usages] for usages in (ours, bare)]
    yield Row("processor time of a call and all around it, ÷ bare client", "ms", per_call[0], per_call[1])


async def _both(rounds: int, repetitions: int) -> tuple[list[Usage], list[Usage]]:
    graph = generate_graph(GraphSpec(preset="paper-100"), SEED, 0)
    with TemporaryDirectory() as folder, walking_server(each_tool(graph), turns=TOOL_TURNS, delay=DELAY) as url:
        first = Path(folder) / "warm-up"
        await run(first, url, rounds=1)
        bodies = await recorded_bodies(first, graph)
        ours, bare = [], []
        for number in range(repetitions):
            ours.append(await run(Path(folder) / str(number), url, rounds))
            bare.append(await send_bare(bodies * rounds, url))
    return ours, bare


def each_tool(graph: PropertyGraph) -> list[tuple[str, dict[str, Any]]]:
    """One call of each tool."""
    table = graph.node_tables[0]
    name = next(iter(table.columns))
    key = graph.keys[int(table.numbers[0])]
    of_label = {"label": table.label}
    values = {"property_name": name, "entity_name": table.label, "entity_type": "node"}
    return [
        ("get_unique_property_values", values),
        ("get_node_by_property", {**of_label, "property_name": name, "property_value": table.columns[name].pool[0]}),
        ("think", {"thought": "The next step is to look at the neighbors of one of these nodes."}),
        ("get_all_nearest_neighbors", {**of_label, "property_name": "key", "property_value": key}),
    ]


async def run(folder: Path, url: str, rounds: int) -> Usage:
    """Play `rounds` × 64 episodes through the runner."""
    watch, episodes = Stopwatch(), IN_FLIGHT * rounds
    variables = Variables({"BENCH_BASE_URL": url, "BENCH_API_KEY": "no-secret"})
    resolved = resolve(experiment(episodes), variables)
    summary = await start_run(resolved, NewRun.make("bench", folder), watch)
    assert summary.finished == summary.episodes == episodes
    return watch.usage


def experiment(episodes: int) -> AnyExperiment:
    flags = {
        "suite.graphs.*.count": 1,
        "limit": TASKS,
        "repeats": episodes // TASKS,
        "models": ["openai-api/bench/walker"],
        "limits.max_concurrency": IN_FLIGHT,
        "seed": SEED,
    }
    return load_experiment("quickstart", flags=flags)


async def recorded_bodies(folder: Path, graph: PropertyGraph) -> list[Bodies]:
    """Rebuild the runner's requests from its log: one list of requests for every episode."""
    store = await EmbeddedDatabase().load(graph)
    config = experiment(IN_FLIGHT)
    tools = [spec.as_openai() for spec in GraphToolbox(store, await store.schema(), agent=config.agent).specs]
    episodes = []
    for record in RunFolder.open(folder).records():
        trajectory = Result.from_dict(record).trajectory
        before_turns = [
            Conversation.before_turn(number, trajectory, config.agent) for number in range(len(trajectory.turns))
        ]
        episodes.append(
            [
                {
                    "model": "walker",
                    "messages": [message.as_openai() for message in conversation.messages],
                    "tools": tools,
                    "parallel_tool_calls": True,
                }
                for conversation in before_turns
            ]
        )
    return episodes


async def send_bare(episodes: Sequence[Bodies], url: str) -> Usage:
    """Post all requests by OpenAI's own client, 64 episodes at a time, and read the JSON of each reply."""
    import openai

    pending = iter(episodes)
    http = openai.DefaultAioHttpClient()
    async with openai.AsyncOpenAI(api_key="no-secret", base_url=url, max_retries=0, http_client=http) as client:

        async def work_off() -> None:
            for bodies in pending:
                for body in bodies:
                    await client.post("/chat/completions", body=body, cast_to=object)

        gc.collect()
        begun = _clocks()
        async with asyncio.TaskGroup() as group:
            for _ in range(IN_FLIGHT):
                group.create_task(work_off())
        return _since(begun)


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(begun: tuple[float, float]) -> Usage:
    wall, cpu = (now - then for now, then in zip(_clocks(), begun, strict=True))
    return Usage(wall, cpu)


def _per_second(usages: Sequence[Usage], calls: int) -> list[float]:
    return [calls / usage.wall for usage in usages]
