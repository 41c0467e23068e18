"""The ceiling of a setting: the share of tasks that an agent without mistakes solves under exactly this configuration.

The agent knows only what the messages of a request hold. Where no scripted agent plays a setting, the prompt and the
target are compared with the context window and the output limit.
"""

import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from graphwalk.agent import Episode, simulate_episode
from graphwalk.errors import StoreError
from graphwalk.models.memoryless import MemorylessModel
from graphwalk.models.prices import context_window
from graphwalk.models.tokens import count_messages, count_tokens
from graphwalk.runs.episodes.episode import judge
from graphwalk.runs.episodes.plan import PlannedEpisode
from graphwalk.runs.episodes.resolve import Experiment, can_play, per_episode
from graphwalk.seeds import stdlib_random
from graphwalk.types.episode import ExitStatus, setting_of

EXPERTS = ("expert", "cypher")
"""Scripted agents that play without mistakes, each in its own settings."""
SAMPLE = 24
"""Tasks per setting, template and size that are played."""
LOW = 0.9
"""A ceiling below this is a warning."""
_EQUAL = 0.05
"""Ceilings whose difference is smaller count as equal."""
_FAILURES = 4
"""Unsolved tasks that are played again without a limit, to find the limit that stops them."""
_MORE_TURNS = 200
_RELAXED: Mapping[str, Any] = {
    "compaction": "none",
    "turn_limit": _MORE_TURNS,
    "call_limit": None,
    "max_calls_per_turn": 256,
    "result_tokens": None,
    "call_seconds": None,
    "relationship_properties": True,
    "direction": True,
    "tools": None,
}
"""Field of the agent → the value that limits nothing."""


@dataclass(frozen=True)
class Ceiling:
    """Share of `tasks` that can be solved; `because` are the fields without which it would be higher."""

    share: float
    tasks: int
    because: tuple[str, ...] = ()

    def __str__(self) -> str:
        causes = f" (limited by {', '.join(self.because)})" if self.because else ""
        return f"{100 * self.share:.0f} %{causes}"


def ceiling_notes(ceilings: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield notes on the ceilings of a run, as run.json has them: name of a setting → fields of `Ceiling`."""
    typed = {setting: Ceiling(**fields) for setting, fields in ceilings.items()}
    if typed:
        each = ", ".join(f"{setting} {ceiling}" for setting, ceiling in typed.items())
        if len({*map(str, typed.values())}) == 1 < len(typed):
            each = f"{next(iter(typed.values()))} in each setting"
        yield f"Ceiling under this setup, of an agent without mistakes that knows what its messages hold: {each}."
    shares = [ceiling.share for ceiling in typed.values()]
    if low := [setting for setting, ceiling in typed.items() if ceiling.share < LOW]:
        yield f"WARNING: a ceiling below {100 * LOW:.0f} % in {', '.join(low)}. Relax what limits it."
    if shares and max(shares) - min(shares) > _EQUAL:
        yield "The ceilings differ: a difference between these settings may be one of the setups."


@dataclass
class Ceilings:
    """The ceilings of an experiment, which grow with its plan: setting → outcomes by task."""

    experiment: Experiment
    _outcomes: dict[str, dict[str, bool]] = field(default_factory=lambda: defaultdict(dict))
    _played: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _unsolved: dict[str, list[PlannedEpisode]] = field(default_factory=lambda: defaultdict(list))

    async def add(self, episodes: Iterable[PlannedEpisode]) -> None:
        """Play the tasks of planned episodes once per setting. Raise StoreError if a tool fails."""
        for planned in episodes:
            setting, task = planned.key.setting, planned.key.task_id
            facts = planned.graph.about.instance.facts
            stratum = (setting, planned.task.template, *(str(facts.get(name)) for name in ("entry", "n")))
            if task in self._outcomes[setting] or self._played[stratum] >= SAMPLE:
                continue
            self._played[stratum] += 1
            solved = await solvable(planned, self.experiment.of(setting), context_of(self.experiment))
            if solved is None:
                continue
            self._outcomes[setting][task] = solved
            if not solved and len(self._unsolved[setting]) < _FAILURES:
                self._unsolved[setting].append(planned)

    async def by_setting(self) -> dict[str, Ceiling]:
        """Return the ceiling of each setting that has one, with its causes. Raise StoreError if a tool fails."""
        ceilings = {}
        for setting, outcomes in self._outcomes.items():
            if outcomes:
                causes = tuple([name async for name in self._causes(setting)])
                ceilings[setting] = Ceiling(sum(outcomes.values()) / len(outcomes), len(outcomes), causes)
        return ceilings

    async def as_data(self) -> dict[str, dict[str, Any]]:
        """Return the ceilings as JSON data, for run.json."""
        return {setting: asdict(ceiling) for setting, ceiling in (await self.by_setting()).items()}

    async def _causes(self, setting: str) -> AsyncIterator[str]:
        """Yield the fields that stop an unsolved task, each found by relaxing it alone."""
        experiment, context = self.experiment.of(setting), context_of(self.experiment)
        for name, relaxed, window in _relaxations(experiment, context):
            outcomes = [await solvable(planned, relaxed, window) for planned in self._unsolved[setting]]
            if any(outcomes):
                yield name


def _relaxations(experiment: Experiment, context: int | None) -> Iterator[tuple[str, Experiment, int | None]]:
    """Yield each field that limits something, with the experiment and the context window without it."""
    agent, config = experiment.agent, experiment.config
    for name, value in _RELAXED.items():
        if getattr(agent, name) != value:
            without = config.model_copy(update={"agent": agent.model_copy(update={name: value})})
            yield f"agent.{name}", replace(experiment, config=without, variants={}), context
    if experiment.options.max_output_tokens is not None:
        options = replace(experiment.options, max_output_tokens=None)
        yield "options.max_output_tokens", replace(experiment, options=options, variants={}), context
    if context is not None:
        yield "the context window", experiment, None


def context_of(experiment: Experiment) -> int | None:
    """Return the smallest known context window of the models that play, in tokens."""
    models = (model for model in experiment.models if not per_episode(model))
    windows = (context_window(model, experiment.variables) for model in models)
    return min((window for window in windows if window is not None), default=None)


def expert_of(planned: PlannedEpisode, experiment: Experiment) -> str | None:
    """Return the scripted agent that plays an episode without mistakes, None if the suite has none."""
    suite, setting = experiment.suite, planned.key.setting
    able = (e for e in EXPERTS if e in suite.players and can_play(suite, f"scripted/{e}", setting, planned.task))
    return next(able, None)


async def memoryless(
    planned: PlannedEpisode, expert: str, experiment: Experiment, context: int | None
) -> MemorylessModel:
    """Return the model that plays the policy of a scripted agent from the messages alone."""
    player, setting = experiment.suite.players[expert], setting_of(planned.key.setting)
    schema = await planned.graph.about.whole_schema()
    start = partial(player.policy, planned.task, setting, schema, stdlib_random(0, "ceiling"))
    return MemorylessModel("ceiling", start, context)


async def solvable(planned: PlannedEpisode, experiment: Experiment, context: int | None) -> bool | None:
    """Return whether an agent without mistakes solves a task; None if that is unknown. Raise StoreError."""
    expert, prompt = expert_of(planned, experiment), await planned.prompt(experiment)
    if expert is None:
        return None if prompt.toolbox is not None else _fits(prompt.messages, planned.task.target, experiment, context)
    model = await memoryless(planned, expert, experiment, context)
    trajectory = await simulate_episode(Episode(prompt, model, experiment.agent, experiment.options))
    if trajectory.exit_status is ExitStatus.STORE_ERROR:
        raise StoreError(f"the expert cannot play {planned.key.task_id}: {trajectory.error}")
    _, score = judge(planned.task, planned.key.setting, trajectory, scoring=experiment.config.scoring)
    return bool(score and score["correct"])


def _fits(messages: Sequence[Any], target: Any, experiment: Experiment, context: int | None) -> bool:
    """Return whether a prompt and the target in JSON fit the context window and the output limit."""
    answer = count_tokens(json.dumps(target, ensure_ascii=False, default=str))
    most = experiment.options.max_output_tokens
    window = context is None or count_messages(messages) + answer <= context
    return window and (most is None or answer <= most)


async def ceilings_of(episodes: Iterable[PlannedEpisode], experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Return the ceilings of planned episodes as JSON data. Raise StoreError if a tool fails."""
    ceilings = Ceilings(experiment)
    await ceilings.add(episodes)
    return await ceilings.as_data()
