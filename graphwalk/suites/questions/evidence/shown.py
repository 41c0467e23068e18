"""What the tools of an episode have shown of a graph: nodes, relationships, and where nothing else can be."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from graphwalk.scoring.evidence import shows_data
from graphwalk.suites.questions.evidence.views import View, views_of
from graphwalk.suites.questions.players.reading import labels_in
from graphwalk.types.episode import Trajectory
from graphwalk.types.graph import value_order
from graphwalk.types.values import Row, Value

KEY = "key"
_NEIGHBORS, _VALUES = "get_all_nearest_neighbors", "get_unique_property_values"
_NEIGHBOR_COLUMNS = frozenset({"center_key", "type", "neighbor_properties"})
_PATTERN = re.compile(r"\(:([^\n]+?)\)-\[:([^\n]+?)\]->\(:([^\n]+?)\)")

Pair = tuple[str, str, str]
"""Label of the source, type, label of the target: what the schema says can be joined."""
Side = Literal["outgoing", "incoming"]


class Link(NamedTuple):
    """What tells relationships apart; parallel ones that are alike are counted. `properties` None: not shown."""

    type: str
    source: str
    target: str
    properties: tuple[tuple[str, tuple[int, Any]], ...] | None


@dataclass
class Shown:
    """All that tool results say about a graph.

    `labels`: those that a node was seen to have, by its key; a node that was looked up by one may have more.
    `links` have the number of relationships that are alike. `whole_labels`: all nodes of the label were listed.
    `centres` and `closures` (label, property, value): all relationships of these nodes were shown. `hidden_direction`:
    relationships were shown without a direction, and the schema allows both. `understood`: False where there
    were results, and none was of a known form.
    """

    pairs: frozenset[Pair]
    labels: dict[str, frozenset[str]] = field(default_factory=dict)
    properties: defaultdict[str, dict[str, Value]] = field(default_factory=lambda: defaultdict(dict))
    links: dict[Link, int] = field(default_factory=dict)
    link_properties: dict[Link, Mapping[str, Value]] = field(default_factory=dict)
    whole_labels: set[str] = field(default_factory=set)
    centres: set[str] = field(default_factory=set)
    closures: set[tuple[str, str, tuple[int, Any]]] = field(default_factory=set)
    hidden_direction: bool = False
    understood: bool = True

    def closed(self, key: str) -> bool:
        """True where all relationships of a node were shown."""
        known = {**self.properties[key], KEY: key}
        return key in self.centres or any(
            (label, name, value_order(value)) in self.closures
            for label in self.labels[key]
            for name, value in known.items()
        )

    def label(self, key: str, labels: Iterable[str]) -> None:
        """A node has these labels, besides those that it was seen with before."""
        self.labels[key] = self.labels.get(key, frozenset()).union(labels)

    def meet(self, labels: Iterable[str] | None, properties: Any) -> str | None:
        """A node with all of its properties: its key, None where this is no node."""
        key = properties.get(KEY) if isinstance(properties, dict) else None
        if not isinstance(key, str) or labels is None:
            return None
        self.label(key, labels)
        self.properties[key] |= _plain(properties)
        return key


def shown_by(trajectory: Trajectory) -> Shown:
    """What an episode has seen. Never raises; what is not understood shows nothing."""
    shown = Shown(schema_pairs("\n".join(message.content or "" for message in trajectory.prompt)))
    understood = []
    for view in views_of(trajectory.results):
        known = _read_view(shown, view)
        understood.append(known and view.found > 0)
    shown.understood = any(understood) or not any(map(shows_data, trajectory.results))
    seen = {(link.type, link.source, link.target) for link in shown.links if link.properties is not None}
    for link in [link for link in shown.links if link.properties is None and link[:3] in seen]:
        del shown.links[link]  # seen by another tool too, which shows the properties
    return shown


@lru_cache(maxsize=256)
def schema_pairs(prompt: str) -> frozenset[Pair]:
    """What can be joined as the prompt says it, in Cypher's patterns; nothing where it says nothing."""
    return frozenset(_PATTERN.findall(prompt))


def _read_view(shown: Shown, view: View) -> bool:
    """False where the rows are of a form that no tool of ours has."""
    if _all_have(view, _NEIGHBOR_COLUMNS, _NEIGHBORS) and all(
        labels_in(r, "neighbor_label") is not None for r in view.rows
    ):
        _read_neighbors(shown, view)
    elif _all_have(view, {"values"}, _VALUES):
        _read_values(shown, view)
    else:
        return None not in [shown.meet(labels_in(row, "label"), row.get("properties")) for row in view.rows]
    return True


def _all_have(view: View, names: Set[str], tool: str) -> bool:
    """True for rows with these columns; for none at all where the tool is the one whose columns these are."""
    rows = list(view.rows)
    return all(names <= row.keys() for row in rows) and (bool(rows) or view.tool == tool)


def _read_values(shown: Shown, view: View) -> None:
    """A list of keys shows nodes; lists of other values show no node that has them."""
    label, kind = view.text("entity_name"), view.text("entity_type") or ""
    if label is None or kind.strip().lower() != "node" or view.text("property_name") != KEY:
        return
    for row in view.rows:
        if isinstance(row.get("values"), str):
            shown.label(row["values"], [label])
    if view.whole and view.tool == _VALUES:
        shown.whole_labels.add(label)


def _read_neighbors(shown: Shown, view: View) -> None:
    label, name, value = view.text("label"), view.text("property_name"), view.value("property_value")
    counted: Counter[tuple[Link, Side]] = Counter()
    for row in view.rows:
        centre = row.get("center_key")
        if isinstance(centre, str) and label is not None:
            shown.label(centre, [label])
            if name is not None and value is not None and name != KEY:
                shown.properties[centre][name] = value
            _count_link(shown, counted, centre, row)
    for (link, _), number in counted.items():
        # Both ends of a relationship may have shown it: it is the same one.
        shown.links[link] = max(number, shown.links.get(link, 0))
    if view.tool == _NEIGHBORS and label is not None and name is not None and value is not None:
        _close(shown, view, (label, name, value_order(value)))


def _close(shown: Shown, view: View, closure: tuple[str, str, tuple[int, Any]]) -> None:
    """Rows of one centre stand together, so that of some pages only the last one can be incomplete."""
    if view.whole:
        shown.closures.add(closure)
    centres = list(dict.fromkeys(row.get("center_key") for row in view.rows_from_first_page()))
    shown.centres |= {key for key in centres[: None if view.whole else -1] if isinstance(key, str)}


def _count_link(shown: Shown, counted: Counter[tuple[Link, Side]], centre: str, row: Row) -> None:
    other = shown.meet(labels_in(row, "neighbor_label"), row.get("neighbor_properties"))
    if other is None or not isinstance(row.get("type"), str):
        return
    side = _side(shown, row, shown.labels[centre], shown.labels[other])
    if side is None:
        return
    source, target = (centre, other) if side == "outgoing" else (other, centre)
    properties = row.get("relationship_properties")
    if not isinstance(properties, dict):
        counted[Link(row["type"], source, target, None), side] += 1
        return
    plain = _plain(properties)
    link = Link(row["type"], source, target, tuple((n, value_order(plain[n])) for n in sorted(plain)))
    shown.link_properties[link] = plain
    counted[link, side] += 1


def _side(shown: Shown, row: Row, centre: Set[str], other: Set[str]) -> Side | None:
    """As the row says; where directions are not shown, what the schema allows."""
    if "direction" in row:
        said: Side | None = row["direction"] if row["direction"] in ("outgoing", "incoming") else None
        return said
    outgoing, incoming = (
        any((source, row["type"], target) in shown.pairs for source in sources for target in targets)
        for sources, targets in ((centre, other), (other, centre))
    )
    if outgoing == incoming:
        shown.hidden_direction = True
        return None
    return "outgoing" if outgoing else "incoming"


def _plain(properties: Mapping[Any, Any]) -> dict[str, Value]:
    """Without the key, which is no property of its own, and without what no property can be."""
    return {
        name: value
        for name, value in properties.items()
        if isinstance(name, str) and name != KEY and isinstance(value, str | int | float)
    }
