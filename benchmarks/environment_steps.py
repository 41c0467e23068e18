"""Steps of environments: many episodes side by side in one process, against the bare tool calls that they make."""

import asyncio
import time
from collections.abc import Iterator

from benchmarks.measure import Row
from graphwalk.environments.stage import OpenEpisode, Stage
from graphwalk.types.chat import ToolCall

EXPERIMENT = {"name": "steps", "suite": {"name": "questions", "graphs": [{"preset": "paper-100"}]}, "seed": 7}
CALL = "get_all_nearest_neighbors"


def measure(quick: bool) -> Iterator[Row]:
    """Steps a second of all episodes together; what a step takes beside its bare tool call."""
    episodes, steps = (20, 5) if quick else (300, 20)
    ours, plain = asyncio.run(_seconds(episodes, steps, 1 if quick else 5))
    rates = [episodes * steps / seconds for seconds in ours]
    yield Row(f"environment steps a second, {episodes} episodes on one graph", "1/s", rates, aim=500, sense="at least")
    yield Row("environment step ÷ bare tool call", "s", ours, plain, aim=1.5)


async def _seconds(episodes: int, steps: int, repetitions: int) -> tuple[list[float], list[float]]:
    stage = await Stage.open(EXPERIMENT)
    store = stage.planned[0].graph.store
    assert store is not None
    (label, *_) = [node.label for node in (await store.schema()).nodes]
    keys = await stage.begin(0)
    named = {"property_name": "key", "entity_name": label, "entity_type": "node"}
    (listed,) = await keys.call(("get_unique_property_values", named))
    key = listed.content.split('"')[3]
    arguments = {"label": label, "property_name": "key", "property_value": key}
    ours, plain = [], []
    for _ in range(repetitions):
        begun = [await stage.begin(number % len(stage)) for number in range(episodes)]
        started = time.perf_counter()
        await asyncio.gather(*(_walked(episode, arguments, steps) for episode in begun))
        ours.append(time.perf_counter() - started)
        toolbox = begun[0].setup.toolbox
        assert toolbox is not None
        call = ToolCall("1", CALL, str(arguments).replace("'", '"'))
        started = time.perf_counter()
        for _ in range(episodes * steps):
            await toolbox.call(call)
        plain.append(time.perf_counter() - started)
    await stage.close()
    return ours, plain


async def _walked(episode: OpenEpisode, arguments: dict[str, str], steps: int) -> None:
    for _ in range(steps):
        await episode.call((CALL, arguments))
