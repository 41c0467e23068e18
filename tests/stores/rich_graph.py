"""A graph with every kind of value that a graph file can hold, and with awkward texts."""

import math

from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Point, Temporal, Value

TEXTS = (
    "",
    " ",
    " x ",
    '"',
    '""',
    'say "so", twice',
    "a,b;c|d",
    "line\nbreak\r\nand\ttab",
    "it's",
    "\\",
    "名前 année",
    "null",
    "\0odd",
    "gw_none",
)
IN_FILES: tuple[Value, ...] = (
    *TEXTS,
    0,
    -(2**63),
    2**63 - 1,
    0.1,
    -0.0,
    5e-324,
    1e300,
    math.nan,
    math.inf,
    -math.inf,
    True,
    False,
    Temporal("date", "1815-12-10"),
    Temporal("time", "12:00:00.000000001+05:45"),
    Temporal("time", "12:00:00Z"),
    Temporal("local time", "23:59:59.999999999"),
    Temporal("datetime", "2001-04-25T12:00:00+02:00"),
    Temporal("datetime", "2001-04-25T12:00:00+02:00[Europe/Berlin]"),
    Temporal("local datetime", "2001-04-25T12:00:00.5"),
    Temporal("duration", "P1Y2M3DT4H5M6.5S"),
    Temporal("duration", "P-1M-2DT-3.25S"),
    Point(4326, (12.5, 55.7)),
    Point(4979, (12.5, 55.7, -3.0)),
    Point(7203, (-1e-7, 1e21)),
    Point(9157, (1.0, 2.0, 3.0)),
    b"\x00\x01\xff",
    (1, -2),
    (0.5, 1e300),
    (True, False),
    ("a", "", "b;c", 'say "so", twice', "\0odd"),
    ("", ""),
    (Temporal("date", "1815-12-10"), Temporal("date", "2001-04-25")),
    (Point(4326, (12.5, 55.7)), Point(4326, (1.0, 2.0))),
)
"""Values that a graph file can hold."""


def graph_to_ask_about() -> PropertyGraph:
    """A graph that every kind of question fits, with every value of a file on nodes and on relationships."""
    labels, count = ("First", "Second", "Third"), 2 * len(IN_FILES)
    nodes = [
        Node(
            f"n{number}",
            tuple(sorted({labels[number % 3], "Also"})) if number % 7 == 0 else (labels[number % 3],),
            {"value": IN_FILES[number // 2], "group": number % 4},
        )
        for number in range(count)
    ]
    relationships = [
        Relationship(
            ("TO", "ON")[number % 2],
            f"n{number}",
            f"n{(5 * number + 1 + 3 * more * more) % count}",
            {"value": IN_FILES[(number + more) // 4]},
        )
        for number in range(count)
        for more in range(1 + number % 3)
    ]
    return PropertyGraph.from_rows(nodes, relationships)
