"""Tasks and scores: one state of a trace after the correct earlier states, or a whole free-running trace."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.config import Algorithm, GraphInput
from graphwalk.suites.magma.generate import WEIGHTED, MagmaTrace
from graphwalk.types.episode import Score, Task
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Scalar


class MagmaTask(Task):
    """A state to find. `gold` is the state after `step`; in free-running mode `step` is None, `gold` has all states.

    States are lists as in the data set: nodes, components, or triples.
    """

    algorithm: Algorithm
    n: int
    trace_id: str
    split: str
    index: int
    step: int | None
    total_steps: int
    first_step: int = 1
    """0 if the trace begins with the state before the first step."""
    explain: bool = True
    input: GraphInput = "edges"

    @property
    def weighted(self) -> bool:
        """Return True if edges have weights."""
        return self.algorithm in WEIGHTED

    @property
    def form(self) -> prompts.Form:
        """Return the form of the prompts."""
        return prompts.Form(self.explain, self.input)

    @property
    def whole(self) -> bool:
        """Return True in free-running mode."""
        return self.step is None

    def requested_states(self, setting: str) -> list[tuple[int, list[Any]]]:
        """Return (step, state) of every reply that the setting requests."""
        if self.step is not None:
            return [(self.step, self.gold)]
        states = list(enumerate(self.gold, start=self.first_step))
        return states if setting in prompts.STEPWISE else states[-1:]


class StepScore(BaseModel):
    """The score of one reply against the state after `step`.

    `missing_prefix` is 0 or 1; without a prefix there is no answer, and nothing else is counted. `false_negatives`
    counts missing items, `hallucinations` items that are not in the state. `invalid_items` is 1 if any item has the
    wrong type or shape.
    """

    model_config = ConfigDict(frozen=True)

    step: int
    exact: bool = False
    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    missing_prefix: int = 0
    false_negatives: int = 0
    hallucinations: int = 0
    invalid_items: int = 0


class MagmaScore(Score):
    """The score of an episode. Fields of every suite are those of the last reply; `correct` is its exact match.

    Error counts are sums over the replies. `first_divergence` is the first step that is not exact. `recovered` is True
    if a later one is exact; None if none diverges or no step follows. `thinking_tokens` are reported by the provider;
    `reasoning_tokens` are output tokens before the answer, in proportion to characters (None if not counted).
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


def make_task(
    trace: MagmaTrace, step: int | None, agent: AgentConfig = AgentConfig(), form: prompts.Form = prompts.STANDARD
) -> MagmaTask:
    """Return the task of one step, or of the whole trace."""
    algorithm, instance, total = trace.algorithm, trace.instance, len(trace.steps)
    states = {number: state.answer for number, state in trace.states.items()}
    gold = list(states.values()) if step is None else states[step]
    parameters: dict[str, Scalar] = {"nodes": instance.n, "edges": len(instance.edges), "p": trace.p, "steps": total}
    if instance.source is not None:
        parameters["source"] = instance.source
    if step is not None:
        parameters["step"] = step
    return MagmaTask(
        task_id=f"{trace.trace_id}-{'free' if step is None else step}",
        suite="magma",
        template=algorithm,
        question=prompts.problem(trace, agent, form),
        parameters=parameters,
        gold=gold,
        gold_size=len(states[total] if step is None else gold),
        seed=trace.seed,
        graph_digest=trace.digest,
        reference_turns=1 if step is not None else len(states),
        reference_calls=0,
        algorithm=algorithm,
        n=instance.n,
        trace_id=trace.trace_id,
        split=trace.split,
        index=trace.index,
        step=step,
        total_steps=total,
        first_step=min(states),
        explain=form.explain,
        input=form.input,
    )


NODE, EDGE = "Node", "EDGE"


def stored_graph(trace: MagmaTrace) -> PropertyGraph:
    """Return the graph with a node per number, and a relationship per edge from the lower number to the higher one."""
    n, edges, weights, _ = trace.instance
    nodes = [Node(str(number), (NODE,), {}) for number in range(n)]
    held = [{}] * len(edges) if weights is None else [{"weight": weight} for weight in weights]
    links = [Relationship(EDGE, str(i), str(j), dict(own)) for (i, j), own in zip(edges, held, strict=True)]
    return PropertyGraph.from_rows(nodes, links, seed=trace.seed, spec={"trace": trace.trace_id})
