"""The graph as an agent walked it, as a scene: nodes and relationships appear with the result that shows them first."""

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from graphwalk.console import counted
from graphwalk.evaluation.values import parse_json
from graphwalk.reports.plots import Fate, Scene, SceneLink, SceneNode, SceneStep, StateTable
from graphwalk.tools.observed import KEY, ObservedGraph
from graphwalk.types.episode import Trajectory

_LONGEST_WAY = 6
_MOST_STARTS = 60
"""Nodes of an answer from which a way back is looked for."""
_TELLING = 0.9
"""Names are shown where so many of the nodes have one of their own, else keys."""
_LONGEST_WORD = 60
_LEGEND = {
    "asked": "in the question",
    "way": "on the way",
    "right": "answered, right",
    "wrong": "answered, not right",
    "missed": "seen, not answered",
    "": "never used",
}


def walked_scene(
    trajectory: Trajectory,
    asked: Collection[str],
    answered: Mapping[str, Fate],
    comparison: StateTable | None = None,
) -> Scene:
    """One step per tool call, and one for the answer. `asked`: keys and values in the question; `answered`: those of
    answer and target.
    """
    seen, since = ObservedGraph(), _Since()
    steps = list(_steps(trajectory, seen, since))
    if steps:
        steps.append(SceneStep("what the answer rests on", len(trajectory.turns)))
    fates = _fates(seen, asked, answered)
    return Scene(
        steps=tuple(steps),
        nodes=tuple(_nodes(seen, since, fates)),
        links=tuple(_links(seen, since, fates, answered)),
        comparison=comparison,
        legend={fate: said for fate, said in _LEGEND.items() if fate in set(fates.values())},
    )


def _steps(trajectory: Trajectory, seen: ObservedGraph, since: "_Since") -> Iterator[SceneStep]:
    """The calls in order; `seen` and `since` grow with them."""
    number = 0
    for turn_number, turn in enumerate(trajectory.turns, 1):
        for number, result in enumerate(turn.results, number + 1):  # noqa: B020 -- counts on through all turns
            nodes, links = len(seen.nodes), len(seen.relationships)
            seen.add(result)
            since.note(number, seen, nodes, links)
            named = parse_json(result.call.arguments)
            words = named if isinstance(named, dict) else {}
            found = result.error or ("a note" if result.rows is None else counted(result.rows, "row"))
            focus = tuple(dict.fromkeys(p for value in words.values() for p in since.named.get(str(value), ())))
            shown = tuple(range(nodes, len(seen.nodes)))
            yield SceneStep(f"{result.call.name}({_short(words)}) → {found}", turn_number, number, focus, shown)


class _Since:
    """The step that showed each node and relationship first."""

    def __init__(self) -> None:
        self.nodes: dict[str, int] = {}
        self.links: dict[str, int] = {}
        self.named: dict[str, list[int]] = {}
        """Places of nodes by their key, and by the texts that they were first shown with."""

    def note(self, step: int, seen: ObservedGraph, nodes: int, links: int) -> None:
        for place, (key, node) in enumerate(islice(seen.nodes.items(), nodes, None), nodes):
            self.nodes[key] = step
            for value in {key, *(text for text in node.properties.values() if isinstance(text, str))}:
                self.named.setdefault(value, []).append(place)
        self.links |= dict.fromkeys(islice(seen.relationships, links, None), step)


def _fates(seen: ObservedGraph, asked: Collection[str], answered: Mapping[str, Fate]) -> dict[str, Fate]:
    """What became of each node. A value that stands for many nodes, such as a name, marks all of them."""
    fates: dict[str, Fate] = {}
    for key, node in seen.nodes.items():
        values = {key, *(str(value) for value in node.properties.values() if isinstance(value, str))}
        fate: Fate = next((answered[value] for value in (key, *sorted(values)) if value in answered), "")
        fates[key] = "asked" if not fate and values & set(asked) else fate
    for key in _ways(seen, fates):
        fates[key] = fates[key] or "way"
    return fates


def _ways(seen: ObservedGraph, fates: Mapping[str, Fate]) -> Iterator[str]:
    """Nodes on shortest ways that were seen from what was answered to what was asked about."""
    beside: dict[str, dict[str, None]] = {}
    for link in seen.relationships.values():
        beside.setdefault(link.source, {})[link.target] = None
        beside.setdefault(link.target, {})[link.source] = None
    goals = {key for key, fate in fates.items() if fate == "asked"}
    starts = [key for key, fate in fates.items() if fate in ("right", "wrong", "missed")]
    for start in starts[:_MOST_STARTS] if goals else ():
        yield from _nearest(start, goals, beside)


def _nearest(start: str, goals: Collection[str], beside: Mapping[str, Mapping[str, None]]) -> Sequence[str]:
    ways: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = deque([start])
    while waiting:
        key = waiting.popleft()
        if key in goals:
            return ways[key]
        if len(ways[key]) <= _LONGEST_WAY:
            for other in beside.get(key, ()):
                if other not in ways:
                    ways[other] = (*ways[key], other)
                    waiting.append(other)
    return ()


def _nodes(seen: ObservedGraph, since: _Since, fates: Mapping[str, Fate]) -> Iterator[SceneNode]:
    called = Counter(node.name for node in seen.nodes.values())
    telling = len(called) >= _TELLING * len(seen.nodes)
    for key, node in seen.nodes.items():
        about = {KEY: key, **node.properties}
        name = node.name if telling and called[node.name] == 1 else key
        yield SceneNode(name, ":".join(node.labels), about, since.nodes[key], fates[key])


def _links(
    seen: ObservedGraph, since: _Since, fates: Mapping[str, Fate], answered: Mapping[str, Fate]
) -> Iterator[SceneLink]:
    """A relationship is used where both its ends are, or where a value of its own was answered."""
    places = {key: place for place, key in enumerate(seen.nodes)}
    for name, link in seen.relationships.items():
        own: Fate = next((answered[str(v)] for v in link.properties.values() if str(v) in answered), "")
        used: Fate = "way" if fates[link.source] and fates[link.target] else ""
        yield SceneLink(
            places[link.source], places[link.target], link.type, link.properties, since.links[name], own or used
        )


def _short(words: Mapping[str, Any]) -> str:
    said = ", ".join(str(value) for value in words.values())
    return said if len(said) <= _LONGEST_WORD else said[: _LONGEST_WORD - 1] + "…"
