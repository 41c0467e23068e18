"""Scripted models for MAGMA: perfect, flawed in one of the four ways, and guessing. They go through the same prompts.

What a flaw costs is known beforehand. With k items in the target, every reply of

* `flawed:missing_prefix` has one missing prefix, and F1 0;
* `flawed:false_negative` lacks its first item: F1 2(k-1) / (2k-1). Nothing can be left out where k = 0: it is right;
* `flawed:hallucination` has one item too many: F1 2k / (2k+1);
* `flawed:invalid_item` has one item of a wrong shape: F1 2k / (2k+1).
"""

from collections.abc import Callable
from random import Random
from typing import Any

from graphwalk.models.policy import Policy
from graphwalk.seeds import stdlib_random
from graphwalk.suites.magma.answers import TRIPLES, write_answer, write_list
from graphwalk.suites.magma.task import MagmaTask

MakeReply = Callable[[MagmaTask, list[Any], Random], str]
"""The text a player says where the given state is right."""

MALFORMED = "none"


def replies(name: str, task: MagmaTask, setting: str, seed: int) -> Policy:
    """One reply per state that the setting asks for; the last one is returned."""
    draw = stdlib_random(seed, "magma.policy", name, task.task_id)
    *earlier, last = (REPLIES[name](task, state, draw) for _, state in task.asked(setting))
    for reply in earlier:  # noqa: UP028 (a list takes no messages, which a policy is sent)
        yield reply
    return last


def _expert(task: MagmaTask, state: list[Any], draw: Random) -> str:
    return write_answer(task.algorithm, state)


def _missing_prefix(task: MagmaTask, state: list[Any], draw: Random) -> str:
    return write_list(task.algorithm, state)


def _false_negative(task: MagmaTask, state: list[Any], draw: Random) -> str:
    return write_answer(task.algorithm, state[1:])


def _hallucination(task: MagmaTask, state: list[Any], draw: Random) -> str:
    """The invented node is one that the graph does not have, so that it is never right by chance."""
    start, unknown = int(task.parameters.get("source", 0)), task.n
    invented: Any = unknown if task.algorithm == "bfs" else [unknown]
    if task.algorithm in TRIPLES:
        invented = [start, unknown, 1.0]
    return write_answer(task.algorithm, [*state, invented])


def _invalid_item(task: MagmaTask, state: list[Any], draw: Random) -> str:
    text = write_answer(task.algorithm, state).removesuffix("]")
    return f"{text}{', ' if state else ''}{MALFORMED}]"


def _random(task: MagmaTask, state: list[Any], draw: Random) -> str:
    """A guess of the right form that knows the number of nodes and the source, and never looks at the state."""
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


REPLIES: dict[str, MakeReply] = {
    "expert": _expert,
    "random": _random,
    "flawed:missing_prefix": _missing_prefix,
    "flawed:false_negative": _false_negative,
    "flawed:hallucination": _hallucination,
    "flawed:invalid_item": _invalid_item,
}
