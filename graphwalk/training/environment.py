"""An episode as an environment: reset, step, reward."""

import asyncio
import atexit
import json
import secrets
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, call_tools, run_episode
from graphwalk.analysis.explained import explain_episode
from graphwalk.analysis.suite_analysis import analysis_of, with_reference
from graphwalk.background import run_in_background
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError, manual
from graphwalk.models.chat import Message, Reply, ToolCall, ToolSpec
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.plan import PlannedEpisode, graphs_of, make_plan
from graphwalk.runs.play import RunModels
from graphwalk.runs.record import judge
from graphwalk.runs.resolve import ResolvedExperiment, resolve
from graphwalk.stores.open import OpenGraphs
from graphwalk.suites.suite import Task
from graphwalk.training.reward import Reward, potentials, reward, step_rewards
from graphwalk.variables import read_variables

LOOP_OF_ANOTHER = ("tool_format", "tool_choice", "compaction")
"""Fields of `agent` that take effect in requests, which here another program sends."""


@dataclass
class TaskEnvironment:
    """The tasks of an experiment on their graphs. Close it at the end."""

    experiment: ResolvedExperiment
    planned: Sequence[PlannedEpisode]
    """One episode per task and setting."""
    weights: Mapping[str, float]
    _graphs: OpenGraphs
    _references: dict[str, Task] = field(default_factory=dict)
    """Task id → the task with the figures of the expert's walk."""

    @classmethod
    async def open(
        cls,
        experiment: Any,
        *,
        weights: Mapping[str, float] | None = None,
        graphs: int | None = None,
        lacks: Collection[str] = (),
        **flags: Any,
    ) -> "TaskEnvironment":
        """Open the tasks of an experiment (a name, path or fields). `flags` override fields; `weights` are those of
        rewards; `graphs` is the number of graphs, mazes or traces of each kind; `lacks` are the fields of `agent` that
        the loop of the harness does not have.

        Raise ConfigError for an invalid experiment or such a field, StoreError if the store cannot be reached.
        """
        # The model is called by the program that trains it. The models of the experiment need no keys here.
        config = load_experiment(experiment, flags={"models": ["scripted/expert"], **flags}, graphs=graphs)
        resolved = resolve(config, read_variables(), keys=False)
        for one in (resolved, *resolved.variants.values()):
            _check_levers(one.config.agent, lacks)
        opened = graphs_of(resolved, f"environment-{secrets.token_hex(4)}")
        try:
            plan = await make_plan(resolved, opened, lambda number: None)
        except BaseException:
            # Also for Ctrl-C: graphs in Neo4j would stay there.
            await opened.aclose()
            raise
        return cls(resolved, plan.episodes, weights or {}, opened)

    async def close(self) -> None:
        """Remove the loaded graphs."""
        await self._graphs.aclose()

    def __len__(self) -> int:
        return len(self.planned)

    def number_of(self, task_id: str, setting: str) -> int:
        """Return the number of a task in a setting. Raise ConfigError if the experiment has no such task."""
        number = self._numbers.get((task_id, setting))
        if number is None:
            name = self.experiment.config.name
            raise ConfigError(f"no task {task_id} in the setting {setting} of the experiment {name}")
        return number

    @cached_property
    def _numbers(self) -> Mapping[tuple[str, str], int]:
        return {(one.key.task_id, str(one.key.setting)): number for number, one in enumerate(self.planned)}

    async def begin(self, number: int) -> "OpenEpisode":
        """Start an episode of the task with this number."""
        planned = await self._with_reference(number)
        agent = self.experiment.of(planned.key.setting).config.agent
        return OpenEpisode(self, planned, Conversation(await planned.prompt(self.experiment), agent))

    async def _with_reference(self, number: int) -> PlannedEpisode:
        """Return an episode whose task has the expert's figures, which the reward needs."""
        planned = self.planned[number]
        # Training plays a task again and again; the expert walks it once.
        if planned.task.task_id not in self._references:
            analysis = analysis_of(self.experiment.suite)
            task = await with_reference(analysis, planned.task, planned.graph.about, self.experiment.config.agent)
            self._references[task.task_id] = task
        return replace(planned, task=self._references[planned.task.task_id])

    async def expert(self, number: int) -> tuple[Trajectory, Reward]:
        """Return the trajectory of the scripted expert, and its reward, which is 1 for a valid task."""
        planned = await self._with_reference(number)
        experiment = self.experiment.of(planned.key.setting)
        async with RunModels(self.experiment) as players, players.for_episode(planned) as (model, _):
            start = Conversation(await planned.prompt(experiment), experiment.config.agent)
            trajectory = await run_episode(Episode(start, model, experiment.options))
        earned = reward(planned.task, trajectory, setting=planned.key.setting.name, weights=self.weights)
        assert earned is not None
        return trajectory, earned


@cache
def _stage_of(experiment: str, lacks: tuple[str, ...]) -> TaskEnvironment:
    stage = run_in_background(TaskEnvironment.open(experiment, lacks=lacks))
    atexit.register(lambda: run_in_background(stage.close()))
    return stage


_OPENING = threading.Lock()


def shared_stage(experiment: str, lacks: tuple[str, ...] = ()) -> TaskEnvironment:
    """Return the tasks of an experiment, which are opened once in a process, and closed at its end.

    `experiment` is a name or a path. The stage belongs to the background loop of
    `run_in_background`. Raise like `TaskEnvironment.open`.
    """
    # Of two threads that ask at once, `cache` would let both open the tasks.
    with _OPENING:
        return _stage_of(experiment, lacks)


def _check_levers(agent: AgentConfig, lacks: Collection[str]) -> None:
    """Raise ConfigError for a field in `lacks` that is switched on."""
    for name in lacks:
        value = getattr(agent, name)
        default = AgentConfig.model_fields[name].default
        if value != default:
            raise ConfigError(
                f"agent.{name}: {value} needs the loop of a run; here another program calls the model",
                hint=f"-o agent.{name}={default}; {manual('training')} lists the levers of each program",
            )


@dataclass
class OpenEpisode:
    """An episode in progress, whose model another program calls."""

    stage: TaskEnvironment
    planned: PlannedEpisode
    conversation: Conversation
    earned: Reward | None = None
    """The reward after the end; None also after an infrastructure error."""
    _calling: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    """Calls made at the same time are turns one after the other."""

    @property
    def ended(self) -> bool:
        return self.conversation.over

    @property
    def exit_status(self) -> ExitStatus | None:
        return self.conversation.exit_status

    @property
    def turns(self) -> Sequence[Turn]:
        return self.conversation.turns

    @property
    def task(self) -> Task:
        return self.planned.task

    @property
    def agent(self) -> AgentConfig:
        """The agent of the experiment, or of its variant."""
        return self.conversation.config

    @property
    def prompt(self) -> tuple[Message, ...]:
        return self.conversation.prompt.messages

    @property
    def tools(self) -> Sequence[ToolSpec]:
        return self.conversation.tools

    @property
    def must_answer(self) -> bool:
        """True if a limit is reached: a run asks for the answer now, without tools."""
        return self.conversation.limit is not None

    async def call(self, *calls: tuple[str, Mapping[str, Any] | str], said: str | None = None) -> list[ToolResult]:
        """Execute one turn with tool calls (name, arguments), and return their results in order.

        Errors are results too. At a limit no tool is called: each result is the request for the answer.
        """
        toolbox = self.conversation.prompt.toolbox
        if toolbox is None:
            raise ConfigError("this episode has no tools", hint="settings: [tools]")
        async with self._calling:
            # Read only now: another turn may have been played while this one waited.
            tool_calls = self._numbered(calls)
            limit = self.conversation.limit
            if limit is not None:
                now = self.conversation.answer_now.content or ""
                return [ToolResult(call, now, error=limit.value) for call in tool_calls]
            asked = self.conversation.replied(Reply(Message("assistant", said, tool_calls)))
            results = await call_tools(toolbox, asked.calls, self.agent)
            self._take(asked.returned(results))
            return list(self.turns[-1].results)

    def _numbered(self, calls: Sequence[tuple[str, Mapping[str, Any] | str]]) -> tuple[ToolCall, ...]:
        """Return the calls with ids that no earlier call of the episode has: call_1, call_2, …"""
        numbered = []
        for number, (name, arguments) in enumerate(calls, 1 + len(self.trajectory.results)):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            numbered.append(ToolCall(f"call_{number}", name, text))
        return tuple(numbered)

    def reply(self, text: str) -> str | None:
        """Process a reply without calls. Return the next user message, or None at the end of the episode."""
        self._take(self.conversation.replied(Reply(Message("assistant", text))))
        return self.turns[-1].next_user

    def _take(self, conversation: Conversation) -> None:
        self.conversation = conversation
        if conversation.over:
            setting = self.planned.key.setting.name
            self.earned = reward(self.task, self.trajectory, setting=setting, weights=self.stage.weights)

    @property
    def trajectory(self) -> Trajectory:
        return self.conversation.trajectory

    @property
    def step_rewards(self) -> list[float]:
        """Return the reward of each turn so far: Φ(after) − Φ(before), or 0 if the task has no potential Φ."""
        values = potentials(self.task, self.trajectory)
        if values is None:
            return [0.0] * len(self.turns)
        return step_rewards(values)

    def judge(self) -> tuple[Any, dict[str, Any]]:
        """Return the answer, and its score with the explanation, as those of a run."""
        answer, score = judge(self.task, self.trajectory, None, self.stage.experiment.config.scoring)
        assert score is not None  # no episode ends by an infrastructure error here
        analysis = analysis_of(self.stage.experiment.suite)
        setting = self.planned.key.setting.name
        explanation = explain_episode(analysis, self.task, setting, self.trajectory, answer, score)
        del explanation["potentials"]
        return answer, {**score, **explanation}
