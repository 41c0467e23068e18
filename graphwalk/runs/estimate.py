"""Estimate calls, tokens and cost of a run (`--dry-run`): play the expert's episodes without calling a model.

The agent loop runs with the tools, limits and compaction of the experiment, and the scripted expert replaces the
model. Its requests and replies are those of a model that makes the expert's calls without reasoning.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from itertools import takewhile
from statistics import fmean, variance
from typing import Any

from graphwalk.agent import Episode, run_episode
from graphwalk.config.calls import Price
from graphwalk.errors import ModelError, StoreError
from graphwalk.evaluation.power import Design, assumed_spread, minimum_detectable_effect
from graphwalk.models.base import Model
from graphwalk.models.prices import KnownPrice
from graphwalk.models.text_protocol import TextProtocol
from graphwalk.models.tokens import RULE_ERROR, count_messages, count_tokens, message_text, tokenizer_of, tools_text
from graphwalk.reports.text_table import OVER_QUESTIONS
from graphwalk.runs.experiment import Experiment, can_play, per_episode
from graphwalk.runs.graph_sources import GraphSources
from graphwalk.runs.plan import PlannedEpisode, make_plan
from graphwalk.seeds import stdlib_random
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.episode import ExitStatus, Task

LARGE = 2_000
"""Minimum nodes of a graph about which no episode is played: the figures of the plan are used."""
PLAYED_WHOLE = 600
"""Pairs of task and setting up to which a plan is played whole; of larger plans a sample is played."""
EVEN = 0.5
"""The accuracy assumed before there are data; the minimum detectable effect is largest there."""
SAMPLE = 6
"""Sampled tasks per template, size and setting of a larger plan."""
CACHED_FROM = 1024
"""Tokens from which providers cache the beginning of a call (documentation of OpenAI and Anthropic)."""
EXPERTS = ("expert", "cypher")
"""Scripted agents that play without mistakes, each in its own settings."""
Stratum = tuple[str, str, str, str]
"""Model, setting, template, size: episodes of about the same length."""


@dataclass
class ModelEstimate:
    """Sums over all episodes of one model in one setting, assuming the expert's calls and no reasoning.

    `new_tokens` and `repeated_tokens` are input; a conversation sends repeated tokens again. `usd` prices repeated
    input as cached where providers cache it, `usd_uncached` as new; None: unknown. `spread` is the half width of the
    95 % interval of the input tokens relative to them, 0 if all episodes were played.
    """

    model: str
    setting: str
    tokenizer: str | None
    """None: tokens are estimated by a rule (`graphwalk.models.tokens`)."""
    episodes: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    characters: int | None = None
    """None: unknown for episodes with figures of the plan."""
    new_tokens: int = 0
    repeated_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    usd_uncached: float | None = None
    spread: float = 0.0
    assumed: int = 0
    """Episodes without an expert; replies are the target alone."""
    of_plan: int = 0
    """Episodes on large graphs with figures of the plan: tokens by the rule, all input new."""

    @property
    def input_tokens(self) -> int:
        return self.new_tokens + self.repeated_tokens


@dataclass(frozen=True)
class DetectableEffect:
    """The minimum detectable effect of a plan: a difference of two accuracies, in points, at power 80 % and α 5 %.

    Both accuracies are assumed to be about one half, correlations as in `assumed_spread`. With one graph it is over the
    questions of this graph. `points` is None if there is only one question.
    """

    points: float | None
    graphs: int
    tasks_per_graph: int
    repeats: int

    def as_text(self) -> str:
        if self.points is None:
            return "No difference between players can be detected: there is only one question."
        points = f"{self.points:.{0 if self.points >= 10 else 1}f}"
        size = f"{self.graphs} graphs × {self.tasks_per_graph} tasks"
        if self.graphs == 1:
            size = f"{OVER_QUESTIONS}: {self.tasks_per_graph}"
        return (
            f"Minimum detectable effect: {points} points between two players, at accuracies near 50 % "
            f"({size} × {self.repeats}; power 80 %): graphwalk power"
        )


@dataclass
class Estimate:
    """The estimate of a dry run, a lower bound. `rows` has one entry per model and setting.

    `played` of `pairs` pairs of task and setting were played. `notes` are the assumptions, one line each.
    """

    experiment: str
    tasks: dict[str, int]
    rows: list[ModelEstimate]
    prices: dict[str, KnownPrice]
    played: int
    pairs: int
    minimum_detectable_effect: DetectableEffect
    """The smallest difference between two models that the plan can show."""
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> str:
        rows = [{**asdict(row), "input_tokens": row.input_tokens} for row in self.rows]
        prices = {model: price.model_dump(mode="json") for model, price in self.prices.items()}
        return json.dumps({**asdict(self), "rows": rows, "prices": prices}, indent=2)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model: the request and the reply."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    reply: Message


@dataclass(frozen=True)
class ExpertEpisode:
    """An episode of the expert. `assumed`: there is no expert, and each reply is the target alone."""

    calls: tuple[Call, ...]
    tool_calls: int
    assumed: bool


class ExpertEpisodes:
    """Episodes of an experiment, each task and setting played once, by the first expert that can."""

    def __init__(self, experiment: Experiment, experts: Sequence[str] = EXPERTS) -> None:
        self._experiment, self._experts = experiment, experts
        protocol = experiment.agent.tool_protocol
        self._text = None if protocol == "native" else TextProtocol(protocol, experiment.agent.texts)
        self._played: dict[tuple[str, str], ExpertEpisode] = {}

    async def of(self, planned: PlannedEpisode) -> ExpertEpisode:
        """Return the expert's episode of the same task and setting. Raise StoreError if graph or tool fails."""
        key = planned.key.task_id, planned.key.setting
        if key not in self._played:
            self._played[key] = await self._play(planned)
        return self._played[key]

    async def _play(self, planned: PlannedEpisode) -> ExpertEpisode:
        experiment = self._experiment.of(planned.key.setting)
        suite = experiment.suite
        setting, task = planned.key.setting, planned.task
        able = (e for e in self._experts if e in suite.agents.names and can_play(suite, f"scripted/{e}", setting, task))
        expert = next(able, None)
        target = _TargetModel(task, experiment.agent.turn_limit or suite.turn_limit)
        model: Model = await planned.scripted(expert, experiment) if expert else target
        recording = _RecordingModel(model, self._text)
        episode = Episode(await planned.setup(experiment), recording, experiment.agent, experiment.options)
        try:
            trajectory = await run_episode(episode)
        finally:
            await model.close()
        if trajectory.exit_status is ExitStatus.STORE_ERROR:
            raise StoreError(f"the expert cannot play {task.task_id}: {trajectory.error}")
        return ExpertEpisode(tuple(recording.calls), len(trajectory.results), assumed=expert is None)


class _RecordingModel:
    """A model that records each request, in the form in which it is sent, and the reply."""

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


class _TargetModel:
    """A model that answers each request with the target, for a number of turns."""

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


async def estimate_run(experiment: Experiment) -> Estimate:
    """Make the tasks on the embedded engine, play the expert's episodes, and sum up calls, tokens and cost.

    Figures of episodes on large graphs come from the plan. Raise StoreError if a tool fails.
    """
    plan = await make_plan(experiment, GraphSources(), lambda tasks: None)
    strata: dict[Stratum, list[PlannedEpisode]] = defaultdict(list)
    for planned in plan.episodes:
        facts = planned.graph.instance.facts
        size = " ".join(str(facts[name]) for name in ("entry", "n") if name in facts)
        strata[planned.key.model, planned.key.setting, planned.task.template, size].append(planned)
    pairs = {(planned.key.task_id, planned.key.setting) for planned in plan.episodes}
    expert = ExpertEpisodes(experiment)
    counters = {tokenizer_of(model): token_counter(model) for model in experiment.models}
    rows: dict[tuple[str, str], list[tuple[int, int, Sequence[_Figures]]]] = defaultdict(list)
    played: set[tuple[str, str]] = set()
    for stratum, episodes in strata.items():
        by_task = {planned.key.task_id: planned for planned in episodes}
        tasks = list(by_task)
        if len(pairs) > PLAYED_WHOLE and len(tasks) > SAMPLE:  # the same tasks for all models
            tasks = stdlib_random(experiment.config.seed, "estimate", *stratum[1:]).sample(tasks, SAMPLE)
        played |= {(task, stratum[1]) for task in tasks}
        counter, price = counters[tokenizer_of(stratum[0])], _price(experiment, stratum[0])
        figures = [
            _of_plan(by_task[task], experiment, price) or _figures(await expert.of(by_task[task]), counter, price)
            for task in tasks
        ]
        rows[stratum[:2]].append((len(episodes), len(by_task), figures))
    by_template = Counter(task.template for task, _ in plan.tasks)
    estimates = [_row(model, setting, parts, experiment) for (model, setting), parts in rows.items()]
    graphs, repeats = len({task.graph_digest for task, _ in plan.tasks}), experiment.config.repeats
    design = Design(max(1, round(len(plan.tasks) / max(graphs, 1))), repeats, repeats)
    if graphs == 1:
        spread = assumed_spread(EVEN, EVEN, graph_correlation=0.0)
        smallest = minimum_detectable_effect(len(plan.tasks), replace(design, tasks_per_graph=1), spread)
    else:
        smallest = minimum_detectable_effect(graphs, design, assumed_spread(EVEN, EVEN))
    points = None if smallest is None else min(100.0, round(100 * smallest, 1))
    effect = DetectableEffect(points, graphs, design.tasks_per_graph, repeats)
    prices = dict(experiment.prices)
    estimate = Estimate(experiment.config.name, dict(by_template), estimates, prices, len(played), len(pairs), effect)
    estimate.notes += [*plan.notes(), *_assumptions(experiment, estimate), effect.as_text()]
    return estimate


def token_counter(model: str | None) -> Callable[[Message | str], int]:
    """Return a cached function that counts the tokens of a text or message for a model."""

    @cache
    def size(part: Message | str) -> int:
        return count_tokens(part, model)[0] if isinstance(part, str) else count_messages((part,), model)

    return size


@dataclass
class _Figures:
    """Figures of one episode by the names of `ModelEstimate`; NaN: unknown."""

    model_calls: float
    tool_calls: float
    characters: float = 0
    new_tokens: float = 0
    repeated_tokens: float = 0
    output_tokens: float = 0
    usd: float = 0.0
    usd_uncached: float = 0.0
    assumed: float = 0
    of_plan: float = 0


def _price(experiment: Experiment, model: str) -> Price | None:
    if per_episode(model):
        return Price(input=0, output=0)
    known = experiment.prices.get(model)
    return None if known is None else known.price


def _of_plan(planned: PlannedEpisode, experiment: Experiment, price: Price | None) -> _Figures | None:
    """Return the plan's figures of the expert's episode on a large graph, with all input new; None without any."""
    task, graph = planned.task, planned.graph.instance.graph
    expert_plays = can_play(experiment.suite, "scripted/expert", planned.key.setting, task)
    if graph is None or graph.node_count < LARGE or not expert_plays:
        return None
    turns, calls = task.reference_turns, task.reference_calls
    read, written = task.reference_input_tokens, task.reference_output_tokens
    if turns is None or calls is None or read is None or written is None:
        return None
    usd = math.nan if price is None else price.cost(read, 0, written)
    return _Figures(turns, calls, math.nan, read, 0, written, usd, usd, of_plan=1)


def _figures(episode: ExpertEpisode, size: Callable[[Message | str], int], price: Price | None) -> _Figures:
    """Sum up the calls of an episode. Repeated input is the beginning that a call shares with the previous one.

    `size` counts the tokens of a message, or of the text of the tool specifications.
    """
    sums = _Figures(len(episode.calls), episode.tool_calls, assumed=episode.assumed)
    before: Sequence[Message] = ()
    for call in episode.calls:
        specs = tools_text(call.tools)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(before, call.messages, strict=False))
        repeated = sum(size(message) for _, message in same) + (size(specs) if before else 0)
        read, written = sum(map(size, call.messages)) + size(specs), size(call.reply)
        cached = repeated if repeated >= CACHED_FROM else 0
        sums.characters += len(specs) + sum(len(message_text(message)) for message in call.messages)
        sums.new_tokens += read - repeated
        sums.repeated_tokens += repeated
        sums.output_tokens += written
        sums.usd += math.nan if price is None else price.cost(read - cached, cached, written)
        sums.usd_uncached += math.nan if price is None else price.cost(read, 0, written)
        before = call.messages
    return sums


def _row(
    model: str, setting: str, parts: Sequence[tuple[int, int, Sequence[_Figures]]], experiment: Experiment
) -> ModelEstimate:
    """Sum up strata: episodes × mean. `parts`: number of episodes and of tasks, and figures of played episodes."""

    def total(name: str) -> float:
        return sum(episodes * fmean(getattr(one, name) for one in played) for episodes, _, played in parts)

    def stratum_variance(episodes: int, tasks: int, played: Sequence[_Figures]) -> float:
        """Return the variance of total input tokens, sampled without replacement (Cochran, Sampling Techniques)."""
        if len(played) == tasks:
            return 0.0
        read = variance(one.new_tokens + one.repeated_tokens for one in played)
        return episodes**2 * (1 - len(played) / tasks) * read / len(played)

    totals = {each.name: total(each.name) for each in fields(_Figures)}
    known: dict[str, Any] = {name: value for name, value in totals.items() if not math.isnan(value)}
    row = ModelEstimate(
        model,
        setting,
        tokenizer=None if totals["of_plan"] else tokenizer_of(model),
        episodes=sum(episodes for episodes, _, _ in parts),
        **{name: value if name.startswith("usd") else round(value) for name, value in known.items()},
    )
    row.spread = 1.96 * math.sqrt(sum(stratum_variance(*part) for part in parts)) / max(1, row.input_tokens)
    return row


def _assumptions(experiment: Experiment, estimate: Estimate) -> Iterator[str]:
    """Yield the assumptions of the estimate that matter for this plan, in one line each."""
    real = [row for row in estimate.rows if not per_episode(row.model)]
    yield "Lower bound: assumes the expert's calls and no reasoning tokens."
    yield from _reference_calls(experiment, estimate)
    if estimate.played < estimate.pairs:
        worst = max(row.spread for row in estimate.rows)
        yield (
            f"{estimate.played} of {estimate.pairs} pairs of task and setting were played; input tokens of all: "
            f"± {100 * worst:.1f} % (95 %)."
        )
    if any(row.assumed for row in estimate.rows):
        yield "Without an expert (no tools, own questions) each reply is assumed to be the target alone."
    if any(row.of_plan for row in estimate.rows):
        yield (
            f"Graphs of {LARGE:,} nodes and more: figures of the plan, with the default prompt and results as JSON; "
            "all input counts as new, so that their cost is an upper bound."
        )
    if any(row.tokenizer is None for row in real):
        yield f"Tokens of models without a known tokenizer are estimated: ± {100 * RULE_ERROR:.0f} % (docs/running.md)."
    if any(row.repeated_tokens and row.usd is not None for row in real):
        yield "Repeated input (sent again in a conversation) is priced as cached from 1,024 tokens on."
    if any(row.usd is None for row in real):
        yield "Cost unknown: give prices, for example -o 'prices={MODEL: {input: 0.4, output: 1.6}}'."
    words = experiment.suite.presentation.abbreviations
    if named := [f"{name}: {words[name]}" for name in experiment.config.settings if name in words]:
        yield f"{'; '.join(named)}."
    if "summary" in {one.agent.compaction for one in (*experiment.variants.values(), experiment)}:
        yield "The expert answers when a conversation is first summarised; models continue."
    if experiment.extractor is not None:
        yield f"Calls of the extractor {experiment.extractor} are not included: they depend on the replies."


def _reference_calls(experiment: Experiment, estimate: Estimate) -> Iterator[str]:
    """Yield the tool calls of the models in the published reference, relative to the expert's."""
    rows = [row for row in estimate.rows if row.tool_calls]
    reference = experiment.reference
    if reference is None or not rows:
        return
    of_expert = rows[0].tool_calls / rows[0].episodes
    per_question = {}
    for row in reference.rows:
        calls = row.get("calls_per_question") or (row.get("tool_calls") or 0) / row["questions"]
        if calls:
            per_question[row["model"]] = calls / of_expert
    if per_question:
        least, most = (choose(per_question, key=lambda model: per_question[model]) for choose in (min, max))
        yield (
            f"Tool calls of the paper's models: {per_question[least]:.1f} ({least}) to {per_question[most]:.1f} "
            f"({most}) times the expert's {of_expert:.1f} a question."
        )
