"""Scripted agents, which search a graph level by level."""

from collections.abc import Mapping
from random import Random

from graphwalk.models.scripted import AnswerNow, Policy
from graphwalk.suites.graphwalks.task import GraphwalksTask
from graphwalk.suites.questions.agents.walker import Steps, neighborhood, read
from graphwalk.suites.suite import Player
from graphwalk.types.schema import Schema


def search(task: GraphwalksTask, depth: int) -> Steps[list[set[str]]]:
    """Return the levels from the node on; the nodes of a level are looked up in parallel calls."""
    side = "outgoing" if task.template == "bfs" else "incoming"
    levels = [{str(task.parameters["node"])}]
    for _ in range(depth):
        results = yield from read([neighborhood("Node", "key", key) for key in sorted(levels[-1])])
        rows = (row for rows in results for row in rows if row.get("direction", side) == side)
        levels.append({row["neighbor_properties"]["key"] for row in rows}.difference(*levels))
    return levels


def expert(task: GraphwalksTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Search to the depth and answer with the nodes there."""
    return _searching(task, "expert", random)


def flawed(task: GraphwalksTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Make one of three mistakes or none."""
    return _searching(task, "flawed", random)


def any_nodes(task: GraphwalksTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Stop at any depth and name any nodes there."""
    return _searching(task, "random", random)


def _searching(task: GraphwalksTask, name: str, random: Random) -> Policy:
    depth = int(task.parameters["depth"])
    try:
        levels = yield from search(task, random.randint(1, depth) if name == "random" else depth)
    except AnswerNow:
        levels = [set[str]()]
    keys, flaw = sorted(levels[-1] - levels[0]), random.randrange(4) if name == "flawed" else 0
    if name == "random":
        keys = random.sample(keys, random.randint(0, len(keys)))
    elif flaw == 1:
        keys = sorted(set().union(*levels))
    elif flaw == 2:
        keys = keys[: len(keys) // 2]
    return f"{'The nodes are' if flaw == 3 else 'Final Answer:'} [{', '.join(keys)}]"


PLAYERS: Mapping[str, Player[GraphwalksTask]] = {
    "expert": Player(expert, default=True),
    "flawed": Player(flawed, default=True),
    "random": Player(any_nodes, default=True),
}
