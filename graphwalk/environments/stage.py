"""An episode as an environment: reset, step, reward."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphwalk.agent import Episode, call_tools, run_episode
from graphwalk.errors import ConfigError
from graphwalk.experiments.loading import load_experiment
from graphwalk.runs.experiment import Experiment, resolve
from graphwalk.runs.graph_sources import GraphSources, sources_for
from graphwalk.runs.plan import Plan, PlannedEpisode, make_plan
from graphwalk.runs.run_models import RunModels
from graphwalk.settings import read_settings
from graphwalk.suites.suite import EpisodeSetup
from graphwalk.training.reward import Reward, reward
from graphwalk.types.chat import Message, ToolCall, ToolSpec
from graphwalk.types.episode import ExitStatus, Task, ToolResult, Trajectory, Turn


@dataclass
class Stage:
    """The tasks of an experiment on their graphs. Close it at the end."""

    experiment: Experiment
    weights: Mapping[str, float]
    _plan: Plan
    _sources: GraphSources

    @classmethod
    async def open(cls, experiment: Any, *, weights: Mapping[str, float] | None = None, **flags: Any) -> "Stage":
        """Open the tasks of an experiment (a name, path or fields). `flags` override fields; `weights` are those of
        rewards.

        Raise ConfigError for an invalid experiment, StoreError if the store cannot be reached.
        """
        config = load_experiment(experiment, flags={**flags, "models": ["scripted/expert"]})
        resolved = resolve(config, read_settings(), keys=False)
        sources = sources_for(resolved, f"environment-{secrets.token_hex(4)}")
        plan = await make_plan(resolved, sources, lambda number: None)
        return cls(resolved, weights or {}, plan, sources)

    @property
    def planned(self) -> Sequence[PlannedEpisode]:
        """One episode per task and setting."""
        return self._plan.episodes

    async def close(self) -> None:
        """Remove the loaded graphs."""
        await self._plan.drop_graphs()
        await self._sources.close()

    def __len__(self) -> int:
        return len(self.planned)

    async def begin(self, number: int) -> "OpenEpisode":
        """Start an episode of the task with this number."""
        planned = self.planned[number]
        return OpenEpisode(self, planned, await planned.setup(self.experiment))

    async def expert(self, number: int) -> Reward:
        """Return the reward of the scripted expert, which is 1 for a valid task."""
        planned, experiment = self.planned[number], self.experiment
        async with RunModels(experiment) as players, players.for_episode(planned) as (model, _):
            walk = Episode(await planned.setup(experiment), model, experiment.agent, experiment.options)
            earned = reward(planned.task, await run_episode(walk), setting=planned.key.setting, weights=self.weights)
        if earned is None:
            raise ConfigError(f"the expert cannot solve {planned.task.task_id}")
        return earned


@dataclass
class OpenEpisode:
    """An episode in progress."""

    stage: Stage
    planned: PlannedEpisode
    setup: EpisodeSetup
    turns: list[Turn] = field(default_factory=list)
    earned: Reward | None = None
    """The reward after the end; None also after an infrastructure error."""
    ended: bool = False

    @property
    def task(self) -> Task:
        return self.planned.task

    @property
    def prompt(self) -> tuple[Message, ...]:
        return self.setup.prompt

    @property
    def tools(self) -> Sequence[ToolSpec]:
        return () if self.setup.toolbox is None else self.setup.toolbox.specs

    @property
    def turns_left(self) -> int | None:
        """Turns with calls before the answer is due; None: no limit."""
        limit = self.stage.experiment.agent.turn_limit
        return None if limit is None else max(0, limit - len(self.turns))

    async def call(self, *calls: tuple[str, Mapping[str, Any] | str], said: str | None = None) -> list[ToolResult]:
        """Execute one turn with tool calls (name, arguments), and return their results in order.

        Errors are results too. At the turn limit no tool is called.
        """
        if self.setup.toolbox is None:
            raise ConfigError("this episode has no tools", hint="settings: [tools]")
        made = sum(len(turn.results) for turn in self.turns)
        asked = tuple(
            ToolCall(f"call_{made + number}", name, given if isinstance(given, str) else json.dumps(given))
            for number, (name, given) in enumerate(calls, 1)
        )
        agent = self.stage.experiment.agent
        if self.turns_left == 0:
            return [ToolResult(call, agent.render("answer_now.j2"), error="turn_limit") for call in asked]
        results = await call_tools(self.setup.toolbox, asked, agent, made)
        self.turns.append(Turn(Message("assistant", said, asked), results=results))
        if any(result.final for result in results):
            self.ended, self.earned = True, self._reward(ExitStatus.ANSWERED)
        return list(results)

    def reply(self, text: str) -> str | None:
        """Process a reply without calls. Return the next user message, or None at the end of the episode."""
        turn = Turn(Message("assistant", text))
        next_user = self.setup.next_user([*self.turns, turn])
        self.turns.append(replace(turn, next_user=next_user))
        if next_user is None:
            self.ended = True
            self.earned = self._reward(ExitStatus.ANSWERED if text.strip() else ExitStatus.NO_ANSWER)
        return next_user

    def _reward(self, status: ExitStatus) -> Reward | None:
        trajectory = Trajectory(self.prompt, tuple(self.turns), status)
        return reward(self.task, trajectory, setting=self.planned.key.setting, weights=self.stage.weights)
