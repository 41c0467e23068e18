"""What a run would do and cost, without calling a model."""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import fmean, variance

from graphwalk.agent import Episode, run_episode
from graphwalk.config.calls import Price
from graphwalk.errors import ModelError, StoreError
from graphwalk.evaluation.power import Design, assumed_spread, minimum_detectable_effect
from graphwalk.models.base import Model
from graphwalk.models.text_protocol import TextProtocol
from graphwalk.models.tokens import count_messages, count_tokens, message_text, tokenizer_of, tools_text
from graphwalk.runs.assumptions import assumptions
from graphwalk.runs.dry_run import DetectableEffect, Estimate, ModelEstimate
from graphwalk.runs.experiment import Experiment, can_play, per_episode
from graphwalk.runs.graph_sources import GraphSources
from graphwalk.runs.plan import Plan, PlannedEpisode, make_plan
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import Database
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.task_cache import LARGE
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.episode import ExitStatus, Task

EXPERTS = ("expert", "cypher")
"""Scripted agents that go straight to the answer, each in settings of its own."""
_REMEMBERED = 1024
"""Messages; prompts are the largest, and those of one graph follow each other."""
PLAYED_WHOLE = 600
"""Plans with so many pairs of task and setting are played whole; of larger ones a sample is."""
EVEN = 0.5
"""The accuracy assumed before there are data; the minimum detectable effect is largest there."""
SAMPLE = 6
"""Tasks that are played of each template, size and setting of a larger plan."""
CACHED_FROM = 1024
"""Tokens that the beginning of a call must have before providers hold it ready (OpenAI's and Anthropic's documentation
of prompt caching)."""


@dataclass(frozen=True)
class _Takes:
    """What one episode takes."""

    model_calls: float
    tool_calls: float
    characters: float
    new: float
    repeated: float
    output: float
    usd: float
    usd_uncached: float
    assumed: float
    of_plan: float = 0


Stratum = tuple[str, str, str, str]
"""Model, setting, template, size: episodes that take about the same."""


async def estimate_run(experiment: Experiment) -> Estimate:
    """Make the tasks on the embedded engine, play the expert's part of them, and add up what it takes.

    The walks on large graphs are not played again: the plan has their figures.

    StoreError where a tool fails for the expert.
    """

    async def open_scratch() -> Database:
        return EmbeddedDatabase()

    plan = await make_plan(experiment, GraphSources(open_scratch), lambda tasks: None)
    strata: dict[Stratum, list[PlannedEpisode]] = defaultdict(list)
    for planned in plan.episodes:
        strata[_stratum(planned)].append(planned)
    pairs = {(planned.key.task_id, planned.key.setting) for planned in plan.episodes}
    walks, sizes = ReferenceEpisodes(experiment), {model: sizes_for(model) for model in experiment.models}
    rows: dict[tuple[str, str], list[tuple[int, int, Sequence[_Takes]]]] = defaultdict(list)
    played: set[tuple[str, str]] = set()
    for stratum, episodes in strata.items():
        by_task = {planned.key.task_id: planned for planned in episodes}
        chosen = _chosen(list(by_task), stratum, experiment.config.seed) if len(pairs) > PLAYED_WHOLE else by_task
        played |= {(task, stratum[1]) for task in chosen}
        size, price = sizes[stratum[0]], _price(experiment, stratum[0])
        takes = [
            _of_plan(by_task[task], experiment, price) or _takes(await walks.of(by_task[task]), size, price)
            for task in chosen
        ]
        rows[stratum[:2]].append((len(episodes), len(by_task), takes))
    estimates = [_row(model, setting, parts, experiment) for (model, setting), parts in rows.items()]
    effect = _detectable_effect(plan, experiment.config.repeats)
    prices = dict(experiment.prices)
    estimate = Estimate(experiment.config.name, _by_template(plan), estimates, prices, len(played), len(pairs), effect)
    estimate.notes += [*plan.notes(), *assumptions(experiment, estimate), effect.as_text()]
    return estimate


def _detectable_effect(plan: Plan, repeats: int) -> DetectableEffect:
    """Return the minimum detectable effect of a plan with this number of repeats."""
    graphs = len({task.graph_digest for task, _ in plan.tasks})
    design = Design(max(1, round(len(plan.tasks) / max(graphs, 1))), repeats, repeats)
    effect = minimum_detectable_effect(graphs, design, assumed_spread(EVEN, EVEN))
    points = None if effect is None else min(100.0, round(100 * effect, 1))
    return DetectableEffect(points, graphs, design.tasks_per_graph, repeats)


def _stratum(planned: PlannedEpisode) -> Stratum:
    facts = planned.graph.instance.facts
    size = [str(facts[name]) for name in ("entry", "n") if name in facts]
    return planned.key.model, planned.key.setting, planned.task.template, " ".join(size)


def _chosen(tasks: list[str], stratum: Stratum, seed: int) -> Iterable[str]:
    """A sample of tasks, the same for all models."""
    draw = stdlib_random(seed, "estimate", *stratum[1:])
    return tasks if len(tasks) <= SAMPLE else draw.sample(tasks, SAMPLE)


def _price(experiment: Experiment, model: str) -> Price | None:
    if per_episode(model):
        return Price(input=0, output=0)
    known = experiment.prices.get(model)
    return None if known is None else known.price


def _of_plan(planned: PlannedEpisode, experiment: Experiment, price: Price | None) -> _Takes | None:
    """Return the figures that the plan has of the expert's walk on a large graph; None where it has none.

    They do not tell repeated input from new, which counts as new here.
    """
    task, graph = planned.task, planned.graph.instance.graph
    expert_plays = can_play(experiment.suite, "scripted/expert", planned.key.setting, task)
    if graph is None or graph.node_count < LARGE or not expert_plays:
        return None
    turns, calls, read, written = (
        task.reference_turns,
        task.reference_calls,
        task.reference_input_tokens,
        task.reference_output_tokens,
    )
    if turns is None or calls is None or read is None or written is None:
        return None
    usd = math.nan if price is None else price.cost(read, 0, written)
    return _Takes(turns, calls, math.nan, read, 0, written, usd, usd, 0, of_plan=1)


def _takes(walk: "ReferenceEpisode", size: Callable[[Message | str], int], price: Price | None) -> _Takes:
    calls = walk.tokens(size)
    usd = usd_uncached = math.nan
    if price is not None:
        cached = [call.repeated if call.repeated >= CACHED_FROM else 0 for call in calls]
        usd_uncached = sum(price.cost(call.new + call.repeated, 0, call.output) for call in calls)
        usd = sum(
            price.cost(call.new + call.repeated - held, held, call.output)
            for call, held in zip(calls, cached, strict=True)
        )
    return _Takes(
        len(calls),
        walk.tool_calls,
        walk.characters,
        sum(call.new for call in calls),
        sum(call.repeated for call in calls),
        sum(call.output for call in calls),
        usd,
        usd_uncached,
        walk.assumed,
    )


def _row(
    model: str, setting: str, parts: Sequence[tuple[int, int, Sequence[_Takes]]], experiment: Experiment
) -> ModelEstimate:
    """Sums over strata: episodes × mean. `parts`: episodes and tasks of a stratum, and what was played of them."""

    def total(name: str) -> float:
        return sum(episodes * fmean(getattr(one, name) for one in takes) for episodes, _, takes in parts)

    def dollars(name: str) -> float | None:
        return None if _price(experiment, model) is None else total(name)

    row = ModelEstimate(model, setting, tokenizer_of(model), sum(episodes for episodes, _, _ in parts))
    row.model_calls, row.tool_calls = round(total("model_calls")), round(total("tool_calls"))
    row.of_plan = round(total("of_plan"))
    row.characters = None if row.of_plan else round(total("characters"))
    row.tokenizer = None if row.of_plan else row.tokenizer
    row.new_tokens, row.repeated_tokens = round(total("new")), round(total("repeated"))
    row.output_tokens = round(total("output"))
    row.usd, row.usd_uncached = dollars("usd"), dollars("usd_uncached")
    row.assumed = round(total("assumed"))
    row.spread = 1.96 * math.sqrt(sum(_variance(*part) for part in parts)) / max(1, row.input_tokens)
    return row


def _variance(episodes: int, tasks: int, takes: Sequence[_Takes]) -> float:
    """Of a stratum's total of input tokens: that of a sample without putting back (Cochran, Sampling Techniques)."""
    if len(takes) == tasks:
        return 0.0
    return episodes**2 * (1 - len(takes) / tasks) * variance(one.new + one.repeated for one in takes) / len(takes)


def _by_template(plan: Plan) -> dict[str, int]:
    counts: dict[str, int] = {}
    for task, _ in plan.tasks:
        counts[task.template] = counts.get(task.template, 0) + 1
    return counts


# Episodes of the expert, recorded call by call: the loop, tools, limits and compaction are those of the experiment.


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model: what was sent, and what came back."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    reply: Message


@dataclass(frozen=True, slots=True)
class CallTokens:
    """Tokens of one call. `repeated` is the beginning that it shares with the call before, which providers may hold
    ready (prompt caching); `new` is the rest of the input.
    """

    new: int
    repeated: int
    output: int


@dataclass(frozen=True)
class ReferenceEpisode:
    """An episode of the expert. `assumed`: no expert plays this, and replies with the target alone stand in for one."""

    calls: tuple[Call, ...]
    tool_calls: int
    assumed: bool

    @cached_property
    def characters(self) -> int:
        """All that is sent, over all calls: contents, calls and tool specifications."""
        return sum(
            len(tools_text(call.tools)) + sum(len(message_text(message)) for message in call.messages)
            for call in self.calls
        )

    def tokens(self, size: Callable[[Message | str], int]) -> list[CallTokens]:
        """Tokens of each call; `size` counts a message, or the text of the tool specifications."""
        counted: list[CallTokens] = []
        before: Sequence[Message] = ()
        for call in self.calls:
            sizes = [size(message) for message in call.messages]
            specs = size(tools_text(call.tools))
            repeated = sum(sizes[: _shared(before, call.messages)]) + (specs if before else 0)
            counted.append(CallTokens(sum(sizes) + specs - repeated, repeated, size(call.reply)))
            before = call.messages
        return counted


def sizes_for(model: str | None) -> Callable[[Message | str], int]:
    """Counts as `count_tokens` does for a model, and what many episodes share only once."""

    @lru_cache(maxsize=_REMEMBERED)
    def size(part: Message | str) -> int:
        return count_tokens(part, model)[0] if isinstance(part, str) else count_messages((part,), model)

    return size


class ReferenceEpisodes:
    """Plays the episodes of an experiment, each task and setting once, by the first expert that can."""

    def __init__(self, experiment: Experiment, experts: Sequence[str] = EXPERTS) -> None:
        self._experiment, self._experts = experiment, experts
        protocol = experiment.agent.tool_protocol
        self._text = None if protocol == "native" else TextProtocol(protocol, experiment.agent.texts)
        self._walks: dict[tuple[str, str], ReferenceEpisode] = {}

    async def of(self, planned: PlannedEpisode) -> ReferenceEpisode:
        """The walk of an episode, whoever its model is. StoreError where the graph or a tool fails."""
        key = planned.key.task_id, planned.key.setting
        if key not in self._walks:
            self._walks[key] = await self._play(planned)
        return self._walks[key]

    async def _play(self, planned: PlannedEpisode) -> ReferenceEpisode:
        experiment = self._experiment
        setting, task = planned.key.setting, planned.task
        suite = experiment.suite
        able = (e for e in self._experts if e in suite.agents.names and can_play(suite, f"scripted/{e}", setting, task))
        expert = next(able, None)
        limit = experiment.agent.turn_limit or experiment.suite.turn_limit
        model: Model = await planned.scripted(expert, experiment) if expert else _Target(task, limit)
        listener = _Recorder(model, self._text)
        walk = Episode(await planned.setup(experiment), listener, experiment.agent, experiment.options)
        try:
            trajectory = await run_episode(walk)
        finally:
            await model.close()
        if trajectory.exit_status is ExitStatus.STORE_ERROR:
            raise StoreError(f"the expert cannot walk {task.task_id}: {trajectory.error}")
        return ReferenceEpisode(tuple(listener.calls), len(trajectory.results), assumed=expert is None)


class _Recorder:
    """Writes down what a model is sent, in the form in which it is sent, and what it says."""

    def __init__(self, inner: Model, text: TextProtocol | None) -> None:
        self.name = inner.name
        self.calls: list[Call] = []
        self._inner, self._text = inner, text

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = await self._inner.complete(messages, tools, options)
        sent, specs = messages, tools
        if self._text is not None:
            sent, specs, _ = self._text.outgoing(messages, tools, options)
        self.calls.append(Call(tuple(sent), tuple(specs), reply.message))
        return reply

    async def close(self) -> None: ...


class _Target:
    """Answers every request with the target and nothing else, for at most so many turns."""

    def __init__(self, task: Task, turns: int) -> None:
        self.name = "target"
        self._answer = json.dumps(task.gold, ensure_ascii=False, default=str)
        self._left = turns

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        if self._left == 0:
            raise ModelError("the dialogue is longer than the turn limit")
        self._left -= 1
        return Reply(Message("assistant", self._answer))

    async def close(self) -> None: ...


def _shared(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages both begin with."""
    pairs = zip(before, now, strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(before), len(now)))
