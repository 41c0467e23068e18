"""The tasks of an experiment as a taskset: its tools as an MCP server, its rewards from the calls and the answer."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from mcp.types import CallToolResult, TextContent, Tool

from graphwalk.background import await_in_background, run_in_background
from graphwalk.models.chat import Message
from graphwalk.training.environment import LOOP_OF_ANOTHER, OpenEpisode, TaskEnvironment, shared_stage

_LACKS = (*LOOP_OF_ANOTHER, "nudges")
_MOST_EPISODES = 4096
"""Largest number of episodes at once in the server of the tools."""


class GraphwalkConfig(vf.TasksetConfig):
    experiment: str = "quickstart"
    """The name or the path of an experiment; its models do not matter."""
    setting: str | None = None
    """One of its settings; None: all of them."""


class GraphwalkData(vf.TaskData):
    experiment: str
    setting: str
    task: dict[str, Any]
    """The record of the task, its target among them."""


class GraphwalkState(vf.State):
    """The rollout and its task, for the server of the tools."""

    rollout: str = ""
    task_id: str = ""
    setting: str = ""


class GraphwalkToolsConfig(vf.SharedToolsetConfig):
    experiment: str = "quickstart"


class GraphwalkTools(vf.Toolset[GraphwalkToolsConfig, GraphwalkState]):
    """The tools of all episodes, under their own names: one server, in which each graph is loaded once."""

    TOOL_PREFIX = None

    async def setup(self) -> None:
        self._stage = await asyncio.to_thread(shared_stage, self.config.experiment, _LACKS)
        self._episodes: dict[str, OpenEpisode] = {}
        self._beginning = asyncio.Lock()

    def register(self, mcp: Any) -> None:
        """Replace the two methods of the server that depend on the rollout."""
        mcp.list_tools = self._with_state(self._list)
        mcp.call_tool = self._with_state(self._call)

    async def _list(self) -> list[Tool]:
        specs = (await self._episode()).tools
        return [Tool(name=one.name, description=one.description, input_schema=dict(one.parameters)) for one in specs]

    async def _call(self, name: str, arguments: dict[str, Any], context: Any = None) -> CallToolResult:
        episode = await self._episode()
        (result,) = await await_in_background(episode.call((name, arguments)))
        return CallToolResult(content=[TextContent(type="text", text=result.content)])

    async def _episode(self) -> OpenEpisode:
        state = self.state
        async with self._beginning:
            if state.rollout not in self._episodes:
                if len(self._episodes) == _MOST_EPISODES:
                    del self._episodes[next(iter(self._episodes))]  # the oldest
                begun = self._stage.begin(self._stage.number_of(state.task_id, state.setting))
                self._episodes[state.rollout] = await await_in_background(begun)
            return self._episodes[state.rollout]


class GraphwalkTask(vf.Task[GraphwalkData, GraphwalkState, vf.TaskConfig]):
    """One question, maze or step."""

    async def setup(self, trace: Any) -> None:
        trace.state.rollout = trace.id
        trace.state.task_id, trace.state.setting = self.data.task["task_id"], self.data.setting

    async def validate(self, runtime: Any) -> bool:
        """The expert plays it, through the loop of a run: its answer must be right."""
        stage, number = await self._stage()
        _, earned = await await_in_background(stage.expert(number))
        return earned.exact == 1

    @vf.reward
    async def graphwalk(self, trace: Any) -> float:
        """The reward of the episode; its parts and the sum of the steps are metrics, the steps are in `info`."""
        episode = await self._replayed(trace)
        steps = episode.step_rewards
        trace.info["step_rewards"] = steps
        parts = {} if episode.earned is None else dict(vars(episode.earned))
        total = parts.pop("total", 0.0)
        trace.record_metrics({name: value for name, value in parts.items() if value is not None})
        trace.record_metric("steps", sum(steps))
        return total

    async def _replayed(self, trace: Any) -> OpenEpisode:
        """The calls of the trace made once more, since it has their texts alone; tools give the same again."""
        stage, number = await self._stage()
        episode = await await_in_background(stage.begin(number))
        for message in trace.assistant_messages:
            if episode.ended:  # `agent.answer: tool`; the loop asks for a text all the same
                break
            calls = [(call.name, call.arguments) for call in message.tool_calls or ()]
            if calls and episode.tools:
                await await_in_background(episode.call(*calls, said=_text(message.content)))
            else:
                episode.reply(_text(message.content) or "")
        return episode

    async def _stage(self) -> tuple[TaskEnvironment, int]:
        stage = await asyncio.to_thread(shared_stage, self.data.experiment, _LACKS)
        return stage, stage.number_of(self.data.task["task_id"], self.data.setting)


class GraphwalkTaskset(vf.Taskset[GraphwalkTask, GraphwalkConfig]):
    @classmethod
    def toolsets(cls, config: GraphwalkConfig) -> list[vf.Toolset]:
        return [GraphwalkTools(GraphwalkToolsConfig(experiment=config.experiment))]

    def load(self) -> Iterator[GraphwalkTask]:
        stage = shared_stage(self.config.experiment, _LACKS)
        for number, planned in enumerate(stage.planned):
            if self.config.setting in (None, str(planned.key.setting)):
                yield self._task(run_in_background(stage.begin(number)))

    def _task(self, episode: OpenEpisode) -> GraphwalkTask:
        key, system = episode.planned.key, [m for m in episode.prompt if m.role == "system"]
        messages = [_as_verifiers(m) for m in episode.prompt if m.role != "system"]
        data = GraphwalkData(
            name=f"{key.task_id}/{key.setting}",
            prompt=messages[0]["content"] if len(messages) == 1 else messages,
            system_prompt="\n\n".join(m.content or "" for m in system) or None,
            experiment=self.config.experiment,
            setting=str(key.setting),
            task=json.loads(episode.task.model_dump_json()),
        )
        return GraphwalkTask(data, self.config.task)


def _as_verifiers(message: Message) -> dict[str, Any]:
    """Return a message of the prompt."""
    return {**message.as_openai(), "content": message.content or ""}


def _text(content: Any) -> str | None:
    if isinstance(content, list):
        return "".join(str(getattr(part, "text", "")) for part in content)
    return content


if __name__ == "__main__":  # verifiers starts the tools of a task as `python -m` of this module
    GraphwalkTools.run()
