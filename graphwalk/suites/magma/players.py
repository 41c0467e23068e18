"""Scripted agents for algorithm traces."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from random import Random

from graphwalk.models.scripted import Policy
from graphwalk.suites.flawed import flawed, player_with
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.answers import write_answer
from graphwalk.suites.magma.generate import NODE, WEIGHTED, Instance, run_algorithm, state_before
from graphwalk.suites.magma.task import MagmaTask
from graphwalk.suites.questions.agents.walker import neighborhood, read, unique_values
from graphwalk.suites.suite import Player
from graphwalk.types.schema import Schema


def walking_expert(task: MagmaTask) -> Policy:
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
    weights = tuple(edges.values()) if task.algorithm in WEIGHTED else None
    instance = Instance(task.n, tuple(edges), weights, None if source is None else int(source))
    states = dict(enumerate(run_algorithm(task.algorithm, instance), 1))
    if task.first_step == 0 and (before := state_before(task.algorithm, instance)) is not None:
        states[0] = before
    return write_answer(task.algorithm, states[task.step].answer)


def _random(task: MagmaTask, draw: Random) -> str:
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


def expert(task: MagmaTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Read the graph with tools, or give the correct state."""
    if setting == "tools":
        return (yield from walking_expert(task))
    return write_answer(task.algorithm, task.target)


def any_state(task: MagmaTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Guess in the right form."""
    yield from ()
    return _random(task, random)


_ALL = (*prompts.STRATEGIES, "tools")
EXPERT = Player(expert, _ALL, default=True)
PLAYERS: Mapping[str, Player[MagmaTask]] = {
    "expert": EXPERT,
    "random": Player(any_state, _ALL, default=True, purpose=("magma.policy", "random")),
    "flawed": replace(player_with(EXPERT, flawed), default=False),
}
