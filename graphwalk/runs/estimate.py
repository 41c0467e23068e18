"""What a run would do and cost, without calling a model."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from graphwalk.config.calls import Price
from graphwalk.models.tokens import tokenizer_of
from graphwalk.runs.assumptions import assumptions
from graphwalk.runs.dry_run import Estimate, ModelEstimate
from graphwalk.runs.experiment import Experiment, can_play, per_episode
from graphwalk.runs.graph_sources import GraphSources
from graphwalk.runs.par_walk import ParWalk, ParWalks, sizes_for
from graphwalk.runs.plan import Plan, PlannedEpisode, make_plan
from graphwalk.runs.power import detectable_effect
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import Database
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.task_cache import LARGE
from graphwalk.types.chat import Message

PLAYED_WHOLE = 600
"""Plans with so many pairs of task and setting are played whole; of larger ones a sample is."""
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
    walks, sizes = ParWalks(experiment), {model: sizes_for(model) for model in experiment.models}
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
    effect = detectable_effect(plan, experiment.config.repeats)
    prices = dict(experiment.prices)
    estimate = Estimate(experiment.config.name, _by_template(plan), estimates, prices, len(played), len(pairs), effect)
    estimate.notes += [*plan.notes(), *assumptions(experiment, estimate), effect.as_text()]
    return estimate


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
    turns, calls, read, written = task.par_turns, task.par_calls, task.par_input_tokens, task.par_output_tokens
    if turns is None or calls is None or read is None or written is None:
        return None
    usd = math.nan if price is None else price.cost(read, 0, written)
    return _Takes(turns, calls, math.nan, read, 0, written, usd, usd, 0, of_plan=1)


def _takes(walk: ParWalk, size: Callable[[Message | str], int], price: Price | None) -> _Takes:
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
