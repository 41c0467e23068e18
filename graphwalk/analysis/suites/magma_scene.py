"""The scene of an algorithm trace: the graph with the model's state marked."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from graphwalk.analysis.walked import scene_texts
from graphwalk.reports.scene import (
    Fate,
    Scene,
    SceneLink,
    SceneNode,
    SceneStep,
    StateTable,
    marked_items,
    scene_of,
    trajectory_of,
)
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.suites.magma.prompts import read_problem
from graphwalk.suites.magma.score import canonical

if TYPE_CHECKING:
    from graphwalk.suites.magma.task import MagmaTask


def magma_scene(task: "MagmaTask", record: ResultRecord) -> Scene:
    trajectory, links = trajectory_of(record), _links(task)
    marked = list(marked_items(record["answer"] or (), task.target, partial(canonical, task.algorithm)))
    fates: dict[int, Fate] = {int(task.parameters["source"]): "asked"} if "source" in task.parameters else {}
    on_links: dict[frozenset[int], Fate] = {}
    for fate, item in reversed(marked):
        ends = _ends(item, task.n)
        if task.algorithm != "floyd_warshall":
            fates |= dict.fromkeys(ends[1:] if task.algorithm == "dijkstra" else ends, fate)
        if task.algorithm == "mst_prim":
            on_links[frozenset(ends)] = fate
    caption = f"state after step {task.step} of {task.total_steps}" if task.step else "state 0, before the first step"
    return scene_of(
        record,
        trajectory,
        _table(task.algorithm, marked),
        steps=(SceneStep(caption, len(trajectory.turns)),),
        nodes=tuple(SceneNode(str(node), fate=fates.get(node, "")) for node in range(task.n)),
        links=tuple(replace(one, fate=on_links.get(frozenset((one.source, one.target)), "")) for one in links),
        layout="circle",
        legend=scene_texts("magma")["legend"],
    )


def _ends(item: Any, n: int) -> list[int]:
    """Return the nodes of an item: the first two numbers of a triple, else all numbers."""
    values = item[:2] if isinstance(item, list) and len(item) == 3 and not isinstance(item[2], int) else item
    listed = values if isinstance(values, list) else [values]
    return [v for v in listed if isinstance(v, int) and not isinstance(v, bool) and 0 <= v < n]


def _table(algorithm: str, marked: Sequence[tuple[Fate, Any]]) -> StateTable:
    names = {"bfs": ("node",), "dfs": ("component",), "mst_prim": ("from", "to", "weight")}
    columns = names.get(algorithm, ("from", "to", "distance"))
    rows = (
        (fate, *item) if isinstance(item, list) and len(item) == len(columns) > 1 else (fate, item)
        for fate, item in marked
    )
    return StateTable(columns, tuple(rows))


def _links(task: "MagmaTask") -> list[SceneLink]:
    """Return the edges of the problem statement; empty if a custom prompt lists them in another form."""
    instance = read_problem(task.question, task.n)
    if instance is None:
        return []
    labels = [""] * len(instance.edges) if instance.weights is None else [f"{w:g}" for w in instance.weights]
    return [
        SceneLink(i, j, label, directed=False)
        for (i, j), label in zip(instance.edges, labels, strict=True)
        if i < task.n and j < task.n
    ]
