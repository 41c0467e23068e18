"""The tasks of an experiment as rows of NeMo Gym, and responses as episodes. Nothing here imports NeMo Gym."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any

from graphwalk.environments.stage import LOOP_OF_ANOTHER, OpenEpisode, Stage
from graphwalk.errors import ConfigError
from graphwalk.training.potentials import potentials, step_rewards
from graphwalk.types.chat import Message

AGENT = "graphwalk_simple_agent"
"""The agent of `environments/graphwalk/config.yaml`."""
FIXTURE = {
    "name": "fixture",
    "suite": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]},
    "settings": ["tools"],
}
"""The experiment of the verifier fixture: one question, which one call answers."""


class Tasks:
    """The tasks of an experiment (a name, a path or fields), opened at the first use.

    `weights` are those of the reward; `price` is subtracted from the reward of a step per refused or repeated call.
    """

    def __init__(self, experiment: Any, weights: Mapping[str, float] | None = None, price: float = 0.0) -> None:
        self._experiment, self._weights, self._price = experiment, weights, price
        self._opening: asyncio.Task[Stage] | None = None

    async def stage(self) -> Stage:
        if self._opening is None:
            # Requests do not show which calls are of one turn: `max_steps` of the agent limits turns, not this server.
            unlimited = {"agent.turn_limit": 1_000_000}
            lacks = (*LOOP_OF_ANOTHER, "nudges")
            opening = Stage.open(self._experiment, weights=self._weights, lacks=lacks, **unlimited)
            self._opening = asyncio.ensure_future(opening)
        return await asyncio.shield(self._opening)

    async def close(self) -> None:
        if self._opening is not None:
            await (await self._opening).close()

    async def begin(self, task: str, setting: str) -> OpenEpisode:
        """Start an episode of the task with this id. Raise ConfigError if the experiment has none."""
        stage = await self.stage()
        for number, planned in enumerate(stage.planned):
            if (planned.key.task_id, planned.key.setting) == (task, setting):
                return await stage.begin(number, listed_once=True)
        raise ConfigError(
            f"no task {task} with the setting {setting} in the experiment {stage.experiment.config.name}",
            hint="write the rows with the experiment of the server",
        )

    async def rows(self) -> AsyncIterator[dict[str, Any]]:
        """Yield a row per task and setting. Raise ConfigError for a task that asks more than one question."""
        stage = await self.stage()
        for number in range(len(stage)):
            episode = await stage.begin(number, listed_once=True)
            if episode.start.next_user(1) is not None:
                raise ConfigError(f"{episode.task.task_id} is a dialogue, and this agent ends with the first reply")
            yield {
                "responses_create_params": {
                    "input": [item for message in episode.prompt for item in items_of(message)],
                    "tools": [
                        {"type": "function", "strict": False, **spec.as_openai()["function"]} for spec in episode.tools
                    ],
                },
                "task": episode.task.task_id,
                "setting": episode.planned.key.setting,
                "agent_ref": {"type": "responses_api_agents", "name": AGENT},
            }

    async def verify(self, task: str, setting: str, output: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Return reward, its parts and `step_rewards` of a response, from the calls and texts in its output.

        The calls are made once more on the graph, so that an invented result proves nothing. `step_rewards` has one
        value per call and one for the answer, or is None for a task without potential.
        """
        episode = await self.begin(task, setting)
        refused = await replay(episode, output)
        if episode.earned is None:
            raise ConfigError(f"{task} has no reward: it asks more than one question")
        parts = {("reward" if name == "total" else name): value for name, value in vars(episode.earned).items()}
        values = potentials(episode.task, episode.trajectory)
        if values is None:
            return {**parts, "step_rewards": None}
        steps = step_rewards(values, episode.trajectory, price=self._price)
        return {**parts, "step_rewards": [*steps, *[0.0] * refused]}


async def call_tool(episode: OpenEpisode, name: str, arguments: str) -> str:
    """Return what a model reads after a call; each call is a turn, and none is made after the end."""
    if episode.ended:
        return "The answer was given already."
    if not episode.tools:
        return "This task has no tools."
    (result,) = await episode.call((name, arguments))
    return result.content


async def replay(episode: OpenEpisode, output: Iterable[Mapping[str, Any]]) -> int:
    """Play a response; the text after its last call is the reply. Return the number of calls after the end."""
    text, calls = "", 0
    for item in output:
        if item["type"] == "function_call":
            await call_tool(episode, item["name"], item["arguments"])
            text, calls = "", calls + 1
        elif item["type"] == "message":
            text += "".join(part.get("text") or "" for part in item["content"])
    refused = calls - len(episode.turns)
    if not episode.ended:
        episode.reply(text)
    return refused


def items_of(message: Message) -> Iterator[dict[str, Any]]:
    """Yield the items of the Responses API for a message; demonstrations have calls and results."""
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content or ""}
        return
    if message.content:
        yield {"type": "message", "role": message.role, "content": message.content}
    for call in message.tool_calls:
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
