"""The scene of an episode that walked: nodes and relationships appear with the first result that shows them."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

from graphwalk.analysis.report.suite_report import ResultRecord
from graphwalk.analysis.scene import Fate, Scene, SceneLink, SceneNode, SceneStep, StateTable, scene_of
from graphwalk.config.resources import data_path
from graphwalk.config.strict import YamlFile
from graphwalk.errors import counted
from graphwalk.graphs.answers import parse_object
from graphwalk.graphs.graph import KEY, Node
from graphwalk.models.trajectory import Trajectory
from graphwalk.tools.observed import ObservedGraph, name_of

_LONGEST_PATH = 6
_MOST_STARTS = 60
"""Nodes of an answer from which paths to the question's nodes are searched."""
_UNIQUE_NAMES = 0.9
"""Minimum share of nodes with a unique name; below it keys are shown in place of names."""
_LONGEST_ARGUMENTS = 60


@cache
def scene_texts(suite: str) -> Mapping[str, Any]:
    """Return the texts of scenes in templates/reports/SUITE.yaml."""
    texts: Mapping[str, Any] = YamlFile.read(data_path("templates") / "reports" / f"{suite}.yaml").data["scene"]
    return texts


def walked_scene(
    record: ResultRecord,
    trajectory: Trajectory,
    question_values: Collection[str],
    answered: Mapping[str, Fate],
    answer: StateTable | None = None,
) -> Scene:
    """Return a scene with one step per tool call and one for the answer.

    `question_values` contains keys and values of the question, `answered` those of answer and target.
    """
    seen = ObservedGraph()
    since: dict[str, list[int]] = {"nodes": [], "links": []}
    steps = list(_steps(trajectory, seen, since))
    if steps:
        steps.append(SceneStep("evidence of the answer", len(trajectory.turns)))
    fates = _fates(seen, question_values, answered)
    return scene_of(
        record,
        trajectory,
        answer,
        steps=tuple(steps),
        nodes=tuple(_nodes(seen, since["nodes"], fates)),
        links=tuple(_links(seen, since["links"], fates, answered)),
        legend={fate: text for fate, text in scene_texts("shared")["legend"].items() if fate in set(fates.values())},
    )


def _steps(trajectory: Trajectory, seen: ObservedGraph, since: Mapping[str, list[int]]) -> Iterator[SceneStep]:
    """Yield a step per call in order, record its result in `seen`, and in `since` the step of each new element."""
    named: dict[str, list[int]] = {}
    """Key or text property of a node → positions of the nodes that have it."""
    calls = ((number, result) for number, turn in enumerate(trajectory.turns, 1) for result in turn.results)
    for step, (turn_number, result) in enumerate(calls, 1):
        before = len(seen.nodes)
        seen.add(result)
        for position, (key, node) in enumerate(islice(seen.nodes.items(), before, None), before):
            for value in _texts(key, node):
                named.setdefault(value, []).append(position)
        for kind, elements in (("nodes", seen.nodes), ("links", seen.relationships)):
            since[kind].extend([step] * (len(elements) - len(since[kind])))
        arguments = [str(value) for value in parse_object(result.call.arguments).values()]
        outcome = result.error or ("a note" if result.rows is None else counted(result.rows, "row"))
        focus = tuple(dict.fromkeys(position for value in arguments for position in named.get(value, ())))
        text = ", ".join(arguments)
        text = text if len(text) <= _LONGEST_ARGUMENTS else text[: _LONGEST_ARGUMENTS - 1] + "…"
        shown = tuple(range(before, len(seen.nodes)))
        yield SceneStep(f"{result.call.name}({text}) → {outcome}", turn_number, step, focus, shown)


def _texts(key: str, node: Node) -> set[str]:
    """Return the key and the text properties of a node."""
    return {key, *(text for text in node.properties.values() if isinstance(text, str))}


def _fates(seen: ObservedGraph, question_values: Collection[str], answered: Mapping[str, Fate]) -> dict[str, Fate]:
    """Return the role of each node. A value that several nodes share, for example a name, marks all of them."""
    fates: dict[str, Fate] = {}
    for key, node in seen.nodes.items():
        values = _texts(key, node)
        fate: Fate = next((answered[value] for value in (key, *sorted(values)) if value in answered), "")
        fates[key] = "asked" if not fate and values & set(question_values) else fate
    goals = {key for key, fate in fates.items() if fate == "asked"}
    starts = [key for key, fate in fates.items() if fate in ("right", "wrong", "missed")]
    for path in paths_to_nearest(seen, starts[:_MOST_STARTS], goals, _LONGEST_PATH):
        for key in path:
            fates[key] = fates[key] or "way"
    return fates


def paths_to_nearest(
    seen: ObservedGraph, starts: Sequence[str], goals: Collection[str], longest: int
) -> Iterator[tuple[str, ...]]:
    """Yield a shortest observed path from each start to its nearest goal, in any direction.

    Starts without a goal within `longest` relationships are skipped.
    """
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph((link.source, link.target) for link in seen.relationships)
    graph.add_nodes_from(starts)
    for start in starts if goals else ():
        paths = nx.single_source_shortest_path(graph, start, longest)
        nearest = next((key for key in paths if key in goals), None)
        if nearest is not None:
            yield tuple(paths[nearest])


def _nodes(seen: ObservedGraph, steps: Sequence[int], fates: Mapping[str, Fate]) -> Iterator[SceneNode]:
    names = Counter(name_of(node) for node in seen.nodes.values())
    show_names = len(names) >= _UNIQUE_NAMES * len(seen.nodes)
    for (key, node), step in zip(seen.nodes.items(), steps, strict=True):
        about = {KEY: key, **node.properties}
        name = name_of(node) if show_names and names[name_of(node)] == 1 else key
        yield SceneNode(name, ":".join(node.labels), about, step, fates[key])


def _links(
    seen: ObservedGraph, steps: Sequence[int], fates: Mapping[str, Fate], answered: Mapping[str, Fate]
) -> Iterator[SceneLink]:
    """Yield the relationships; one is used if both its nodes are, or if the answer has one of its values."""
    positions = {key: position for position, key in enumerate(seen.nodes)}
    for link, step in zip(seen.relationships, steps, strict=True):
        own: Fate = next((answered[str(v)] for v in link.properties.values() if str(v) in answered), "")
        used: Fate = "way" if fates[link.source] and fates[link.target] else ""
        yield SceneLink(positions[link.source], positions[link.target], link.type, link.properties, step, own or used)
