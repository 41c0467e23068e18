"""Estimate calls, tokens and cost (`--dry-run`): the scripted expert plays a sample of the tasks in the agent loop."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, reduce
from itertools import takewhile
from typing import Any

from graphwalk.agent import Episode, run_episode
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.errors import StoreError
from graphwalk.evaluation.statistics import minimum_detectable_effect
from graphwalk.models.base import Model
from graphwalk.models.prices import KnownPrice
from graphwalk.models.protocols import protocol_of
from graphwalk.models.scripted import Policy, ScriptedModel
from graphwalk.models.text_protocol import TextProtocol
from graphwalk.models.tokens import RULE_ERROR, count_messages, count_tokens, tools_text
from graphwalk.models.wrappers import Wrapper
from graphwalk.reports.text_table import OVER_QUESTIONS
from graphwalk.runs.episodes.graph_sources import GraphSources
from graphwalk.runs.episodes.plan import Plan, PlannedEpisode, make_plan
from graphwalk.runs.episodes.resolve import Experiment, can_play, per_episode
from graphwalk.seeds import stdlib_random
from graphwalk.stores.registry import queries_in_place
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.episode import ExitStatus

EXPERTS = ("expert", "cypher")
"""Scripted agents that play without mistakes, each in its own settings."""
SAMPLE = 24
"""Largest number of tasks that the expert plays, in each setting; other tasks are taken to be like these."""
CACHED_FROM = 1024
"""Tokens from which providers cache the beginning of a call (documentation of OpenAI and Anthropic)."""
TokenCounter = Callable[[Message | str], int]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Calls and tokens of an episode, or their sums.

    `new_tokens` and `repeated_tokens` are input; a conversation sends repeated tokens again. `cached_tokens`: repeated
    ones in requests where providers cache them. `assumed`: 1 without an expert; the reply is the target alone.
    """

    model_calls: float = 0
    tool_calls: float = 0
    new_tokens: float = 0
    repeated_tokens: float = 0
    cached_tokens: float = 0
    output_tokens: float = 0
    assumed: float = 0

    def plus(self, other: "Figures", times: float = 1) -> "Figures":
        """Return the sum with so many times another."""
        names = (each.name for each in fields(Figures))
        return Figures(**{name: getattr(self, name) + times * getattr(other, name) for name in names})

    @property
    def input_tokens(self) -> float:
        return self.new_tokens + self.repeated_tokens


def mean(sample: Sequence[Figures]) -> Figures:
    return reduce(lambda total, figures: total.plus(figures, 1 / len(sample)), sample, Figures())


@dataclass(frozen=True)
class ModelEstimate:
    """The episodes of one model in one setting, assuming the expert's calls and no reasoning; `usd` None: no price."""

    model: str
    setting: str
    episodes: int
    figures: Figures
    usd: float | None

    def as_dict(self) -> dict[str, Any]:
        counts = {name: round(value) for name, value in asdict(self.figures).items()}
        named = {"model": self.model, "setting": self.setting, "episodes": self.episodes}
        return {**named, **counts, "input_tokens": round(self.figures.input_tokens), "usd": self.usd}


@dataclass(frozen=True)
class RunEstimate:
    """The estimate of a dry run, a lower bound. `rows` has one entry per model and setting.

    The expert has played `played` of `pairs` pairs of task and setting. `notes` are the assumptions, one line each.
    """

    experiment: str
    tasks: Mapping[str, int]
    rows: Sequence[ModelEstimate]
    prices: Mapping[str, KnownPrice]
    played: int
    pairs: int
    minimum_detectable_effect: float | None
    """The smallest difference of two accuracies, in points, that the plan can show; None with only one question."""
    notes: Sequence[str]

    def as_json(self) -> str:
        prices = {model: price.model_dump(mode="json") for model, price in self.prices.items()}
        return json.dumps({**vars(self), "rows": [row.as_dict() for row in self.rows], "prices": prices}, indent=2)


class _CountingModel(Wrapper):
    """A model that counts the requests to another one, in the form in which they are sent, and its replies.

    Repeated input is the beginning that a request shares with the previous one. `size` counts the tokens of a message,
    or of the text of the tool specifications.
    """

    def __init__(self, inner: Model, protocol: TextProtocol | None, size: TokenCounter) -> None:
        super().__init__(inner)
        self.figures = Figures()
        self._protocol, self._size = protocol, size
        self._before: Sequence[Message] = ()

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = await self.inner.complete(messages, tools, options)
        if self._protocol is not None:
            messages, tools, _ = self._protocol.outgoing(messages, tools, options)
        specs = self._size(tools_text(tools))
        same = takewhile(lambda pair: pair[0] == pair[1], zip(self._before, messages, strict=False))
        repeated = sum(self._size(message) for _, message in same) + (specs if self._before else 0)
        request = Figures(
            model_calls=1,
            new_tokens=sum(map(self._size, messages)) + specs - repeated,
            repeated_tokens=repeated,
            cached_tokens=repeated if repeated >= CACHED_FROM else 0,
            output_tokens=self._size(reply.message),
        )
        self.figures = self.figures.plus(request)
        self._before = tuple(messages)
        return reply


async def _of_expert(planned: PlannedEpisode, experiment: Experiment, size: TokenCounter) -> Figures:
    """Play an episode with the first expert that can, without a trace. Raise StoreError if graph or tool fails."""
    from langsmith import tracing_context

    experiment = experiment.of(planned.key.setting)
    task, agent = planned.task, experiment.agent
    expert = expert_of(planned, experiment)
    target = ScriptedModel("target", _answer_target(json.dumps(task.target, ensure_ascii=False, default=str)))
    player = await planned.scripted(expert, experiment) if expert else target
    model = _CountingModel(player, protocol_of(agent), size)
    try:
        prompt = await planned.prompt(experiment)
        with tracing_context(enabled=False):
            trajectory = await run_episode(Episode(prompt, model, agent, experiment.options))
    finally:
        await model.close()
    if trajectory.exit_status is ExitStatus.STORE_ERROR:
        raise StoreError(f"the expert cannot play {task.task_id}: {trajectory.error}")
    return replace(model.figures, tool_calls=len(trajectory.results), assumed=int(expert is None))


def expert_of(planned: PlannedEpisode, experiment: Experiment) -> str | None:
    """Return the scripted agent that plays an episode without mistakes, None if the suite has none."""
    suite, setting = experiment.suite, planned.key.setting
    able = (e for e in EXPERTS if e in suite.players and can_play(suite, f"scripted/{e}", setting, planned.task))
    return next(able, None)


def _answer_target(target: str) -> Policy:
    """Answer with the target."""
    yield from ()
    return target


async def estimate_run(experiment: Experiment) -> RunEstimate:
    """Play the expert on a sample of the tasks, and sum up calls, tokens and cost; load nothing into a server.

    Raise StoreError if a tool fails.
    """
    variables = experiment.variables if queries_in_place(experiment.config.store) else None
    async with GraphSources(variables=variables) as sources:
        return await _estimate(experiment, await make_plan(experiment, sources, lambda tasks: None))


async def _estimate(experiment: Experiment, plan: Plan) -> RunEstimate:
    episodes: dict[tuple[str, str], list[PlannedEpisode]] = defaultdict(list)
    for planned in plan.episodes:
        episodes[planned.key.model, planned.key.setting].append(planned)
    by_setting = {setting: {one.key.task_id: one for one in planned} for (_, setting), planned in episodes.items()}
    sampled = _sampled(plan, experiment.config.seed)
    counter = cache(_token_count)
    played: dict[str, dict[str, Figures]] = {}
    for setting, by_task in by_setting.items():
        tasks = [task_id for task_id in by_task if task_id in sampled] or [next(iter(by_task))]
        played[setting] = {task_id: await _of_expert(by_task[task_id], experiment, counter) for task_id in tasks}
    rows = []
    for (model, setting), of_model in episodes.items():
        total = _extrapolated(of_model, played[setting], by_setting[setting])
        rows.append(ModelEstimate(model, setting, len(of_model), total, _cost(experiment, model, total)))
    pairs = sum(map(len, by_setting.values()))
    points, detectable = _detectable_effect(plan, experiment)
    return RunEstimate(
        experiment.config.name,
        Counter(task.template for task, _ in plan.tasks),
        rows,
        dict(experiment.prices),
        sum(map(len, played.values())),
        pairs,
        points,
        [*plan.notes(), *_assumptions(experiment, rows, len(sampled), len(plan.tasks)), detectable],
    )


def _sampled(plan: Plan, seed: int) -> set[str]:
    """Return the ids of the tasks that the expert plays: all of a small plan, else a random sample."""
    tasks = [task.task_id for task, _ in plan.tasks]
    return {*tasks} if len(tasks) <= SAMPLE else {*stdlib_random(seed, "estimate").sample(tasks, SAMPLE)}


def _extrapolated(
    episodes: Sequence[PlannedEpisode], played: Mapping[str, Figures], by_task: Mapping[str, PlannedEpisode]
) -> Figures:
    """Return the sum over episodes: of each, the mean of the played tasks that are most like it."""
    alike: dict[tuple[str, ...], list[Figures]] = defaultdict(list)
    for task_id, figures in played.items():
        for kind in _kinds(by_task[task_id]):
            alike[kind].append(figures)
    means = {kind: mean(sample) for kind, sample in alike.items()}
    total = Figures()
    for planned in episodes:
        closest = next(means[kind] for kind in _kinds(planned) if kind in means)
        total = total.plus(played.get(planned.key.task_id, closest))
    return total


def _kinds(planned: PlannedEpisode) -> Sequence[tuple[str, ...]]:
    """Return the groups of similar tasks that an episode is in, the closest first: template and size, template, all."""
    facts, template = planned.graph.about.instance.facts, planned.task.template
    size = " ".join(str(facts[name]) for name in ("entry", "n") if name in facts)
    return (template, size), (template,), ()


def _cost(experiment: Experiment, model: str, figures: Figures) -> float | None:
    """Return the cost in US dollars; None without a price."""
    if per_episode(model):
        return 0.0
    price, cached = experiment.prices.get(model), figures.cached_tokens
    if price is None:
        return None
    return price.price.cost(figures.input_tokens - cached, cached, figures.output_tokens)


def _detectable_effect(plan: Plan, experiment: Experiment) -> tuple[float | None, str]:
    """Return the minimum detectable effect in points (power 80 %, α 5 %) on the report's units, and a note about it."""
    suite, repeats = experiment.suite, experiment.config.repeats
    declared = analysis_of(suite).report()
    clusters = {declared.cluster(task.task_id, task.model_dump()) for task, _ in plan.tasks}
    graphs = len({cluster.graph for cluster in clusters})
    tasks = max(1, round(len(clusters) / max(graphs, 1)))
    if graphs == 1:
        smallest = minimum_detectable_effect(len(clusters), 1, repeats, graph_correlation=0.0)
        size = f"{OVER_QUESTIONS}: {tasks}"
    else:
        smallest = minimum_detectable_effect(graphs, tasks, repeats)
        size = f"{graphs} graphs × {tasks} tasks"
    if smallest is None:
        return None, "No difference between players can be detected: there is only one question."
    points = min(100.0, round(100 * smallest, 1))
    return points, (
        f"Minimum detectable effect: {points:.{0 if points >= 10 else 1}f} points between two players, at accuracies "
        f"near 50 % ({size} × {repeats}; power 80 %)"
    )


def _token_count(part: Message | str) -> int:
    return count_tokens(part) if isinstance(part, str) else count_messages((part,))


def _assumptions(experiment: Experiment, rows: Sequence[ModelEstimate], sampled: int, tasks: int) -> Iterator[str]:
    """Yield the assumptions of the estimate that matter for this plan, in one line each."""
    real = [row for row in rows if not per_episode(row.model)]
    yield "Lower bound: assumes the expert's calls and no reasoning tokens."
    if sampled < tasks:
        yield f"Estimated from {sampled} of {tasks} tasks, which the expert has played."
    if any(row.figures.assumed for row in rows):
        yield "Without an expert (no tools, own questions) each reply is assumed to be the target alone."
    if real:
        yield f"Tokens are estimated by a rule: ± {100 * RULE_ERROR:.0f} % (docs/running.md)."
    if any(row.figures.repeated_tokens and row.usd is not None for row in real):
        yield "Repeated input (sent again in a conversation) is priced as cached from 1,024 tokens on."
    if any(row.usd is None for row in real):
        yield "Cost unknown: give prices, for example -o 'prices={MODEL: {input: 0.4, output: 1.6}}'."
    words = experiment.suite.abbreviations
    if named := [f"{name}: {words[name]}" for name in experiment.config.settings if name in words]:
        yield f"{'; '.join(named)}."
    if experiment.extractor is not None:
        yield f"Calls of the extractor {experiment.extractor} are not included: they depend on the replies."
