"""All kinds of questions on a graph of 12,000 nodes as people have them: hubs, several labels, dates, loops, parallels."""

from random import Random

import networkx as nx
import pytest

from graphwalk.stores.base import Database
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import choose_kinds
from graphwalk.suites.questions.generate import own_tasks
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Temporal

NODES = 12_000
LABELS = {"Person": 55.0, "Post": 38.0, "Forum": 6.8, "Place": 0.1, "Tag": 0.1}
TYPES = {"Person": "KNOWS", "Post": "HAS CREATOR", "Forum": "CONTAINS", "Place": "IN", "Tag": "ABOUT"}


def graph() -> PropertyGraph:
    draw = Random(7)
    hubs = nx.barabasi_albert_graph(NODES, 3, seed=7)
    label_of = [draw.choices(list(LABELS), list(LABELS.values()))[0] for _ in range(NODES)]
    relationships = []
    for one, other in hubs.edges():
        source, target = draw.sample((one, other), 2)
        properties = {"weight": draw.randint(1, 9)} if draw.random() < 0.6 else {}
        made = Relationship(TYPES[label_of[source]], f"n{source}", f"n{target}", properties)
        relationships += [made] * (2 if draw.random() < 0.03 else 1)
    relationships += [Relationship("KNOWS", f"n{n}", f"n{n}", {}) for n in range(0, NODES, 997)]
    return PropertyGraph.from_rows((_node(draw, f"n{n}", label) for n, label in enumerate(label_of)), relationships)


def _node(draw: Random, key: str, label: str) -> Node:
    labels = ("Moderator", label) if label == "Person" and draw.random() < 0.05 else (label,)
    since = Temporal("date", f"{draw.randint(2001, 2020)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}")
    score = {"score": draw.randint(0, 500)} if draw.random() < 0.7 else {}
    return Node(key, labels, {"name": f"Name {draw.randrange(400)}", "since": since, **score})


@pytest.mark.slow
async def test_both_engines_draw_the_same_questions_with_the_same_answers(any_database: Database) -> None:
    made = graph()
    here, there = await _drawn(made, EmbeddedDatabase()), await _drawn(made, any_database)
    assert len(here) == len(choose_kinds())
    assert here == there


async def _drawn(made: PropertyGraph, database: Database) -> list[str]:
    left_out: dict[str, str] = {}
    store = await database.load(made)
    tasks = await own_tasks(made, store, choose_kinds(None), seed=3, leave_out=left_out.__setitem__)
    assert left_out == {}
    return [task.model_dump_json() for task in tasks]
