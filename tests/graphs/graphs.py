"""Hypothesis strategies for the specs and graphs that these tests share."""

import math
from typing import Any

from hypothesis import strategies as st

from graphwalk.graphs.generate import GraphSpec
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import temporal_of
from tests.stores.any_graph import POINTS, TEMPORALS

specs = st.builds(
    GraphSpec,
    nodes=st.integers(6, 60),
    labels=st.integers(1, 6),
    relationship_types=st.integers(1, 4),
    properties=st.floats(1, 5),
    values=st.integers(1, 12),
    density=st.floats(0.001, 1),
    pair_fraction=st.floats(0.01, 1),
    missing_rate=st.sampled_from([0.0, 0.3, 0.95]),
    self_loops=st.booleans(),
    parallel_relationships=st.booleans(),
    offset=st.integers(0, 3),
)

_printable = st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co", "Zl", "Zp"))
texts = st.text(_printable, max_size=12) | st.sampled_from(
    ["it's", 'a "quote"', "\\", "\\u0041", "`", "]]>", "<&>", " x ", " ", "a\nb", "a\rb", "\r\n\t"]
)
names = (st.text(_printable, min_size=1, max_size=8) | st.sampled_from(["label", "type", "a b", "`", "}, {"])).filter(
    lambda name: name != "key"
)
values = texts | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
properties = st.dictionaries(names, values, max_size=4)


_lists = st.one_of(
    *(
        st.lists(items, max_size=3).map(tuple)
        for items in (
            texts.filter(bool),
            st.integers(-9, 9),
            st.floats(-1, 1),
            st.booleans(),
            POINTS,
            st.dates().map(temporal_of),
        )
    )
)
any_values = values | st.just(math.nan) | st.sampled_from([math.inf, -math.inf]) | TEMPORALS | POINTS | _lists
"""Values of every kind but bytes, which Cypher cannot write."""
_odd_names = names | st.sampled_from(
    ["année", "名前", "9lives", ":x", "a:b", "labels", "key_", "x,y", 'say "so"', "a;b"]
)


@st.composite
def odd_graphs(draw: st.DrawFn, of: st.SearchStrategy[Any] = any_values) -> PropertyGraph:
    """Small graphs with every kind of value, several labels or none, awkward names, loops, parallel relationships."""
    keys = draw(st.lists(_odd_names, min_size=1, max_size=5, unique=True))
    maps = st.dictionaries(_odd_names, of, max_size=4)
    labels = st.lists(_odd_names.filter(lambda name: not name.startswith("gw_")), max_size=3, unique=True)
    nodes = [Node(key, tuple(sorted(draw(labels))), draw(maps)) for key in keys]
    ends = st.sampled_from(keys)
    relationships = draw(st.lists(st.builds(Relationship, _odd_names, ends, ends, maps), max_size=6))
    return PropertyGraph.from_rows(nodes, relationships)
