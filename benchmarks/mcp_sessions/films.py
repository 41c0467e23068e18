"""A graph of six films, small enough to be read."""

from graphwalk.types.graph import Node, PropertyGraph, Relationship

FILMS = PropertyGraph.from_rows(
    [
        Node("f1", ("Film",), {"title": "The Ferry", "genre": "noir", "year": 1948}),
        Node("f2", ("Film",), {"title": "Low Water", "genre": "noir", "year": 1951}),
        Node("f3", ("Film",), {"title": "Salt", "genre": "western", "year": 1951}),
        Node("p1", ("Person",), {"name": "Ida Holm"}),
        Node("p2", ("Person",), {"name": "Per Lund"}),
    ],
    [
        Relationship("DIRECTED", "p1", "f1", {"days": 40}),
        Relationship("DIRECTED", "p1", "f2", {"days": 31}),
        Relationship("ACTED_IN", "p2", "f1", {"role": "the pilot"}),
        Relationship("ACTED_IN", "p2", "f3", {}),
    ],
)
