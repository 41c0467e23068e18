"""The states of an algorithm as a scene: what was given, what the model said, and what the target is, on one graph."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from graphwalk.evaluation.values import parse_json
from graphwalk.reports.plots import Fate, Scene, SceneLink, SceneNode, SceneStep, StateTable
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.suites.magma.answers import read_answer
from graphwalk.suites.magma.prompts import STEPWISE
from graphwalk.suites.magma.score import canonical
from graphwalk.suites.magma.task import MagmaTask
from graphwalk.types.episode import Trajectory
from graphwalk.types.wire import from_dict

_EDGES = re.compile(r"^Edges: (\[.*\])$", re.MULTILINE)
_ROUND_TO_SQUARE = str.maketrans("()", "[]")
_LEGEND = {
    "given": "given to the model",
    "right": "answered, right",
    "wrong": "answered, not right",
    "missed": "missing in the answer",
}
_Item = tuple[Fate, Any]


def magma_scene(record: ResultRecord) -> Scene:
    """Earlier states stand in the prompt; then comes the model's, or in free-running mode all of its own."""
    task, setting = MagmaTask.model_validate(record["task"]), record["setting"]
    trajectory = from_dict(Trajectory, record["trajectory"])
    links = _links(task)
    steps = [*_given(task, setting, trajectory, links)]
    marked: list[_Item] = []
    for (number, gold), turn in zip(task.asked(setting), (*trajectory.turns, *[None] * task.total_steps), strict=False):
        if turn is None and len(steps) and task.whole:
            break
        items = read_answer(task.algorithm, turn.message.content or "").answer if turn is not None else None
        marked = list(_marked(task.algorithm, items, gold))
        place = number if task.whole else len(trajectory.turns)
        steps.append(
            _step(
                task,
                f"state after step {number} of {task.total_steps}: {_verdict(marked, items)}",
                place,
                marked,
                links,
            )
        )
    return Scene(
        steps=tuple(steps),
        nodes=tuple(
            SceneNode(str(node), since=0, fate="asked" if node == _source(task) else "") for node in range(task.n)
        ),
        links=tuple(links),
        layout="circle",
        comparison=_table(task.algorithm, marked),
        legend=_LEGEND,
    )


def _given(task: MagmaTask, setting: str, trajectory: Trajectory, links: Sequence[SceneLink]) -> Iterator[SceneStep]:
    if task.whole or setting not in STEPWISE:
        return
    for number, message in enumerate((m for m in trajectory.prompt if m.role == "assistant"), 1):
        items = read_answer(task.algorithm, message.content or "").answer or []
        marked: list[_Item] = [("given", item) for item in items]
        yield _step(task, f"state after step {number} of {task.total_steps}, as the prompt gives it", 0, marked, links)


def _marked(algorithm: str, items: Sequence[Any] | None, gold: Sequence[Any]) -> Iterator[_Item]:
    """Items of the answer once each, then what the target has besides; items that have no form are wrong."""
    target = {canonical(algorithm, item) for item in gold}
    given = set()
    for item in items or ():
        form = canonical(algorithm, item)
        if form is None or form not in given:
            yield ("right" if form is not None and form in target else "wrong"), item
        given.add(form)
    for item in gold:
        if canonical(algorithm, item) not in given:
            yield "missed", item


def _verdict(marked: Sequence[_Item], items: Sequence[Any] | None) -> str:
    if items is None:
        return "no answer was read"
    off = {fate: sum(one == fate for one, _ in marked) for fate in ("wrong", "missed")}
    said = [f"{off['wrong']} not right"] * bool(off["wrong"]) + [f"{off['missed']} missing"] * bool(off["missed"])
    return ", ".join(said) or "exact"


def _step(task: MagmaTask, caption: str, turn: int, marked: Sequence[_Item], links: Sequence[SceneLink]) -> SceneStep:
    """How an algorithm's items lie on the graph: nodes, components, edges, or distances written at nodes."""
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
    """The nodes that an item names; of a triple its first two numbers."""
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


def _links(task: MagmaTask) -> list[SceneLink]:
    """As the problem lists them; none where a prompt of the user's own writes them in another way."""
    found = _EDGES.search(task.question)
    edges = parse_json(found[1].translate(_ROUND_TO_SQUARE)) if found else None
    ends = [edge for edge in edges or () if isinstance(edge, list) and len(_ends(edge[:2], task.n)) == 2]
    return [SceneLink(e[0], e[1], f"{e[2]:g}" if len(e) > 2 else "", directed=False) for e in ends]


def _source(task: MagmaTask) -> Any:
    return task.parameters.get("source")
