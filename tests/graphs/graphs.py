"""Hypothesis strategies for the specs and graphs that these tests share."""

from hypothesis import strategies as st

from graphwalk.graphs.random.spec import GraphSpec
from graphwalk.types.graph import Node, PropertyGraph, Relationship

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
    ["it's", 'a "quote"', "\\", "\\u0041", "`", "]]>", "<&>", " x "]
)
names = (st.text(_printable, min_size=1, max_size=8) | st.sampled_from(["label", "type", "a b", "`", "}, {"])).filter(
    lambda name: name != "key"
)
values = texts | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
properties = st.dictionaries(names, values, max_size=4)


@st.composite
def foreign_graphs(draw: st.DrawFn) -> PropertyGraph:
    """Small graphs with every kind of value and awkward names, loops and parallel relationships."""
    keys = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    nodes = [Node(key, (draw(names),), draw(properties)) for key in keys]
    ends = st.sampled_from(keys)
    relationships = draw(st.lists(st.builds(Relationship, names, ends, ends, properties), max_size=6))
    return PropertyGraph.from_rows(nodes, relationships)
