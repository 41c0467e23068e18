"""The scene of an algorithm trace: the given states, then the model's states."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

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
from graphwalk.suites.magma.answers import read_answer
from graphwalk.suites.magma.prompts import STEPWISE, read_problem
from graphwalk.suites.magma.score import canonical
from graphwalk.suites.walked import scene_texts
from graphwalk.types.episode import Trajectory, setting_of

if TYPE_CHECKING:
    from graphwalk.suites.magma.task import MagmaTask

_Item = tuple[Fate, Any]


def magma_scene(task: "MagmaTask", record: ResultRecord) -> Scene:
    setting, trajectory = setting_of(record["setting"]), trajectory_of(record)
    links = _links(task)
    steps = [*_prompt_states(task, setting, trajectory, links)]
    marked: list[_Item] = []
    for (number, target), turn in zip(
        task.requested_states(setting), (*trajectory.turns, *[None] * task.total_steps), strict=False
    ):
        if turn is None and len(steps) and task.whole:
            break
        items = read_answer(task.algorithm, turn.message.content or "").answer if turn is not None else None
        marked = list(marked_items(items or (), target, partial(canonical, task.algorithm)))
        place = number - task.first_step + 1 if task.whole else len(trajectory.turns)
        caption = f"{_state(task, number)}: {_verdict(marked, items)}"
        steps.append(_step(task, caption, place, marked, links))
    return scene_of(
        record,
        trajectory,
        _table(task.algorithm, marked),
        steps=tuple(steps),
        nodes=tuple(
            SceneNode(str(node), since=0, fate="asked" if node == task.parameters.get("source") else "")
            for node in range(task.n)
        ),
        links=tuple(links),
        layout="circle",
        legend=scene_texts("magma")["legend"],
    )


def _prompt_states(
    task: "MagmaTask", setting: str, trajectory: Trajectory, links: Sequence[SceneLink]
) -> Iterator[SceneStep]:
    if task.whole or setting not in STEPWISE:
        return
    for number, message in enumerate((m for m in trajectory.prompt if m.role == "assistant"), task.first_step):
        items = read_answer(task.algorithm, message.content or "").answer or []
        marked: list[_Item] = [("given", item) for item in items]
        yield _step(task, f"{_state(task, number)}, given in the prompt", 0, marked, links)


def _state(task: "MagmaTask", number: int) -> str:
    return f"state after step {number} of {task.total_steps}" if number else "state 0, before the first step"


def _verdict(marked: Sequence[_Item], items: Sequence[Any] | None) -> str:
    if items is None:
        return "no answer found"
    counts = {text: sum(one == fate for one, _ in marked) for fate, text in (("wrong", "wrong"), ("missed", "missing"))}
    return ", ".join(f"{count} {text}" for text, count in counts.items() if count) or "exact"


def _step(task: "MagmaTask", caption: str, turn: int, marked: Sequence[_Item], links: Sequence[SceneLink]) -> SceneStep:
    """Return a step that marks items on the graph: nodes, components, edges, or distances as node labels."""
    nodes: dict[int, Fate] = {}
    labels: dict[int, str] = {}
    on_links: dict[int, Fate] = {}
    places = {frozenset((link.source, link.target)): place for place, link in enumerate(links)}
    for fate, item in reversed(marked):
        ends = _ends(item, task.n)
        if task.algorithm == "dijkstra" and len(ends) == 2:
            nodes[ends[1]] = fate
            labels[ends[1]] = f"{item[2]:g}" if isinstance(item[2], int | float) else str(item[2])
        elif task.algorithm == "mst_prim" and len(ends) == 2:
            nodes |= dict.fromkeys(ends, fate)
            if frozenset(ends) in places:
                on_links[places[frozenset(ends)]] = fate
        elif task.algorithm != "floyd_warshall":
            nodes |= dict.fromkeys(ends, fate)
    return SceneStep(caption, turn, nodes=nodes, links=on_links, labels=labels, table=_table(task.algorithm, marked))


def _ends(item: Any, n: int) -> list[int]:
    """Return the nodes of an item: the first two numbers of a triple, else all numbers."""
    values = item[:2] if isinstance(item, list) and len(item) == 3 and not isinstance(item[2], int) else item
    listed = values if isinstance(values, list) else [values]
    return [v for v in listed if isinstance(v, int) and not isinstance(v, bool) and 0 <= v < n]


def _table(algorithm: str, marked: Sequence[_Item]) -> StateTable:
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
