"""What the model is told: system prompt, problem statement, the turns of each strategy (templates/prompts/magma_*)."""

from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.magma.answers import PREFIXES, write_answer, write_list
from graphwalk.suites.magma.generate import MagmaTrace, Step
from graphwalk.types.chat import Message
from graphwalk.types.schema import Schema

STRATEGIES = {
    "io": "input–output, the final state alone",
    "io_reasoning": "input–output with reasoning in words",
    "is": "intermediate steps",
    "ish": "intermediate steps with hints",
}
"""The paper's abbreviations in words."""
STEPWISE = ("is", "ish", "tools")
"""Strategies that ask for every state in a chat of its own turns: without hints, with them, and without edges."""


def problem(trace: MagmaTrace, agent: AgentConfig = AgentConfig(), *, edges_shown: bool = True) -> str:
    """Algorithm, goal, graph, source and answer format."""
    n, edges, weights, source = trace.instance
    listed = edges if weights is None else tuple((*edge, w) for edge, w in zip(edges, weights, strict=True))
    values = {"n": n, "edges": list(listed) if edges_shown else None, "weights": weights, "source": source}
    return agent.render("magma_problem.j2", **_names(trace.algorithm), **values).strip()


def answer_format(algorithm: str, agent: AgentConfig = AgentConfig()) -> str:
    """The answer format in words."""
    return agent.render("magma_format.j2", **_names(algorithm)).strip()


def turn(trace: MagmaTrace, setting: str, step: int, agent: AgentConfig = AgentConfig()) -> str:
    """The user message that asks for the state after `step` (from 1); with the hint in "ish"."""
    hint = _hint(trace.steps[step - 1]) if setting == "ish" else None
    return agent.render("magma_turn.j2", algorithm=trace.algorithm, step=step, hint=hint).strip()


def conversation(
    trace: MagmaTrace, setting: str, step: int, agent: AgentConfig = AgentConfig(), schema: Schema | None = None
) -> tuple[Message, ...]:
    """The prompt whose answer is the state after `step`: in stepwise strategies with the correct states before it.

    In the input–output strategies there is one turn and no state before it; for the last step it asks for the final
    result, as if there were no steps. `schema`: of the stored graph, for "tools".
    """
    system = Message("system", agent.render("magma_system.j2").strip())
    if setting not in STEPWISE:
        return (system, Message("user", f"{problem(trace, agent)}\n\n{_asked_at_once(trace, setting, step, agent)}"))
    messages = [system, Message("user", f"{_begun(trace, setting, agent, schema)}\n\n{turn(trace, setting, 1, agent)}")]
    for number in range(2, step + 1):
        messages.append(Message("assistant", trace.written[number - 2]))
        messages.append(Message("user", turn(trace, setting, number, agent)))
    return tuple(messages)


def _begun(trace: MagmaTrace, setting: str, agent: AgentConfig, schema: Schema | None) -> str:
    """The problem, with its edges or with the way to them."""
    if setting != "tools":
        return problem(trace, agent)
    rows = () if schema is None else tuple(schema.rows())
    return f"{problem(trace, agent, edges_shown=False)}\n\n{agent.render('magma_tools.j2', schema=rows).strip()}"


def hint_in_words(algorithm: str, step: Step, agent: AgentConfig) -> str:
    """The working state that a step begins with."""
    return agent.render("magma_hint.j2", algorithm=algorithm, hint=_hint(step)).strip()


def _asked_at_once(trace: MagmaTrace, setting: str, step: int, agent: AgentConfig) -> str:
    """What an input–output strategy asks for below the problem statement."""
    if step == len(trace.steps):
        return agent.render("magma_final.j2", setting=setting).strip()
    return agent.render("magma_state.j2", algorithm=trace.algorithm, setting=setting, step=step).strip()


def reasoned_answer(trace: MagmaTrace, agent: AgentConfig = AgentConfig()) -> str:
    """A worked solution that ends with the final answer: what a model learns from in the "io_reasoning" strategy."""
    steps = [{"hint": _hint(step), "answer": write_list(trace.algorithm, step.answer)} for step in trace.steps]
    final = write_answer(trace.algorithm, trace.final)
    return agent.render("magma_reasoning.j2", algorithm=trace.algorithm, steps=steps, final=final).strip()


def _hint(step: Step) -> dict[str, Any]:
    """The hint with its pairs in round brackets, as the prompts write all pairs."""
    pairs = step.hint.get("priority_queue")
    return step.hint if pairs is None else {**step.hint, "priority_queue": [tuple(pair) for pair in pairs]}


def _names(algorithm: str) -> dict[str, str]:
    return {"algorithm": algorithm, "prefix": PREFIXES[algorithm]}
