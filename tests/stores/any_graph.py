"""Strategies for graphs with every oddity: names of any characters, no label or several, and values of all kinds."""

import json

from hypothesis import strategies as st

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import schema_of
from graphwalk.graphs.values import Point, Row, Temporal, Value, duration_text, read_temporal, shown
from graphwalk.models.chat import ToolCall
from graphwalk.stores.base import GraphStore
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.graph_toolbox import GraphToolbox

NODES = (
    "MATCH (n{{ any_node }}) RETURN {{ 'n' | key_of }} AS key, {{ 'n' | labels_of }} AS labels, "
    "{{ 'n' | properties_of }} AS properties"
)
RELATIONSHIPS = (
    "MATCH (a{{ any_node }})-[r]->(b{{ any_node }}) RETURN type(r) AS type, {{ 'a' | key_of }} AS s, "
    "{{ 'b' | key_of }} AS t, properties(r) AS properties"
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
ODD_TEXT = st.sampled_from(
    ["", "\0", '\0{"$date": "2001-04-25"}', "gw_none", "gw__l000000", "NaN", "1", "2001-04-25", "é́", " "]
)
NAMES = st.one_of(
    st.sampled_from(["name", "type", "id", "title", "a b", "Größe", "日本語", "1st", "`", "x`:`y", "gw__x", "MATCH"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\\\0"), min_size=1, max_size=5),
).filter(lambda name: name != "key")
LABELS = NAMES.filter(lambda name: not name.startswith("gw_"))
INTEGERS = st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.one_of(st.booleans(), INTEGERS, st.sampled_from([0, 1, 1.0, 2**63 - 1, -(2**63)]), st.floats())


def _offset(minutes: int) -> str:
    """-90 → "-01:30"; 0 → "Z"."""
    if minutes == 0:
        return "Z"
    sign = "-" if minutes < 0 else "+"
    hours, rest = divmod(abs(minutes), 60)
    return f"{sign}{hours:02}:{rest:02}"


def _clock(hour: int, minute: int, second: int, nanosecond: int) -> str:
    return read_temporal(f"{hour:02}:{minute:02}:{second:02}.{nanosecond:09}", "local time").text


CLOCKS = st.builds(
    _clock, st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), st.sampled_from([0, 1, 500_000_000, 123456])
)
OFFSETS = st.integers(-1080, 1080).map(_offset)
DATES = st.dates().map(str)
TEMPORALS = st.one_of(
    st.builds(Temporal, st.just("date"), DATES),
    st.builds(Temporal, st.just("local time"), CLOCKS),
    st.builds(Temporal, st.just("time"), st.tuples(CLOCKS, OFFSETS).map("".join)),
    st.builds(Temporal, st.just("local datetime"), st.tuples(DATES, CLOCKS).map("T".join)),
    st.builds(Temporal, st.just("datetime"), st.tuples(DATES, st.just("T"), CLOCKS, OFFSETS).map("".join)),
    st.sampled_from(
        [
            Temporal("datetime", "2001-10-28T02:30:00+01:00[Europe/Paris]"),
            Temporal("datetime", "2001-10-28T02:30:00+02:00[Europe/Paris]"),
            Temporal("datetime", "1890-10-28T02:30:00+00:09:21[Europe/Paris]"),
            Temporal("datetime", "2001-10-28T02:30:00Z[UTC]"),
        ]
    ),
    st.builds(
        lambda *parts: Temporal("duration", duration_text(*parts)),
        *(st.integers(-(10**6), 10**6),) * 3,
        st.integers(-999_999_999, 999_999_999),
    ),
)
COORDINATES = st.floats(-90, 90)
POINTS = st.one_of(
    st.builds(Point, st.sampled_from([4326, 7203]), st.tuples(COORDINATES, COORDINATES)),
    st.builds(Point, st.sampled_from([4979, 9157]), st.tuples(COORDINATES, COORDINATES, COORDINATES)),
)
SINGLE = st.one_of(TEXT, ODD_TEXT, NUMBERS, TEMPORALS, POINTS, st.binary(max_size=4))
LISTS: st.SearchStrategy[tuple[Value, ...]] = st.one_of(
    *(st.lists(kind, max_size=3).map(tuple) for kind in (TEXT, INTEGERS, st.floats(), TEMPORALS, POINTS, SINGLE)),
    st.lists(st.lists(SINGLE, max_size=2).map(tuple), max_size=2).map(tuple),
)
VALUES: st.SearchStrategy[Value] = st.one_of(SINGLE, LISTS)
PROPERTIES = st.dictionaries(NAMES, VALUES, max_size=3)


@st.composite
def any_graphs(draw: st.DrawFn) -> PropertyGraph:
    """Up to five nodes and six relationships, loops and parallel ones among them."""
    labels = st.lists(st.sampled_from(draw(st.lists(LABELS, min_size=1, max_size=3))), unique=True, max_size=3)
    keys = draw(st.lists(st.one_of(TEXT, ODD_TEXT), min_size=1, max_size=5, unique=True))
    nodes = [Node(key, tuple(sorted(draw(labels))), draw(PROPERTIES)) for key in keys]
    some = st.sampled_from(keys)
    types = st.sampled_from(draw(st.lists(NAMES, min_size=1, max_size=2)))
    ends = draw(st.lists(st.tuples(types, some, some, PROPERTIES), max_size=6))
    return PropertyGraph.from_rows(nodes, [Relationship(*end) for end in ends])


async def holds_as_shown(store: GraphStore, graph: PropertyGraph) -> None:
    """Check that the store shows the loaded names and values, and no internal ones."""
    expected = []
    for node in graph.nodes():
        properties = shown({"key": node.key, **node.properties})
        expected.append({"key": node.key, "labels": list(node.labels), "properties": properties})
    nodes = await store.run(store.render(NODES, {}))
    assert sorted(map(_as_text, nodes)) == sorted(map(_as_text, expected))

    expected = []
    for link in graph.relationships():
        properties = shown(dict(link.properties))
        expected.append({"type": link.type, "s": link.source, "t": link.target, "properties": properties})
    relationships = await store.run(store.render(RELATIONSHIPS, {}))
    assert sorted(map(_as_text, relationships)) == sorted(map(_as_text, expected))
    for samples in (0, 2):
        assert repr(await store.schema(samples)) == repr(schema_of(graph, samples))  # NaN equals nothing


def _as_text(row: Row) -> str:
    return json.dumps(row, sort_keys=True)


async def is_found_as_shown(store: GraphStore, graph: PropertyGraph) -> None:
    """Check that every value of every node, looked up as a tool shows it, finds that node; lists cannot be looked up."""
    toolbox = GraphToolbox(store, await store.schema(), agent=AgentConfig())
    several = (await store.schema()).several_labels
    for node in graph.nodes():
        for name, value in {"key": node.key, **node.properties}.items():
            if isinstance(value, tuple):
                continue
            arguments = {"label": node.label, "property_name": name, "property_value": shown(value)}
            result = await toolbox.call(ToolCall("1", "get_node_by_property", json.dumps(arguments)))
            assert result.error is None, result.content
            expected: Row = {"properties": shown({"key": node.key, **node.properties})}
            if several:
                expected["labels"] = list(node.labels)
            else:
                expected["label"] = node.label
            rows = [row for row in read_rows(result.content) if row["properties"]["key"] == node.key]
            assert rows == [expected], arguments
