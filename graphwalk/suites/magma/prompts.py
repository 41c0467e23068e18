"""Prompts of MAGMA: system prompt, problem statement and turns of each strategy (templates/prompts/magma_*)."""

import re
from ast import literal_eval
from functools import lru_cache
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import Message
from graphwalk.suites.magma.algorithms import Instance, Step
from graphwalk.suites.magma.answers import PREFIXES, write_list
from graphwalk.suites.magma.traces import MagmaTrace

STRATEGIES = {
    "io": "input–output, the final state alone",
    "io_reasoning": "input–output with reasoning in words",
    "is": "intermediate steps",
    "ish": "intermediate steps with hints",
}
"""Abbreviation in the paper → full name."""
OWN_STATES = "is_own"
"""The questions of `is` in one chat whose earlier states are the model's own; the last one is the answer."""
ABBREVIATIONS = {**STRATEGIES, OWN_STATES: "intermediate steps after the model's own states"}
STEPWISE = ("is", "ish", "tools")
"""Strategies that ask for every state in turn: without hints, with hints, and without edges in the prompt."""

_GRAPH = re.compile(r"^Edges: (\[(?:\(\d+, \d+(?:, [\d.]+)?\)(?:, )?)*\])$", re.MULTILINE)


def problem(trace: MagmaTrace, agent: AgentConfig = AgentConfig(), *, edges_shown: bool = True) -> str:
    """Return the problem statement: algorithm, goal, graph, source and answer format."""
    instance = trace.instance
    edges: list[tuple[float, ...]] | None = None
    if edges_shown and instance.weights is None:
        edges = list(instance.edges)
    elif edges_shown:
        edges = list(instance.weighted_edges)
    values = {"n": instance.n, "edges": edges, "weights": instance.weights, "source": instance.source}
    return agent.render("magma_problem.j2", **_names(trace.algorithm), **values).strip()


@lru_cache(maxsize=1)  # the states of a trace have one text
def read_prompt(text: str, n: int) -> Instance | None:
    """Return the graph of `n` nodes in a problem statement, without its source; None if a custom prompt shows none."""
    shown = _GRAPH.search(text)
    if shown is None:
        return None
    # [(0, 1), (0, 2)] or [(0, 1, 4.0), (0, 2, 7.0)]
    rows = literal_eval(shown[1])
    edges = tuple((row[0], row[1]) for row in rows)
    weights = None
    if "." in shown[1]:
        weights = tuple(row[2] for row in rows)
    return Instance(n, edges, weights, None)


def conversation(
    trace: MagmaTrace,
    setting: str,
    step: int,
    agent: AgentConfig = AgentConfig(),
    schema: Schema | None = None,
    *,
    explain: bool = True,
) -> tuple[Message, ...]:
    """Return the prompt that asks for the state after `step`; stepwise strategies include the earlier correct states.

    Input–output strategies have one turn without earlier states; for the last step it asks for the final result.
    `schema` is that of the stored graph, for "tools".
    """
    system = Message("system", agent.render("magma_system.j2").strip())
    statement = problem(trace, agent, edges_shown=setting != "tools")
    names = {**_names(trace.algorithm), "explain": explain}
    if setting not in STEPWISE:
        if step == trace.last:
            request = agent.render("magma_final.j2", setting=setting)
        else:
            request = agent.render("magma_state.j2", **names, setting=setting, step=step)
        return (system, Message("user", f"{statement}\n\n{request.strip()}"))
    if setting == "tools":
        rows = () if schema is None else tuple(schema.rows())
        statement += "\n\n" + agent.render("magma_tools.j2", schema=rows).strip()
    messages = [system]
    first_step = min(trace.states)
    for number in range(first_step, step + 1):
        is_first = number == first_step
        hint = _hint(trace.states[number]) if setting == "ish" else None
        question = agent.render("magma_turn.j2", **names, first=is_first, step=number, hint=hint).strip()
        if is_first:
            messages.append(Message("user", f"{statement}\n\n{question}"))
        else:
            messages.append(Message("assistant", trace.written[number - 1]))
            messages.append(Message("user", question))
    return tuple(messages)


def training_chat(
    trace: MagmaTrace, strategy: str, agent: AgentConfig = AgentConfig(), *, explain: bool = True
) -> list[Message]:
    """Return the chat of a trace: one answer in input–output strategies, with a worked solution if reasoned."""
    prompt = conversation(trace, strategy, trace.last, agent, explain=explain)
    answer = trace.written[trace.last]
    if strategy == "io_reasoning":
        steps = []
        for number, step in trace.states.items():
            # Number 0 is the state before the first step.
            if number > 0:
                steps.append({"hint": _hint(step), "answer": write_list(trace.algorithm, step.answer)})
        answer = agent.render("magma_reasoning.j2", algorithm=trace.algorithm, steps=steps, final=answer).strip()
    return [*prompt, Message("assistant", answer)]


def _hint(step: Step) -> dict[str, Any]:
    """Return the hint with pairs as tuples, which the prompts write in round brackets."""
    hint = dict(step.hint)
    if "priority_queue" in hint:
        hint["priority_queue"] = [tuple(pair) for pair in hint["priority_queue"]]
    return hint


def _names(algorithm: str) -> dict[str, str]:
    return {"algorithm": algorithm, "prefix": PREFIXES[algorithm]}
