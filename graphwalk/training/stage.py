"""An episode as an environment: reset, step, reward."""

import atexit
import json
import secrets
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from graphwalk.agent.loop import Episode, call_tools, is_nudge, limit_reached, next_question, run_episode
from graphwalk.analysis.explained import explain_episode
from graphwalk.analysis.suite_analysis import analysis_of, with_reference
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError, manual
from graphwalk.models.chat import Message, ToolCall, ToolSpec
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.runs.background import run_in_background
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.plan import GraphSources, PlannedEpisode, make_plan, sources_for
from graphwalk.runs.play import RunModels
from graphwalk.runs.record import judge
from graphwalk.runs.resolve import Experiment, resolve
from graphwalk.suites.suite import Prompt, Task
from graphwalk.training.reward import Reward, potentials, reward, step_rewards
from graphwalk.variables import read_variables

LOOP_OF_ANOTHER = ("tool_protocol", "tool_choice", "strict_tools")
"""Fields of `agent` that take effect in requests, which here another program sends."""


@dataclass
class Stage:
    """The tasks of an experiment on their graphs. Close it at the end."""

    experiment: Experiment
    planned: Sequence[PlannedEpisode]
    """One episode per task and setting."""
    weights: Mapping[str, float]
    _sources: GraphSources
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
    ) -> "Stage":
        """Open the tasks of an experiment (a name, path or fields). `flags` override fields; `weights` are those of
        rewards; `graphs` is the number of graphs, mazes or traces of each kind; `lacks` are the fields of `agent` that
        the loop of the harness does not have.

        Raise ConfigError for an invalid experiment or such a field, StoreError if the store cannot be reached.
        """
        config = load_experiment(experiment, flags={"models": ["scripted/expert"], **flags}, graphs=graphs)
        resolved = resolve(config, read_variables(), keys=False)
        for one in (resolved, *resolved.variants.values()):
            _check_levers(one.agent, lacks)
        sources = sources_for(resolved, f"environment-{secrets.token_hex(4)}")
        try:
            plan = await make_plan(resolved, sources, lambda number: None)
        except BaseException:
            await sources.aclose()
            raise
        return cls(resolved, plan.episodes, weights or {}, sources)

    async def close(self) -> None:
        """Remove the loaded graphs."""
        await self._sources.aclose()

    def __len__(self) -> int:
        return len(self.planned)

    def number_of(self, task_id: str, setting: str) -> int:
        """Return the number of a task in a setting. Raise ConfigError if the experiment has no such task."""
        if (number := self._numbers.get((task_id, setting))) is None:
            name = self.experiment.config.name
            raise ConfigError(f"no task {task_id} in the setting {setting} of the experiment {name}")
        return number

    @cached_property
    def _numbers(self) -> Mapping[tuple[str, str], int]:
        return {(one.key.task_id, one.key.setting): number for number, one in enumerate(self.planned)}

    async def begin(self, number: int) -> "OpenEpisode":
        """Start an episode of the task with this number."""
        planned = await self._with_reference(number)
        return OpenEpisode(self, planned, await planned.prompt(self.experiment))

    async def _with_reference(self, number: int) -> PlannedEpisode:
        """Return an episode whose task has the expert's figures, which the reward needs."""
        planned = self.planned[number]
        if planned.task.task_id not in self._references:
            analysis, agent = analysis_of(self.experiment.suite), self.experiment.agent
            task = await with_reference(analysis, planned.task, planned.graph.about, agent)
            self._references[task.task_id] = task
        return replace(planned, task=self._references[planned.task.task_id])

    async def expert(self, number: int) -> tuple[Trajectory, Reward]:
        """Return the trajectory of the scripted expert, and its reward, which is 1 for a valid task."""
        planned = await self._with_reference(number)
        experiment = self.experiment.of(planned.key.setting)
        async with RunModels(self.experiment) as players, players.for_episode(planned) as (model, _):
            walk = Episode(await planned.prompt(experiment), model, experiment.agent, experiment.options)
            trajectory = await run_episode(walk)
        earned = reward(planned.task, trajectory, setting=planned.key.setting, weights=self.weights)
        assert earned is not None
        return trajectory, earned


@cache
def _stage_of(experiment: str, lacks: tuple[str, ...]) -> Stage:
    stage = run_in_background(Stage.open(experiment, lacks=lacks))
    atexit.register(lambda: run_in_background(stage.close()))
    return stage


_OPENING = threading.Lock()


def shared_stage(experiment: str, lacks: tuple[str, ...] = ()) -> Stage:
    """Return the tasks of an experiment, which are opened once in a process, and closed at its end.

    `experiment` is a name or a path. The stage belongs to the background loop of
    `run_in_background`. Raise like `Stage.open`.
    """
    with _OPENING:
        return _stage_of(experiment, lacks)


def _check_levers(agent: AgentConfig, lacks: Collection[str]) -> None:
    """Raise ConfigError for a field in `lacks` that is switched on."""
    for name in lacks:
        value, default = getattr(agent, name), AgentConfig.model_fields[name].default
        if value != default:
            raise ConfigError(
                f"agent.{name}: {value} needs the loop of a run; here another program calls the model",
                hint=f"-o agent.{name}={default}; {manual('training')} lists the levers of each program",
            )


@dataclass
class OpenEpisode:
    """An episode in progress."""

    stage: Stage
    planned: PlannedEpisode
    start: Prompt
    turns: list[Turn] = field(default_factory=list)
    earned: Reward | None = None
    """The reward after the end; None also after an infrastructure error."""
    exit_status: ExitStatus | None = None
    """None: not ended."""

    @property
    def ended(self) -> bool:
        return self.exit_status is not None

    @property
    def task(self) -> Task:
        return self.planned.task

    @property
    def agent(self) -> AgentConfig:
        """The agent of the experiment, or of its variant."""
        return self.stage.experiment.of(self.planned.key.setting).agent

    @property
    def prompt(self) -> tuple[Message, ...]:
        return self.start.messages

    @property
    def tools(self) -> Sequence[ToolSpec]:
        return () if self.start.toolbox is None else self.start.toolbox.specs

    async def call(self, *calls: tuple[str, Mapping[str, Any] | str], said: str | None = None) -> list[ToolResult]:
        """Execute one turn with tool calls (name, arguments), and return their results in order.

        Errors are results too. At the turn limit no tool is called.
        """
        if self.start.toolbox is None:
            raise ConfigError("this episode has no tools", hint="settings: [tools]")
        earlier = sum(len(turn.results) for turn in self.turns)
        tool_calls = tuple(
            ToolCall(f"call_{earlier + number}", name, args if isinstance(args, str) else json.dumps(args))
            for number, (name, args) in enumerate(calls, 1)
        )
        agent = self.agent
        if agent.turn_limit is not None and len(self.turns) >= agent.turn_limit:
            return [ToolResult(call, agent.render("answer_now.j2"), error="turn_limit") for call in tool_calls]
        results = await call_tools(self.start.toolbox, tool_calls, agent, earlier)
        self.turns.append(Turn(Message("assistant", said, tool_calls), results=results))
        if any(result.final for result in results):
            self._end(ExitStatus.ANSWERED)
        return list(results)

    def reply(self, text: str) -> str | None:
        """Process a reply without calls. Return the next user message, or None at the end of the episode."""
        limit = self._limit_reached
        turn = Turn(Message("assistant", text), forced=limit is not None)
        nudges = sum(is_nudge(self.start, earlier) for earlier in self.turns)
        next_user = None if limit or nudges == self.agent.nudges else self.start.nudge(text)
        if next_user is None and not limit:
            next_user = next_question(self.start, self.turns)
        self.turns.append(replace(turn, next_user=next_user))
        if next_user is None:
            answered = ExitStatus.ANSWERED if text.strip() else ExitStatus.NO_ANSWER
            self._end(limit or answered)
        return next_user

    @property
    def must_answer(self) -> bool:
        """True if a limit is reached: a run asks for the answer now, without tools."""
        return self._limit_reached is not None

    @property
    def _limit_reached(self) -> ExitStatus | None:
        return limit_reached(self.turns, self.agent) if self.tools else None

    @property
    def trajectory(self) -> Trajectory:
        return Trajectory(self.prompt, tuple(self.turns), self.exit_status or ExitStatus.NO_ANSWER)

    @property
    def step_rewards(self) -> list[float]:
        """Return the reward of each turn so far: Φ(after) − Φ(before), or 0 if the task has no potential Φ."""
        values = potentials(self.task, self.trajectory)
        return [0.0] * len(self.turns) if values is None else step_rewards(values)

    def judge(self) -> tuple[Any, dict[str, Any]]:
        """Return the answer, and its score with the explanation, as those of a run."""
        answer, score = judge(self.task, self.trajectory, None, self.stage.experiment.config.scoring)
        assert score is not None  # no episode ends by an infrastructure error here
        analysis, setting = analysis_of(self.stage.experiment.suite), self.planned.key.setting
        explanation = explain_episode(analysis, self.task, setting, self.trajectory, answer, score)
        del explanation["potentials"]
        return answer, {**score, **explanation}

    def _end(self, status: ExitStatus) -> None:
        self.exit_status = status
        setting = self.planned.key.setting
        self.earned = reward(self.task, self.trajectory, setting=setting, weights=self.stage.weights)
