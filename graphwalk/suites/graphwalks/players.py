"""Scripted agents, which search a graph level by level."""

from collections.abc import Iterable, Mapping
from random import Random

from graphwalk.models.scripted import Policy
from graphwalk.suites.flawed import flawed, player_with
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


def answer(keys: Iterable[str]) -> str:
    return f"Final Answer: [{', '.join(keys)}]"


def expert(task: GraphwalksTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Search to the depth and answer with the nodes there."""
    levels = yield from search(task, int(task.parameters["depth"]))
    return answer(sorted(levels[-1] - levels[0]))


def any_nodes(task: GraphwalksTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Stop at any depth and name any nodes there."""
    levels = yield from search(task, random.randint(1, int(task.parameters["depth"])))
    keys = sorted(levels[-1] - levels[0])
    return answer(random.sample(keys, random.randint(0, len(keys))))


EXPERT = Player(expert, default=True)
PLAYERS: Mapping[str, Player[GraphwalksTask]] = {
    "expert": EXPERT,
    "flawed": player_with(EXPERT, flawed),
    "random": Player(any_nodes, default=True),
}
