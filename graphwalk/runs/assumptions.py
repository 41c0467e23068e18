"""What an estimate takes for granted, in one line each."""

from collections.abc import Iterator

from graphwalk.models.tokens import RULE_ERROR
from graphwalk.runs.dry_run import Estimate
from graphwalk.runs.experiment import Experiment, per_episode
from graphwalk.suites.questions.task_cache import LARGE


def assumptions(experiment: Experiment, estimate: Estimate) -> Iterator[str]:
    """Only what matters to this plan."""
    agent = experiment.agent
    real = [row for row in estimate.rows if not per_episode(row.model)]
    yield "Every model walks as straight as the expert and thinks nothing aloud: a lower bound."
    yield from _of_the_paper(experiment, estimate)
    if estimate.played < estimate.pairs:
        worst = max(row.spread for row in estimate.rows)
        yield (
            f"{estimate.played} of {estimate.pairs} pairs of task and setting were played; input tokens of all: "
            f"± {100 * worst:.1f} % (95 %)."
        )
    if any(row.assumed for row in estimate.rows):
        yield "Where no expert plays (without tools, own questions), a reply is as long as the target."
    if any(row.of_plan for row in estimate.rows):
        yield (
            f"Walks on graphs of {LARGE:,} nodes and more are those of the plan, with the default prompt and results "
            "as JSON; all of their input counts as new, so that the cost is an upper bound."
        )
    if any(row.tokenizer is None for row in real):
        yield f"Tokens of models without a known tokenizer are estimated: ± {100 * RULE_ERROR:.0f} % (docs/running.md)."
    if any(row.repeated_tokens and row.usd is not None for row in real):
        yield "Repeated input is what a conversation sends again; it is priced as cached from 1,024 tokens on."
    if any(row.usd is None for row in real):
        yield "Cost unknown: give prices, for example -o 'prices={MODEL: {input: 0.4, output: 1.6}}'."
    words = experiment.suite.presentation.abbreviations
    if named := [f"{name}: {words[name]}" for name in experiment.config.settings if name in words]:
        yield f"{'; '.join(named)}."
    if agent.compaction == "summary":
        yield "The expert answers where a conversation is first summed up; models go on."
    if experiment.extractor is not None:
        yield f"Calls of the extractor {experiment.extractor} are not counted: they depend on the replies."


def _of_the_paper(experiment: Experiment, estimate: Estimate) -> Iterator[str]:
    """How many times the expert's tool calls the models of the reference made."""
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
