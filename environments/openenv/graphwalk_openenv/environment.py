"""One episode at a time over the tasks of an experiment; all environments of a process share its graphs."""

import os
from collections.abc import Mapping
from functools import cache
from typing import Any
from uuid import uuid4

from fastmcp import FastMCP
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.types import Action, Observation, State

from graphwalk.environments.stage import LOOP_OF_ANOTHER, OpenEpisode, Stage, shared_stage, tool_function
from graphwalk.runs.playing.background import run_in_background
from graphwalk.types.chat import ToolSpec

EXPERIMENT = "GRAPHWALK_EXPERIMENT"
"""The environment variable that names the experiment of a server."""
_ANSWER = ToolSpec(
    "answer",
    "Gives the final answer, in the form that the question asks for, and ends the episode.",
    {"properties": {"answer": {"type": "string", "description": "The answer."}}, "required": ["answer"]},
)


@cache
def opened_stage(experiment: str) -> Stage:
    """The tasks of an experiment, which have the same tools. `experiment`: a name, a path, or its fields as JSON."""
    stage = shared_stage(experiment, LOOP_OF_ANOTHER)
    run_in_background(stage.check_tools())
    return stage


class GraphwalkEnvironment(MCPEnvironment):
    """`reset(task=…)` gives the prompt; tools are called by OpenEnv's own actions.

    A call earns the reward of its step, `answer` that of the episode.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, experiment: str | None = None) -> None:
        self._stage = opened_stage(experiment or os.environ.get(EXPERIMENT, "quickstart"))
        self._state = State(episode_id=str(uuid4()), step_count=0)
        self._episode = run_in_background(self._stage.begin(0, listed_once=True))
        tools = self._episode.tools
        server: Any = FastMCP("graphwalk")
        for spec in {spec.name: spec for spec in (*tools, _ANSWER, *tools)}.values():  # a typed answer replaces ours
            function = tool_function(spec, self._call, whole_schemas=True)
            server.tool(function, name=spec.name, description=spec.description)
        super().__init__(server)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, task: int | None = None, **kwargs: Any
    ) -> Observation:
        """Begin the task with a number, else the one of the seed. The prompt is in `metadata`."""
        number = (seed or 0) % len(self._stage) if task is None else task
        self._episode = run_in_background(self._stage.begin(number, listed_once=True))
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        messages = [message.as_openai() for message in self._episode.prompt]
        return Observation(
            done=False, reward=0.0, metadata={"messages": messages, "task_id": self._episode.task.task_id}
        )

    def step(self, action: Action, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        before = self._count()
        return self._with_reward(super().step(action, timeout_s=timeout_s, **kwargs), before)

    async def step_async(self, action: Action, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        before = self._count()
        return self._with_reward(await super().step_async(action, timeout_s=timeout_s, **kwargs), before)

    def _count(self) -> int:
        """Count a step, and return the number of turns before it."""
        self._state.step_count += 1
        return len(self._episode.turns)

    @property
    def state(self) -> State:
        return self._state

    @property
    def episode(self) -> OpenEpisode:
        return self._episode

    def _step_impl(self, action: Action, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        """Actions that are no calls have no meaning here."""
        return Observation(done=False, reward=0.0, metadata={"error": "call a tool, or `answer`"})

    def _call(self, name: str, arguments: Mapping[str, Any]) -> str:
        if self._episode.ended:
            return "The answer was given already."
        if name == _ANSWER.name and name in arguments:  # `agent.answer: tool` takes rows
            return self._episode.reply(str(arguments["answer"])) or "The answer is noted."
        (result,) = run_in_background(self._episode.call((name, arguments)))
        return result.content

    def _with_reward(self, observation: Observation, before: int) -> Observation:
        """Add the reward: of the step; at the end that of the episode."""
        episode = self._episode
        reward = 0.0 if episode.ended else sum(episode.step_rewards[before:])
        if episode.earned is not None:
            reward = episode.earned.total
        return observation.model_copy(update={"done": episode.ended, "reward": reward})
