"""Scripted agents for algorithm traces, and their thoughts for training data."""

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from random import Random
from typing import Any, ClassVar

from graphwalk.config.agent import AgentConfig
from graphwalk.models.scripted import Policy
from graphwalk.seeds import stdlib_random
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.answers import TRIPLES, write_answer, write_list
from graphwalk.suites.magma.generate import Instance, Step, run_algorithm, state_before
from graphwalk.suites.magma.task import NODE, MagmaTask
from graphwalk.suites.questions.agents.walker import neighborhood, read, unique_values
from graphwalk.suites.suite import ScriptedAgents
from graphwalk.suites.thoughts import Thoughts
from graphwalk.types.episode import Trajectory
from graphwalk.types.schema import Schema

MakeReply = Callable[[MagmaTask, list[Any], Random], str]
"""Function that returns the agent's reply, given the correct state."""

MALFORMED = "none"


def _say(replies: Iterable[str]) -> Policy:
    *earlier, last = replies
    for reply in earlier:  # noqa: UP028 (`yield from` a list fails when the policy is sent a message)
        yield reply
    return last


def walking_expert(task: MagmaTask, setting: str) -> Policy:
    """Read the neighbourhood of every node with the tools, then run the algorithm on the edges that results showed."""
    (keys,) = yield from read([unique_values("key", NODE)])
    results = yield from read([neighborhood(NODE, "key", row["values"]) for row in keys])
    edges: dict[tuple[int, int], float] = {}
    for row in chain.from_iterable(results):
        neighbour, relationship = (row.get(f"{name}_properties") or {} for name in ("neighbor", "relationship"))
        one, other = sorted((int(str(row["center_key"])), int(str(neighbour["key"]))))
        edges[one, other] = float(str(relationship.get("weight", 1.0)))
    edges = dict(sorted(edges.items()))
    source = task.parameters.get("source")
    weights = tuple(edges.values()) if task.weighted else None
    instance = Instance(task.n, tuple(edges), weights, None if source is None else int(source))
    states = _states(task, instance)
    return (
        yield from _say(write_answer(task.algorithm, states[step].answer) for step, _ in task.requested_states(setting))
    )


def _states(task: MagmaTask, instance: Instance) -> dict[int, Step]:
    """Return the number of each step of the task's trace → its hint and state."""
    before = state_before(task.algorithm, instance) if task.first_step == 0 else None
    return ({} if before is None else {0: before}) | dict(enumerate(run_algorithm(task.algorithm, instance), 1))


def _hallucination(task: MagmaTask, state: list[Any], draw: Random) -> str:
    # The invented node does not exist in the graph, so it is never correct by chance.
    start, unknown = int(task.parameters.get("source", 0)), task.n
    invented: Any = unknown if task.algorithm == "bfs" else [unknown]
    if task.algorithm in TRIPLES:
        invented = [start, unknown, 1.0]
    return write_answer(task.algorithm, [*state, invented])


def _invalid_item(task: MagmaTask, state: list[Any], draw: Random) -> str:
    text = write_answer(task.algorithm, state).removesuffix("]")
    return f"{text}{', ' if state else ''}{MALFORMED}]"


def _random(task: MagmaTask, state: list[Any], draw: Random) -> str:
    """Return a random answer of the right form, which uses only the number of nodes and the source."""
    nodes = list(range(task.n))
    if task.algorithm == "bfs":
        return write_answer("bfs", [node for node in nodes if draw.random() < 0.5])
    if task.algorithm == "dfs":
        drawn = [draw.randrange(task.n) for _ in nodes]
        return write_answer("dfs", [[v for v in nodes if drawn[v] == part] for part in sorted(set(drawn))])
    if task.algorithm == "dijkstra":
        pairs = [(int(task.parameters["source"]), node) for node in nodes if node != task.parameters["source"]]
    else:
        pairs = [(i, j) for i in nodes for j in nodes[i + 1 :]]
    return write_answer(task.algorithm, [[*pair, float(draw.randint(1, 10))] for pair in pairs if draw.random() < 0.5])


FLAWS: dict[str, MakeReply] = {
    "missing_prefix": lambda task, state, draw: write_list(task.algorithm, state),
    "false_negative": lambda task, state, draw: write_answer(task.algorithm, state[1:]),
    "hallucination": _hallucination,
    "invalid_item": _invalid_item,
}


def replies(task: MagmaTask, setting: str, reply: MakeReply, draw: Random) -> Policy:
    return _say(reply(task, state, draw) for _, state in task.requested_states(setting))


def steps_in_words(task: MagmaTask, setting: str, trajectory: Trajectory, draw: random.Random) -> list[str]:
    """Return a thought before every reply: the working state of its step, or of all steps for a single reply.

    Turns with tool calls have no thought.
    """
    instance = prompts.read_problem(task.question, task.n) or Instance(task.n, (), None, None)
    thoughts = Thoughts("magma", draw)
    texts = {
        number: thoughts.say("step", step=number, state=prompts.hint_in_words(task.algorithm, step, AgentConfig()))
        for number, step in _states(task, instance).items()
    }
    words = iter(
        texts[step]
        if setting in prompts.STEPWISE
        else "\n".join(text for number, text in texts.items() if number <= step)
        for step, _ in task.requested_states(setting)
    )
    return ["" if turn.message.tool_calls else next(words, "") for turn in trajectory.turns]


class MagmaAgents(ScriptedAgents[MagmaTask]):
    names: ClassVar[tuple[str, ...]] = ("expert", "random", "flawed")
    default_names: ClassVar[tuple[str, ...]] = ("expert", "random")

    def policy(self, name: str, task: MagmaTask, setting: str, schema: Schema | None, seed: int) -> Policy:
        if name not in self.names:
            return super().policy(name, task, setting, schema, seed)
        if setting == "tools" and name == "expert":
            return walking_expert(task, setting)
        draw = stdlib_random(seed, "magma.policy", name, task.task_id)
        if name == "expert":
            return _say(write_answer(task.algorithm, state) for _, state in task.requested_states(setting))
        return replies(task, setting, _random if name == "random" else FLAWS[draw.choice(list(FLAWS))], draw)

    def thoughts(self, task: MagmaTask, setting: str, trajectory: Trajectory, seed: int) -> Sequence[str]:
        return steps_in_words(task, setting, trajectory, stdlib_random(seed, "thoughts", task.task_id))
