"""Small graphs of any shape that a user's may have, and any question about them, sensible or not."""

from collections.abc import Sequence
from random import Random

from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Point, Temporal, Value
from graphwalk.suites.questions.catalogue import QuestionKind
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.question import Question

LABELS = ("Person", "Film critic", "Ärztin", "2nd")
TYPES = ("KNOWS", "worked with")
PROPERTIES = ("name", "born on", "größe", "type")
VALUES: tuple[Value, ...] = (
    # No text that is one of the dates: the embedded engine holds a date as its text.
    *("Oslo", "oslo", "", "1", "true", True, False, 1, 1.0, 2.5, -3, 2**60, float("nan")),
    *(
        Temporal("date", "2001-04-25"),
        Temporal("date", "1999-12-31"),
        Temporal("local datetime", "2001-04-25T10:00:00"),
    ),
    *(Temporal("duration", "P1D"), Point(4326, (12.5, 55.7)), b"\x00\xff", (1, 2), ("a", "b")),
)
COMPARED = (*VALUES[:12], VALUES[13], 'it\'s "é" `$v`')
"""Values that a question may ask for: texts, numbers, booleans and dates."""


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


def any_question(kind: QuestionKind, index: GraphIndex, random: Random) -> Question:
    """Any parameters at all: absent names, values of another type, keys of another label."""
    parameters = dict[str, Value]()
    for name, parameter in kind.parameters.items():
        match parameter.role:
            case "label":
                options: Sequence[Value] = [*sorted(index.keys_by_label), "Absent"]
            case "relationship_type":
                options = [*sorted(index.relationships_of), "ABSENT"]
            case "key":
                options = [*index.nodes, "nobody"]
            case "property" if kind.parameters[str(parameter.of)].role == "label":
                # The embedded engine refuses a property that no node with the label has.
                options = [*index.property_names("node", str(parameters[str(parameter.of)])), "key"]
            case "property":
                options = ["name", "born on", "grosse", "type_", "absent"]
            case "value":
                options = COMPARED
            case "hops":
                options = range(parameter.at_least if kind.name == "remote_node_property" else 1, 4)
        parameters[name] = random.choice(options)
    if parameters.get("key") in index.nodes and random.random() < 0.9:
        labels = index.nodes[str(parameters["key"])].labels
        parameters["source_label"] = random.choice(labels or ("Absent",))
    return Question(kind, index, parameters)
