"""Small graphs of any shape that a user's may have: several labels or none, values of every kind."""

from random import Random

from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Point, Temporal, Value

LABELS = ("Person", "Film critic", "Ärztin", "2nd")
TYPES = ("KNOWS", "worked with")
PROPERTIES = ("name", "born on", "größe", "type")
VALUES: tuple[Value, ...] = (
    *("Oslo", "oslo", "", "1", "2001-04-25", "true", True, False, 1, 1.0, 2.5, -3, 2**60, float("nan")),
    *(
        Temporal("date", "2001-04-25"),
        Temporal("date", "1999-12-31"),
        Temporal("local datetime", "2001-04-25T10:00:00"),
    ),
    *(Temporal("duration", "P1D"), Point(4326, (12.5, 55.7)), b"\x00\xff", (1, 2), ("a", "b")),
)


def any_graph(random: Random, *, bare: bool = True) -> PropertyGraph:
    """4 to 14 nodes, dense enough to host questions; loops, parallel relationships. `bare`: some have no label."""
    pool = random.sample(VALUES, random.randint(2, 8))
    missing = random.choice((0.1, 0.5))

    def properties() -> dict[str, Value]:
        return {name: random.choice(pool) for name in PROPERTIES if random.random() > missing}

    several = (0, 1, 1, 2, 3) if bare else (1, 1, 2)
    nodes = [
        Node(f"k {number}", tuple(sorted(random.sample(LABELS, random.choice(several)))), properties())
        for number in range(random.randint(4, 14))
    ]
    relationships = [
        Relationship(random.choice(TYPES), random.choice(nodes).key, random.choice(nodes).key, properties())
        for _ in range(random.randint(6, 30))
    ]
    relationships += [r for r in relationships if random.random() < 0.2]
    return PropertyGraph.from_rows(nodes, relationships)
