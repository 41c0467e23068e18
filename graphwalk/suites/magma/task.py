"""MAGMA's tasks and scores: one step of a trace with the correct steps before it, or a whole trace running freely."""

from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.config import Algorithm
from graphwalk.suites.magma.generator.instances import WEIGHTED
from graphwalk.suites.magma.generator.traces import MagmaTrace
from graphwalk.suites.magma.judgement import StepScore
from graphwalk.types.episode import Score, Task
from graphwalk.types.values import Scalar


class MagmaTask(Task):
    """`gold` is the state after `step`; in free-running mode `step` is None and `gold` the list of all states.

    States are lists as in the data set: nodes, components, or triples.
    """

    algorithm: Algorithm
    n: int
    trace_id: str
    split: str
    index: int
    step: int | None
    total_steps: int

    @property
    def weighted(self) -> bool:
        """True where edges have weights."""
        return self.algorithm in WEIGHTED

    @property
    def whole(self) -> bool:
        """True in free-running mode."""
        return self.step is None

    def asked(self, setting: str) -> list[tuple[int, list[Any]]]:
        """(step, state) of every reply that the setting asks for."""
        if self.step is not None:
            return [(self.step, self.gold)]
        states = list(enumerate(self.gold, start=1))
        return states if setting in prompts.STEPWISE else states[-1:]


class MagmaScore(Score):
    """The fields of every suite are those of the last reply; `correct` is its exact match.

    Error counts are sums over the replies of the episode. `first_divergence` is the first step that is not exact,
    `recovered` whether a later one is exact again (None where none diverges, or where no step follows).
    `thinking_tokens` is what the provider reports; `reasoning_tokens` the output tokens that come before the answer,
    shared out by characters (None where the provider does not count tokens).
    """

    algorithm: Algorithm
    n: int
    trace_id: str
    total_steps: int
    steps: tuple[StepScore, ...]
    missing_prefix: int
    false_negatives: int
    hallucinations: int
    invalid_items: int
    first_divergence: int | None
    recovered: bool | None
    thinking_tokens: int | None
    reasoning_tokens: int | None


def make_task(trace: MagmaTrace, step: int | None, agent: AgentConfig = AgentConfig()) -> MagmaTask:
    """The task of one step (from 1), or of the whole trace."""
    algorithm, instance, total = trace.algorithm, trace.instance, len(trace.steps)
    states = [state.answer for state in trace.steps]
    gold = states if step is None else states[step - 1]
    parameters: dict[str, Scalar] = {"nodes": instance.n, "edges": len(instance.edges), "p": trace.p, "steps": total}
    if instance.source is not None:
        parameters["source"] = instance.source
    if step is not None:
        parameters["step"] = step
    return MagmaTask(
        task_id=f"{trace.trace_id}-{'free' if step is None else step}",
        suite="magma",
        template=algorithm,
        question=prompts.problem(trace, agent),
        parameters=parameters,
        gold=gold,
        gold_size=len(states[-1] if step is None else gold),
        seed=trace.seed,
        graph_digest=trace.digest,
        par_turns=1 if step is not None else total,
        par_calls=0,
        algorithm=algorithm,
        n=instance.n,
        trace_id=trace.trace_id,
        split=trace.split,
        index=trace.index,
        step=step,
        total_steps=total,
    )
