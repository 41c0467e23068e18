"""The tasks of an experiment as a taskset: its tools as an MCP server, its rewards from the calls and the answer."""

import asyncio
import json
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import verifiers.v1 as vf

from graphwalk.environments.stage import LOOP_OF_ANOTHER, OpenEpisode, Stage, tool_function
from graphwalk.runs.playing.background import run_in_background
from graphwalk.training.reward import Reward
from graphwalk.types.chat import Message

T = TypeVar("T")


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


class GraphwalkTools(vf.Toolset[vf.ToolsetConfig, vf.State]):
    """The tools of one episode, under their own names."""

    TOOL_PREFIX = None

    async def setup_task(self, task: GraphwalkData) -> None:
        self._episode = await _in_background(_begin(task))

    def register(self, mcp: Any) -> None:
        for spec in self._episode.tools:
            function = tool_function(spec, self._call, whole_schemas=True)
            mcp.add_tool(function, name=spec.name, description=spec.description)

    async def _call(self, name: str, arguments: dict[str, Any]) -> str:
        (result,) = await _in_background(self._episode.call((name, arguments)))
        return result.content


class GraphwalkTask(vf.Task[GraphwalkData, vf.State, vf.TaskConfig]):
    """One question, maze or step."""

    @classmethod
    def toolsets(cls, config: vf.TaskConfig) -> list[vf.Toolset]:
        return [GraphwalkTools(vf.ToolsetConfig())]

    async def validate(self, runtime: Any) -> bool:
        """The expert plays it, through the loop of a run: its answer must be right."""
        stage = await _in_background(_stage(self.data))
        earned = await _in_background(stage.expert(0))
        await _in_background(stage.close())
        return earned.exact == 1

    @vf.reward
    async def graphwalk(self, trace: Any) -> float:
        earned = await self._earned(trace)
        return 0.0 if earned is None else earned.total

    @vf.metric
    async def parts(self, trace: Any) -> dict[str, float]:
        earned = await self._earned(trace)
        parts = {} if earned is None else vars(earned)
        return {name: value for name, value in parts.items() if name != "total" and value is not None}

    async def _earned(self, trace: Any) -> Reward | None:
        """The calls of the trace made once more, since it has their texts alone; tools give the same again."""
        episode = await _in_background(_begin(self.data))
        for message in trace.assistant_messages:
            if episode.ended:  # `agent.answer: tool`; the loop asks for a text all the same
                break
            calls = [(call.name, call.arguments) for call in message.tool_calls or ()]
            if calls and episode.tools:
                await _in_background(episode.call(*calls, said=_text(message.content)))
            else:
                episode.reply(_text(message.content) or "")
        return episode.earned


class GraphwalkTaskset(vf.Taskset[GraphwalkTask, GraphwalkConfig]):
    def load(self) -> Iterator[GraphwalkTask]:
        stage = run_in_background(Stage.open(self.config.experiment, lacks=(*LOOP_OF_ANOTHER, "nudges")))
        for number, planned in enumerate(stage.planned):
            if self.config.setting in (None, planned.key.setting):
                yield self._task(run_in_background(stage.begin(number)))
        run_in_background(stage.close())

    def _task(self, episode: OpenEpisode) -> GraphwalkTask:
        key, system = episode.planned.key, [m for m in episode.prompt if m.role == "system"]
        messages = [_as_verifiers(m) for m in episode.prompt if m.role != "system"]
        data = GraphwalkData(
            name=f"{key.task_id}/{key.setting}",
            prompt=messages[0]["content"] if len(messages) == 1 else messages,
            system_prompt="\n\n".join(m.content or "" for m in system) or None,
            experiment=self.config.experiment,
            setting=key.setting,
            task=json.loads(episode.task.model_dump_json()),
        )
        return GraphwalkTask(data, self.config.task)


def _as_verifiers(message: Message) -> dict[str, Any]:
    """Return a message of the prompt; demonstrations (`agent.demonstrations`) have calls and results."""
    calls = [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in message.tool_calls]
    return {**message.as_openai(), "content": message.content or "", **({"tool_calls": calls} if calls else {})}


async def _stage(data: GraphwalkData) -> Stage:
    return await Stage.of_task(data.experiment, data.task, data.setting)


async def _begin(data: GraphwalkData) -> OpenEpisode:
    return await (await _stage(data)).begin(0, listed_once=True)


async def _in_background(work: Coroutine[Any, Any, T]) -> T:
    """Stores belong to GraphWalk's own loop, which a rollout's loop waits for without standing still."""
    return await asyncio.to_thread(run_in_background, work)


def _text(content: Any) -> str | None:
    if isinstance(content, list):
        return "".join(str(getattr(part, "text", "")) for part in content)
    return content


if __name__ == "__main__":  # verifiers starts the tools of a task as `python -m` of this module
    GraphwalkTools.run()
