"""Scripted agents, which search a graph level by level."""

from graphwalk.models.scripted import AnswerNow, Policy
from graphwalk.seeds import stdlib_random
from graphwalk.suites.graphwalks.score import GraphwalksTask
from graphwalk.suites.questions.agents.walker import Steps, neighborhood, read
from graphwalk.suites.suite import ScriptedAgents
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


class GraphwalksAgents(ScriptedAgents[GraphwalksTask]):
    """`flawed` makes one of three mistakes or none; `random` stops at any depth and names any nodes there."""

    names = ("expert", "flawed", "random")
    default_names = names

    def can_play(self, name: str, setting: str, task: GraphwalksTask | None = None) -> bool:
        return setting == "tools"

    def policy(self, name: str, task: GraphwalksTask, setting: str, schema: Schema | None, seed: int) -> Policy:
        draw, depth = stdlib_random(seed, "policy", task.task_id), int(task.parameters["depth"])
        try:
            levels = yield from search(task, draw.randint(1, depth) if name == "random" else depth)
        except AnswerNow:
            levels = [set[str]()]
        keys, flaw = sorted(levels[-1] - levels[0]), draw.randrange(4) if name == "flawed" else 0
        if name == "random":
            keys = draw.sample(keys, draw.randint(0, len(keys)))
        elif flaw == 1:
            keys = sorted(set().union(*levels))
        elif flaw == 2:
            keys = keys[: len(keys) // 2]
        return f"{'The nodes are' if flaw == 3 else 'Final Answer:'} [{', '.join(keys)}]"
