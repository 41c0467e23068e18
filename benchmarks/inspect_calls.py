"""The episodes of `benchmarks.model_calls`, played by inspect_ai: a program of its own, for an environment that has it.

    python -m benchmarks.inspect_calls < work.json

`work.json` holds `url`, `episodes`, `in_flight`, `preset`, `seed`, `log_realtime`, `messages` (one prompt) and `tools`,
both in the chat form. The tools are ours, over the same graph in the same engine; all else is inspect_ai's as it comes,
its log included. Without `log_realtime` it does not write its log a second time for its live view. Prints seconds from
the first episode's start to the last one's end, and processor seconds of this process.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any

import inspect_ai
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Target, accuracy, scorer
from inspect_ai.solver import Generate, TaskState, generate, solver, use_tools
from inspect_ai.tool import ToolDef, ToolParams

from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.models.chat import ToolCall
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import GraphToolbox

_clocks = dict[str, float]()
_lengths = set[int]()
"""Messages of the conversations."""


def _now(prefix: str) -> None:
    _clocks[f"{prefix}_wall"], _clocks[f"{prefix}_cpu"] = time.perf_counter(), time.process_time()


@solver  # type: ignore[untyped-decorator]
def _first() -> Any:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if not _clocks:
            _now("begun")
        return state

    return solve


@scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]
def _empty() -> Any:
    """Score whether the answer is the server's; note the time of the last score."""

    async def score(state: TaskState, target: Target) -> Score:
        _now("ended")
        _lengths.add(len(state.messages))
        return Score(value=int(state.output.completion == target.text))

    return score


def _call(toolbox: GraphToolbox, name: str) -> Callable[..., Awaitable[str]]:
    async def execute(**arguments: Any) -> str:
        return (await toolbox.call(ToolCall("", name, json.dumps(arguments)))).content

    return execute


def main() -> None:
    work = json.load(sys.stdin)
    os.environ |= {"BENCH_BASE_URL": work["url"], "BENCH_API_KEY": "no-secret"}
    graph = generate_graph(GraphSpec(preset=work["preset"]), work["seed"], 0)
    store = asyncio.run(EmbeddedDatabase().load(graph))
    toolbox = GraphToolbox(store, asyncio.run(store.schema()))
    functions = [tool["function"] for tool in work["tools"]]
    tools = [
        ToolDef(_call(toolbox, f["name"]), f["name"], f["description"], ToolParams(**f["parameters"])).as_tool()
        for f in functions
    ]
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    prompt = [kinds[message["role"]](content=message["content"]) for message in work["messages"]]
    samples = [Sample(input=prompt, target="[]", id=number) for number in range(work["episodes"])]
    task = Task(dataset=samples, solver=[_first(), use_tools(*tools), generate()], scorer=_empty())
    with tempfile.TemporaryDirectory() as folder:
        (log,) = inspect_ai.eval(
            task,
            model="openai-api/bench/walker",
            max_connections=work["in_flight"],
            max_samples=work["in_flight"],
            display="none",
            log_dir=folder,
            log_realtime=work["log_realtime"],
        )
    assert log.status == "success", log.error
    assert log.results is not None
    right = log.results.scores[0].metrics["accuracy"].value
    clocks = {name: _clocks[f"ended_{name}"] - _clocks[f"begun_{name}"] for name in ("wall", "cpu")}
    print(json.dumps({**clocks, "right": right, "messages": sorted(_lengths), "version": inspect_ai.__version__}))


if __name__ == "__main__":
    main()
