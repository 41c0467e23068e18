"""Estimate calls, tokens and cost (`--dry-run`): the agent loop of a run, with the scripted expert as the model."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from itertools import takewhile

from graphwalk.agent import Episode, run_episode
from graphwalk.config.calls import Price
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
PLAYED_WHOLE = 600
"""Pairs of task and setting up to which a plan is played whole; of larger plans a sample is played."""
SAMPLE = 6
"""Sampled tasks per template, size and setting of a larger plan."""
CACHED_FROM = 1024
"""Tokens from which providers cache the beginning of a call (documentation of OpenAI and Anthropic)."""
TokenCounter = Callable[[Message | str], int]


@dataclass(kw_only=True)
class Figures:
    """Calls, tokens and US dollars of an episode, or of all; `usd` is None without a price.

    `new_tokens` and `repeated_tokens` are input; a conversation sends repeated tokens again. `usd` prices them as
    cached where providers cache them.
    """

    model_calls: float = 0
    tool_calls: float = 0
    new_tokens: float = 0
    repeated_tokens: float = 0
    output_tokens: float = 0
    usd: float | None = 0.0
    assumed: float = 0
    """Episodes without an expert; replies are the target alone."""

    @property
    def input_tokens(self) -> float:
        return self.new_tokens + self.repeated_tokens


@dataclass(kw_only=True)
class ModelEstimate(Figures):
    """Sums over all episodes of one model in one setting, assuming the expert's calls and no reasoning."""

    model: str
    setting: str
    episodes: int = 0

    def add(self, episodes: int, sample: Sequence[Figures]) -> None:
        """Add episodes, with the mean figures of a sample of them."""
        self.episodes += episodes
        for name in (each.name for each in fields(Figures)):
            values = [getattr(self, name), *(getattr(figures, name) for figures in sample)]
            total = None if None in values else values[0] + sum(values[1:]) * episodes / len(sample)
            setattr(self, name, total if total is None or name == "usd" else round(total))


@dataclass
class RunEstimate:
    """The estimate of a dry run, a lower bound. `rows` has one entry per model and setting.

    `played` of `pairs` pairs of task and setting were played. `notes` are the assumptions, one line each.
    """

    experiment: str
    tasks: dict[str, int]
    rows: list[ModelEstimate]
    prices: dict[str, KnownPrice]
    played: int
    pairs: int
    minimum_detectable_effect: float | None
    """The smallest difference of two accuracies, in points, that the plan can show; None with only one question."""
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> str:
        rows = [{**asdict(row), "input_tokens": row.input_tokens} for row in self.rows]
        prices = {model: price.model_dump(mode="json") for model, price in self.prices.items()}
        return json.dumps({**asdict(self), "rows": rows, "prices": prices}, indent=2)


class _CountingModel(Wrapper):
    """A model that counts the requests to another one, in the form in which they are sent, and its replies.

    Repeated input is the beginning that a request shares with the previous one. `size` counts the tokens of a message,
    or of the text of the tool specifications.
    """

    def __init__(self, inner: Model, protocol: TextProtocol | None, size: TokenCounter, price: Price | None) -> None:
        super().__init__(inner)
        self.figures = Figures()
        self._protocol, self._size, self._price = protocol, size, price
        self._before: Sequence[Message] = ()

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = await self.inner.complete(messages, tools, options)
        if self._protocol is not None:
            messages, tools, _ = self._protocol.outgoing(messages, tools, options)
        specs = self._size(tools_text(tools))
        same = takewhile(lambda pair: pair[0] == pair[1], zip(self._before, messages, strict=False))
        repeated = sum(self._size(message) for _, message in same) + (specs if self._before else 0)
        read, written = sum(map(self._size, messages)) + specs, self._size(reply.message)
        self.figures.model_calls += 1
        self.figures.new_tokens += read - repeated
        self.figures.repeated_tokens += repeated
        self.figures.output_tokens += written
        if self._price is None or self.figures.usd is None:
            self.figures.usd = None
        else:
            cached = repeated if repeated >= CACHED_FROM else 0
            self.figures.usd += self._price.cost(read - cached, cached, written)
        self._before = tuple(messages)
        return reply


async def _of_expert(
    planned: PlannedEpisode, experiment: Experiment, size: TokenCounter, price: Price | None
) -> Figures:
    """Play an episode with the first expert that can, without a trace. Raise StoreError if graph or tool fails."""
    from langsmith import tracing_context

    experiment = experiment.of(planned.key.setting)
    task, agent = planned.task, experiment.agent
    expert = _expert_of(planned, experiment)
    target = ScriptedModel("target", _answer_target(json.dumps(task.target, ensure_ascii=False, default=str)))
    player = await planned.scripted(expert, experiment) if expert else target
    model = _CountingModel(player, protocol_of(agent), size, price)
    try:
        prompt = await planned.prompt(experiment)
        with tracing_context(enabled=False):
            trajectory = await run_episode(Episode(prompt, model, agent, experiment.options))
    finally:
        await model.close()
    if trajectory.exit_status is ExitStatus.STORE_ERROR:
        raise StoreError(f"the expert cannot play {task.task_id}: {trajectory.error}")
    return replace(model.figures, tool_calls=len(trajectory.results), assumed=expert is None)


def _expert_of(planned: PlannedEpisode, experiment: Experiment) -> str | None:
    """Return the scripted agent that plays an episode without mistakes, None if the suite has none."""
    suite, setting = experiment.suite, planned.key.setting
    able = (e for e in EXPERTS if e in suite.players and can_play(suite, f"scripted/{e}", setting, planned.task))
    return next(able, None)


def _answer_target(target: str) -> Policy:
    """Answer with the target."""
    yield from ()
    return target


async def estimate_run(experiment: Experiment) -> RunEstimate:
    """Play the expert on the tasks, and sum up calls, tokens and cost; load no database. StoreError if a tool fails."""
    variables = experiment.variables if queries_in_place(experiment.config.store) else None
    async with GraphSources(variables=variables) as sources:
        return await _estimate(experiment, await make_plan(experiment, sources, lambda tasks: None))


async def _estimate(experiment: Experiment, plan: Plan) -> RunEstimate:
    strata: dict[tuple[str, str, str, str], list[PlannedEpisode]] = defaultdict(list)
    for planned in plan.episodes:  # of the same model, setting, template and size: about the same length
        facts = planned.graph.about.instance.facts
        size = " ".join(str(facts[name]) for name in ("entry", "n") if name in facts)
        strata[planned.key.model, planned.key.setting, planned.task.template, size].append(planned)
    pairs = {(planned.key.task_id, planned.key.setting) for planned in plan.episodes}
    played, counter = set[tuple[str, str]](), cache(_token_count)
    rows: dict[tuple[str, str], ModelEstimate] = {}
    for (model, setting, *kind), episodes in strata.items():
        by_task = {planned.key.task_id: planned for planned in episodes}
        tasks = list(by_task)
        if len(pairs) > PLAYED_WHOLE and len(tasks) > SAMPLE:  # the same tasks for all models
            tasks = stdlib_random(experiment.config.seed, "estimate", setting, *kind).sample(tasks, SAMPLE)
        played |= {(task, setting) for task in tasks}
        model_price = experiment.prices.get(model)
        price = Price(input=0, output=0) if per_episode(model) else model_price.price if model_price else None
        sample = [await _of_expert(by_task[task], experiment, counter, price) for task in tasks]
        row = ModelEstimate(model=model, setting=setting)
        rows.setdefault((model, setting), row).add(len(episodes), sample)
    by_template = Counter(task.template for task, _ in plan.tasks)
    points, detectable = _detectable_effect(plan, experiment)
    prices, sums = dict(experiment.prices), list(rows.values())
    counts = (len(played), len(pairs))
    estimate = RunEstimate(experiment.config.name, dict(by_template), sums, prices, *counts, points)
    estimate.notes += [*plan.notes(), *_assumptions(experiment, estimate), detectable]
    return estimate


def _detectable_effect(plan: Plan, experiment: Experiment) -> tuple[float | None, str]:
    """Return the minimum detectable effect in points (power 80 %, α 5 %) on the report's units, and a note about it."""
    suite, repeats = experiment.suite, experiment.config.repeats
    declared = suite.report()
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


def _assumptions(experiment: Experiment, estimate: RunEstimate) -> Iterator[str]:
    """Yield the assumptions of the estimate that matter for this plan, in one line each."""
    real = [row for row in estimate.rows if not per_episode(row.model)]
    yield "Lower bound: assumes the expert's calls and no reasoning tokens."
    if estimate.played < estimate.pairs:
        yield f"{estimate.played} of {estimate.pairs} pairs of task and setting were played."
    if any(row.assumed for row in estimate.rows):
        yield "Without an expert (no tools, own questions) each reply is assumed to be the target alone."
    if real:
        yield f"Tokens are estimated by a rule: ± {100 * RULE_ERROR:.0f} % (docs/running.md)."
    if any(row.repeated_tokens and row.usd is not None for row in real):
        yield "Repeated input (sent again in a conversation) is priced as cached from 1,024 tokens on."
    if any(row.usd is None for row in real):
        yield "Cost unknown: give prices, for example -o 'prices={MODEL: {input: 0.4, output: 1.6}}'."
    words = experiment.suite.report().abbreviations
    if named := [f"{name}: {words[name]}" for name in experiment.config.settings if name in words]:
        yield f"{'; '.join(named)}."
    if experiment.extractor is not None:
        yield f"Calls of the extractor {experiment.extractor} are not included: they depend on the replies."
