"""What a run would do and cost, without running it."""

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from graphwalk.experiments.config import AnyExperiment
from graphwalk.runner.plan import Plan, make_plan
from graphwalk.runner.resolve import Experiment
from graphwalk.runner.sight import Sight, smallest_difference_of
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.store import Database

_CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English and JSON; tokenizers differ."""
_ANSWER_TOKENS = 100
"""Output of a turn: a call, or a short answer."""


@dataclass
class ModelEstimate:
    """One model in one setting: at least so many calls and tokens, if it walks as straight as the expert."""

    model: str
    setting: str
    episodes: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None


@dataclass
class Estimate:
    """A dry run: tasks, and per model and setting what a walk at par would take. Real models take more."""

    tasks: dict[str, int]
    rows: list[ModelEstimate]
    sight: Sight
    """The smallest difference between two players that the plan can show."""

    def as_json(self) -> str:
        return json.dumps(asdict(self), indent=2)

    def as_text(self) -> str:
        lines = [f"{sum(self.tasks.values())} tasks: " + ", ".join(f"{n} {t}" for t, n in self.tasks.items()), ""]
        lines.append(
            f"{'model':<36} {'setting':<9} {'episodes':>8} {'calls':>7} {'tool calls':>10} {'tokens':>12}  cost"
        )
        for row in self.rows:
            cost = "unknown (give prices)" if row.usd is None else f"${row.usd:.2f}"
            tokens = row.input_tokens + row.output_tokens
            lines.append(
                f"{row.model:<36} {row.setting:<9} {row.episodes:>8} {row.model_calls:>7} {row.tool_calls:>10} "
                f"{tokens:>12,}  {cost}"
            )
        return "\n".join(
            [
                *lines,
                "",
                "At par, that is, if every model walks as straight as the expert: a lower bound.",
                self.sight.as_text(),
            ]
        )


async def estimate_run(experiment: Experiment) -> Estimate:
    """Make the tasks on the embedded engine, and add up what they take at par."""

    async def open_scratch() -> Database:
        return EmbeddedDatabase()

    plan = await make_plan(experiment, open_scratch, lambda tasks: None)
    rows: dict[tuple[str, str], ModelEstimate] = {}
    for planned in plan.episodes:
        key = planned.key.model, planned.key.setting
        row = rows.setdefault(key, ModelEstimate(*key))
        opening = await planned.opening(experiment)
        characters = sum(len(message.content or "") for message in opening.prompt)
        turns = (planned.task.par_turns or 1) if opening.toolbox is not None else 1
        if opening.toolbox is not None:
            characters += sum(len(json.dumps(tool.as_openai())) for tool in opening.toolbox.specs)
            row.tool_calls += planned.task.par_calls or 0
        row.episodes += 1
        row.model_calls += turns
        row.input_tokens += turns * characters // _CHARACTERS_PER_TOKEN
        row.output_tokens += turns * _ANSWER_TOKENS
    for row in rows.values():
        row.usd = _cost(row, experiment.config)
    return Estimate(
        _tasks_by_template(plan), list(rows.values()), smallest_difference_of(plan, experiment.config.repeats)
    )


def _cost(row: ModelEstimate, config: AnyExperiment) -> float | None:
    if row.model.startswith(("scripted/", "replay/")):
        return 0.0
    price = config.prices.get(row.model)
    return None if price is None else (row.input_tokens * price.input + row.output_tokens * price.output) / 1e6


def _tasks_by_template(plan: Plan) -> dict[str, int]:
    counts: Counter[Any] = Counter(task.template for task, _ in plan.tasks)
    return dict(counts)
