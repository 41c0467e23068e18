"""Small graphs of odd shapes, and any question about them, sensible or not."""

from collections.abc import Sequence
from random import Random

from graphwalk.suites.questions.catalogue import Question, QuestionKind
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Value

LABELS = ("A", "B", "C", "Odd `label`", "Absent")
TYPES = ("R", "S", "odd-type", "ABSENT")
PROPERTIES = ("p", "q", "two words", "name", "id", "absent")
VALUES: tuple[Value, ...] = (True, False, 0, 1, 1.0, 2.5, -3, "x", "1", "", "true", 'it\'s "é" `$v`')


def odd_graph(random: Random) -> PropertyGraph:
    """0 to 9 nodes; self-loops, parallel relationships, missing and mixed properties, lonely nodes, no nodes at all."""
    labels = random.sample(LABELS[:-1], random.randint(1, 3))
    types = random.sample(TYPES[:-1], random.randint(1, 2))
    missing = random.choice((0.0, 0.3, 0.9))
    pool = random.sample(VALUES, random.randint(1, 4))

    def properties() -> dict[str, Value]:
        return {name: random.choice(pool) for name in PROPERTIES[:-1] if random.random() > missing}

    nodes = [Node(f"k{n}", (random.choice(labels),), properties()) for n in range(random.randint(0, 9))]
    ends = nodes[: random.randint(0, len(nodes))] if random.random() < 0.3 else nodes
    relationships = [
        Relationship(random.choice(types), random.choice(ends).key, random.choice(ends).key, properties())
        for _ in range(random.randint(0, 18))
        if ends
    ]
    relationships += [r for r in relationships if random.random() < 0.15]
    return PropertyGraph.from_rows(nodes, relationships)


def odd_question(kind: QuestionKind, index: GraphIndex, random: Random) -> Question:
    """Any parameters at all: absent names, values of another type, keys of another label."""
    template, parameters = kind.template, dict[str, Value]()
    for name, parameter in template.parameters.items():
        match parameter.role:
            case "label":
                options: Sequence[Value] = LABELS if random.random() < 0.2 else sorted(index.keys_by_label) or LABELS
            case "relationship_type":
                options = TYPES if random.random() < 0.2 else sorted(index.relationships_of) or TYPES
            case "key":
                options = (*index.nodes, "nobody")
            case "property" if template.parameters[str(parameter.of)].role == "label":
                # The embedded engine refuses a property that no node with the label has.
                options = (*index.property_names("node", str(parameters[str(parameter.of)])), "key")
            case "property":
                options = PROPERTIES
            case "value":
                options = VALUES
            case "hops":
                options = range(parameter.at_least if template.name == "remote_node_property" else 1, 4)
        parameters[name] = random.choice(options)
    if parameters.get("key") in index.nodes and random.random() < 0.9:
        labels = index.nodes[str(parameters["key"])].labels
        parameters["source_label"] = random.choice(labels or LABELS)
    return Question(kind, index, parameters)
