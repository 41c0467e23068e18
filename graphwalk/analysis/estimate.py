"""Play the scripted expert like a model: what a run would cost (`--dry-run`), what can be solved (`--check-setup`)."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, run_episode
from graphwalk.analysis.report.rows import Contestant
from graphwalk.analysis.report.verdict import is_primary
from graphwalk.analysis.statistics import ALPHA, least_p_value, lower_bound_in_words, units_needed
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.errors import ModelError, StoreError, counted
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolSpec, Usage, Wrapper
from graphwalk.models.prices import KnownPrice
from graphwalk.models.protocols import TextProtocol, protocol_of
from graphwalk.models.scripted import Policy, ScriptedModel
from graphwalk.models.tokens import RULE_ERROR, count_messages, count_tokens, tools_text
from graphwalk.models.trajectory import ExitStatus, ToolResult
from graphwalk.runs.context_window import window_warnings
from graphwalk.runs.plan import Plan, PlannedEpisode, make_plan
from graphwalk.runs.record import judge
from graphwalk.runs.resolve import ResolvedExperiment, can_play, per_episode
from graphwalk.seeds import stdlib_random
from graphwalk.stores.open import OpenGraphs
from graphwalk.suites.reference import CachedTools
from graphwalk.suites.setting import Setting
from graphwalk.tools.schema_text import schema_fits

EXPERTS = ("expert", "cypher")
"""Scripted agents that play without mistakes, each in its own settings."""
SAMPLE = 24
"""Largest number of tasks that the expert plays for an estimate, in each setting."""


@dataclass(frozen=True)
class _Setup:
    """A setting with what the expert's episodes in it depend on.

    `window`: context window that a model's server reports. `priced_as`: the model whose price counts towards
    `limits.episode_usd`; None without this limit, and for a model without a known price.
    """

    setting: Setting
    window: int | None
    priced_as: str | None


@dataclass(frozen=True, kw_only=True)
class ModelEstimate:
    """The episodes of one model in one setting, assuming the expert's calls and no reasoning; `usd` None: no price.

    `new_tokens` and `repeated_tokens` are input; a conversation sends repeated tokens again, priced as cached.
    """

    model: str
    setting: str
    episodes: int
    model_calls: int
    tool_calls: int
    new_tokens: int
    repeated_tokens: int
    output_tokens: int
    usd: float | None


@dataclass(frozen=True)
class RunEstimate:
    """The estimate of a dry run, a lower bound. `rows` has one entry per model and setting, `notes` its assumptions."""

    experiment: str
    tasks: Mapping[str, int]
    rows: Sequence[ModelEstimate]
    prices: Mapping[str, KnownPrice]
    notes: Sequence[str]

    def as_json(self) -> str:
        fields = dict(vars(self))
        fields["rows"] = [vars(row) for row in self.rows]
        fields["prices"] = {model: price.model_dump(mode="json") for model, price in self.prices.items()}
        return json.dumps(fields, indent=2)


class _ExpertModel(Wrapper):
    """A scripted agent with the context window and the reply limit of a run, in tokens by our rule.

    Requests are counted in the form in which a model would be sent them. Repeated input is the beginning that a request
    shares with the previous one.
    """

    def __init__(
        self, inner: Model, protocol: TextProtocol | None, window: int | None, price: KnownPrice | None
    ) -> None:
        super().__init__(inner)
        self._protocol = protocol
        self._window = window
        self._price = price
        self.counts: Counter[str] = Counter()
        self._before: Sequence[Message] = ()

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Raise ModelError for an overflow of the window, by the request alone or with the reply."""
        reply = _within(options.max_output_tokens, await self.inner.complete(messages, tools, options))
        if self._protocol is not None:
            messages, tools, _ = self._protocol.outgoing(messages, tools, options)
        specs = _size(tools_text(tools))
        sent = specs + sum(_size(message) for message in messages)
        repeated = self._repeated(messages, specs)
        written = _size(reply.message)
        self.counts.update(
            model_calls=1,
            new_tokens=sent - repeated,
            repeated_tokens=repeated,
            output_tokens=written,
        )
        self._before = tuple(messages)
        cost = None
        if self._price is not None:
            cost = self._price.price.cost(sent - repeated, repeated, written)
        reply = replace(reply, usage=Usage(sent, written, cached_tokens=repeated, cost=cost))
        if self._window is not None and sent + written > self._window:
            raise ModelError(f"{sent + written} tokens exceed the context window", context_overflow=True)
        if options.max_output_tokens is not None and written > options.max_output_tokens:
            text = (reply.message.content or "")[: options.max_output_tokens]
            return replace(reply, message=replace(reply.message, content=text), finish_reason="length")
        return reply

    def _repeated(self, messages: Sequence[Message], specs: int) -> int:
        """Return the tokens of the beginning that a request shares with the previous one; `specs`: of its tools."""
        if not self._before:
            return 0
        tokens = specs
        for earlier, message in zip(self._before, messages, strict=False):
            if earlier != message:
                break
            tokens += _size(message)
        return tokens


def _within(limit: int | None, reply: Reply) -> Reply:
    """Return the reply with as many of its tool calls as fit into `limit` tokens; a scripted agent repeats the rest."""
    message = reply.message
    while limit is not None and len(message.tool_calls) > 1 and _size(message) > limit:
        message = replace(message, tool_calls=message.tool_calls[:-1])
    return replace(reply, message=message)


@lru_cache(maxsize=1_000)
def _size(part: Message | str) -> int:
    """Return the tokens of a message, or of the text of tool specifications."""
    return count_tokens(part) if isinstance(part, str) else count_messages((part,))


@dataclass(frozen=True)
class ExpertEpisode:
    """Requests, tokens and tool calls of an episode. `expert` is False where none can play: the reply is the target."""

    counts: Mapping[str, int]
    expert: bool
    correct: bool | None
    """None if not judged, without an expert, and with a schema cut to `agent.schema_tokens`, which it does not read."""


async def _play_expert(
    planned: PlannedEpisode,
    experiment: ResolvedExperiment,
    setup: _Setup,
    results: dict[tuple[str, str], ToolResult],
    judged: bool,
) -> ExpertEpisode:
    """Play an episode with the first expert that can, within the limits of the run. StoreError if a tool fails.

    The smaller one of the window that a server reports and `limits.context_tokens` holds.
    """
    task = planned.task
    experiment = experiment.of(planned.key.setting)
    limits = experiment.config.limits
    agent = experiment.config.agent

    scripted: Model
    expert = _expert_for(planned, experiment)
    if expert is None:
        scripted = ScriptedModel("target", _answer(json.dumps(task.target, ensure_ascii=False, default=str)))
    else:
        scripted = await planned.scripted(expert, experiment)
    # The smaller one holds, of those that are known.
    windows = [tokens for tokens in (setup.window, limits.context_tokens) if tokens]
    price = None if setup.priced_as is None else experiment.prices[setup.priced_as]
    model = _ExpertModel(scripted, protocol_of(agent), min(windows, default=None), price)

    prompt = await planned.prompt(experiment)
    if prompt.toolbox is not None:
        prompt = replace(prompt, toolbox=CachedTools(prompt.toolbox, results))
    trajectory = await run_episode(Episode(Conversation(prompt, agent, limits), model, experiment.options))
    await model.close()
    if trajectory.exit_status is ExitStatus.STORE_ERROR:
        raise StoreError(f"the expert cannot play {task.task_id}: {trajectory.error}")

    about = planned.graph.about
    correct = None
    if judged and expert is not None and (about.store is None or schema_fits(await about.schema(agent), agent)):
        _, score = judge(task, trajectory, None, experiment.config.scoring)
        correct = bool(score and score["correct"])
    counts = {**model.counts, "tool_calls": len(trajectory.results)}
    return ExpertEpisode(counts, expert is not None, correct)


def _expert_for(planned: PlannedEpisode, experiment: ResolvedExperiment) -> str | None:
    """Return the name of the first expert that can play an episode; None if there is none."""
    for name in EXPERTS:
        is_there = name in experiment.suite.scripted_agents
        if is_there and can_play(experiment.suite, f"scripted/{name}", planned.key.setting.name, planned.task):
            return name
    return None


def _setup_of(
    experiment: ResolvedExperiment, model: str, setting: Setting, windows: Mapping[str, int | None]
) -> _Setup:
    counts_dollars = experiment.config.limits.episode_usd is not None and model in experiment.prices
    return _Setup(setting, windows.get(model), priced_as=model if counts_dollars else None)


def _answer(text: str) -> Policy:
    """Reply with a text, without a call."""
    yield from ()
    return text


async def _play_experts(
    experiment: ResolvedExperiment,
    windows: Mapping[str, int | None],
    most: int | None = None,
    *,
    judged: bool,
    done: Callable[[], object] = lambda: None,
) -> tuple[Plan, dict[_Setup, list[ExpertEpisode]]]:
    """Return the plan, and by setup the expert's episodes of all tasks, or of a random sample of at most `most`.

    `windows`: context window by model, as its server reports it. Nothing is loaded into a server. `done` is called
    after each episode.
    """
    async with OpenGraphs(experiment.variables) as graphs:
        plan = await make_plan(experiment, graphs, lambda tasks: None)
        played: dict[_Setup, list[ExpertEpisode]] = defaultdict(list)
        for setup, episodes in _episodes_by_setup(experiment, plan, windows).items():
            if most is not None and len(episodes) > most:
                episodes = stdlib_random(experiment.config.seed, "estimate").sample(episodes, most)
            graph = None
            results: dict[tuple[str, str], ToolResult] = {}
            for planned in episodes:
                # The results of tools are those of one graph.
                if planned.graph is not graph:
                    graph = planned.graph
                    results = {}
                played[setup].append(await _play_expert(planned, experiment, setup, results, judged))
                done()
                await asyncio.sleep(0)
    return plan, played


def _episodes_by_setup(
    experiment: ResolvedExperiment, plan: Plan, windows: Mapping[str, int | None]
) -> dict[_Setup, list[PlannedEpisode]]:
    """Return one episode of each task in each setup; models with the same window and no price share a setup."""
    by_setup: dict[_Setup, dict[str, PlannedEpisode]] = defaultdict(dict)
    for planned in plan.episodes:
        setup = _setup_of(experiment, planned.key.model, planned.key.setting, windows)
        by_setup[setup].setdefault(planned.key.task_id, planned)
    return {setup: list(by_task.values()) for setup, by_task in by_setup.items()}


async def check_setup(
    experiment: ResolvedExperiment, windows: Mapping[str, int], done: Callable[[], object] = lambda: None
) -> dict[str, tuple[int, int] | None]:
    """Return for each setting how many tasks the expert solves, and of how many; None if it cannot play them.

    `windows`: context window by model, as its server reports it. The smallest holds, and the highest price. `done` is
    called after each episode. Raise StoreError if a tool fails.
    """
    smallest = dict.fromkeys(experiment.models, min(windows.values(), default=None))
    _, played = await _play_experts(experiment, smallest, judged=True, done=done)
    # {"tools": [(36, 36), (30, 36)], "no_tools": [None]}: a setup for each price that `limits.episode_usd` counts.
    solved_by_setups: dict[str, list[tuple[int, int] | None]] = defaultdict(list)
    for setup, episodes in played.items():
        right_of_all = None
        if all(one.correct is not None for one in episodes):
            right_of_all = (sum(bool(one.correct) for one in episodes), len(episodes))
        solved_by_setups[str(setup.setting)].append(right_of_all)

    # The dearest model solves the fewest: {"tools": (30, 36), "no_tools": None}.
    solved: dict[str, tuple[int, int] | None] = {}
    for setting, of_setups in solved_by_setups.items():
        of_judged = [right_of_all for right_of_all in of_setups if right_of_all is not None]
        solved[setting] = min(of_judged) if len(of_judged) == len(of_setups) else None
    return solved


async def estimate_run(experiment: ResolvedExperiment, windows: Mapping[str, int]) -> RunEstimate:
    """Play the expert on a sample of the tasks, and sum up calls, tokens and cost. StoreError if a tool fails.

    `windows`: context window by model, as its server reports it.
    """
    plan, played = await _play_experts(experiment, windows, SAMPLE, judged=False)
    rows = []
    for contestant, number in Counter(_contestant(planned) for planned in plan.episodes).items():
        episodes = played[_setup_of(experiment, contestant.model, contestant.setting, windows)]
        rows.append(_estimate_of(contestant, number, episodes, experiment))

    notes = list(window_notes(windows))
    notes += [f"{warning}." for warning in await window_warnings(experiment, plan, windows)]
    notes += plan.notes()
    notes += _significance(experiment, plan)
    notes += _assumptions(experiment, rows, played, len(plan.tasks))
    tasks = Counter(task.template for task, _ in plan.tasks)
    return RunEstimate(experiment.config.name, tasks, rows, dict(experiment.prices), notes)


def _contestant(planned: PlannedEpisode) -> Contestant:
    return Contestant(planned.key.model, planned.key.setting)


def _estimate_of(
    contestant: Contestant, number: int, played: Sequence[ExpertEpisode], experiment: ResolvedExperiment
) -> ModelEstimate:
    """Return the estimate of a number of episodes from those that the expert has played."""
    total: Counter[str] = Counter()
    for episode in played:
        total.update(episode.counts)
    # {"model_calls": 432, "new_tokens": 61000, …} of all episodes, from the average of those that were played
    counts = {name: round(number * count / len(played)) for name, count in total.items()}

    usd = None
    price = experiment.prices.get(contestant.model)
    if per_episode(contestant.model):
        usd = 0.0
    elif price is not None:
        usd = price.price.cost(counts["new_tokens"], counts["repeated_tokens"], counts["output_tokens"])
    return ModelEstimate(model=contestant.model, setting=str(contestant.setting), episodes=number, usd=usd, **counts)


def _significance(experiment: ResolvedExperiment, plan: Plan) -> Iterator[str]:
    """Yield whether the primary comparison, or without one any pair of contestants, can be significant after Holm."""
    settings = experiment.config.primary
    units = _units_of_pairs(experiment, plan)
    family = f"Primary comparison {' against '.join(settings)}" if settings else "All pairs of contestants"
    if not units:
        if settings:
            yield f"{family}: no model plays both settings."
        return

    most, unit = max(units)
    p_least = min(1.0, len(units) * least_p_value(most))
    if len(units) > 1:
        family += f" ({counted(len(units), 'comparison')})"
    size = counted(most, unit)
    if unit == "question":
        size += " of one graph"
    holm = f"p ≥ {lower_bound_in_words(p_least)} after Holm"
    if p_least <= ALPHA:
        yield f"{family}: {size} can show a difference ({holm})."
    else:
        needed = units_needed(ALPHA / len(units))
        yield f"{family}: cannot be significant with {size} ({holm}); it takes {needed}."


def _units_of_pairs(experiment: ResolvedExperiment, plan: Plan) -> list[tuple[int, str]]:
    """Return the number of common graphs, or of questions about one graph, of each pair that is compared.

    These are the pairs of the primary comparison, or all without one: [(10, "graph"), (12, "question")].
    """
    cluster = analysis_of(experiment.suite).report().cluster
    cluster_of = {task.task_id: cluster(task.task_id, task.model_dump(mode="json")) for task, _ in plan.tasks}
    clusters: dict[Contestant, set[tuple[str, str]]] = defaultdict(set)
    for planned in plan.episodes:
        clusters[_contestant(planned)].add(cluster_of[planned.key.task_id])

    units = []
    primary = experiment.config.primary
    for first, second in combinations(clusters, 2):
        common = clusters[first] & clusters[second]
        if common and (primary is None or is_primary(first, second, primary)):
            units.append(_units(common))
    return units


def _units(clusters: Collection[tuple[str, str]]) -> tuple[int, str]:
    """Return the number of graphs, or of questions about one graph."""
    graphs = {graph for graph, _ in clusters}
    if len(graphs) > 1:
        return len(graphs), "graph"
    questions = {question for _, question in clusters}
    return len(questions), "question"


def window_notes(windows: Mapping[str, int]) -> Iterator[str]:
    """Yield a line about the context window of each model."""
    for model, tokens in windows.items():
        yield f"Context window of {model}, as its server reports it: {tokens:,} tokens."


def _assumptions(
    experiment: ResolvedExperiment,
    rows: Sequence[ModelEstimate],
    played: Mapping[_Setup, Sequence[ExpertEpisode]],
    tasks: int,
) -> Iterator[str]:
    """Yield the assumptions of the estimate that matter for this plan, in one line each."""
    real = [row for row in rows if not per_episode(row.model)]
    episodes = chain.from_iterable(played.values())
    yield "Lower bound: assumes the expert's calls and no reasoning tokens."
    if tasks > SAMPLE:
        yield f"Estimated from {SAMPLE} of {tasks} tasks, which the expert has played."
    if not all(episode.expert for episode in episodes):
        yield "Without an expert (no tools, own questions) each reply is assumed to be the target alone."
    if real:
        yield f"Tokens are estimated by a rule: ± {100 * RULE_ERROR:.0f} % (docs/running.md)."
    if any(row.repeated_tokens and row.usd is not None for row in real):
        yield "Repeated input (sent again in a conversation) is priced as cached."
    if any(row.usd is None for row in real):
        yield "Cost unknown: give prices, for example -o 'prices={MODEL: {input: 0.4, output: 1.6}}'."
    if experiment.extractor is not None:
        yield f"Calls of the extractor {experiment.extractor} are not included: they depend on the replies."
