import asyncio
import itertools
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given

from graphwalk.config.templates import shipped_prompts
from graphwalk.errors import ConfigError, StoreError, ToolMistake
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Temporal
from graphwalk.stores import embedded
from graphwalk.stores.base import Database
from graphwalk.stores.cypher_check import LONGEST_QUERY
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.loading import with_safe_names
from tests.stores.any_graph import any_graphs, holds_as_shown, is_found_as_shown
from tests.stores.test_cypher_check import LOADS, WRITING


@given(any_graphs())
def test_any_graph_is_held_as_shown_and_what_tools_show_is_found(graph: PropertyGraph) -> None:
    async def check() -> None:
        store = await EmbeddedDatabase().load(graph)
        assert store.graph.digest == with_safe_names(graph).digest
        await holds_as_shown(store, store.graph)
        await is_found_as_shown(store, store.graph)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded, "BATCH", 2)
        asyncio.run(check())


def ring(nodes: int) -> PropertyGraph:
    """Nodes in a circle, each joined to the next three."""
    keys = [f"k{number}" for number in range(nodes)]
    relationships = []
    for number, key in enumerate(keys):
        for step in (1, 2, 3):
            target = keys[(number + step) % nodes]
            relationships.append(Relationship("R", key, target, {}))
    return PropertyGraph.from_rows([Node(key, ("A",), {}) for key in keys], relationships)


async def test_a_long_query_ends_in_time_and_lets_others_run() -> None:
    store = await EmbeddedDatabase(timeout_seconds=0.5).load(ring(3000))
    walk = asyncio.create_task(store.run("MATCH (a:A)-[*1..9]->(b:A)-->(c) RETURN count(*) AS n"))
    turns = 0
    while not walk.done():
        await asyncio.sleep(0.01)
        turns += 1
    with pytest.raises(StoreError, match=r"longer than 0\.5 s"):
        await walk
    assert turns > 1


async def test_unknown_label_writes_nothing_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    store = await EmbeddedDatabase().load(ring(3))
    assert await store.run("MATCH (n:Nosuch) RETURN n") == []
    assert capfd.readouterr().err == ""


async def test_a_dropped_graph_answers_no_more() -> None:
    store = await EmbeddedDatabase().load(ring(3))
    await store.drop()
    with pytest.raises(StoreError, match="dropped"):
        await store.run("RETURN 1 AS one")


@pytest.mark.parametrize("length", ["*", "*1..", "r:NEXT* {n: 1}"])
async def test_a_path_without_an_upper_bound_is_refused(length: str) -> None:
    """kglite would end it after ten relationships without a word; bounded paths are walked in full."""
    keys = [f"k{number}" for number in range(31)]
    steps = [Relationship("NEXT", one, other, {}) for one, other in itertools.pairwise(keys)]
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows([Node(key, ("Link",), {}) for key in keys], steps))
    query = "MATCH (a:Link {key: 'k0'})-[%s]->(b) RETURN count(*) AS n"
    assert await store.run(query % "*1..") == [{"n": 10}], "kglite has been mended: take the refusal out"
    assert await store.run(store.render(query % "*1..30", {})) == [{"n": 30}]
    with pytest.raises(ConfigError, match="after ten relationships") as refused:
        store.render(query % length, {})
    assert "-[*1..20]->" in refused.value.hint
    for other in ("[*2]", "[*..3]", "[r:A*2..5 {n: 1}]", "[]"):
        query = f"MATCH (a)-{other}->(b) RETURN count(*) - [2*3][0] - 1 AS n"
        assert store.render(query, {}) == query


DAY = Temporal("date", "1897-09-21")
PLACES = PropertyGraph.from_rows(
    [
        Node("a", ("Größe", "Ort"), {"name": "Ada", "1st": 2, "day": DAY}),
        Node("b", ("Ort",), {"name": "Bo", "type": "x", "day": Temporal("date", "1898-01-02")}),
    ],
    [Relationship("führt zu", "a", "b", {"id": 7})],
)
BO = {"labels": ["Ort"], "properties": {"day": "1898-01-02", "key": "b", "name": "Bo", "type_": "x"}}


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("MATCH (n:Grosse) RETURN n.name", [{"n.name": "Ada"}]),
        ("MATCH (n {name: 'Bo'}) RETURN n.type_, labels(n), n", [{"n.type_": "x", "labels(n)": ["Ort"], "n": BO}]),
        ("MATCH (n:Grosse)-[r:`fuhrt zu` {id_: 7}]->(m) RETURN r.id_, m.key", [{"r.id_": 7, "m.key": "b"}]),
        ("MATCH (n:Ort) RETURN n.name AS x ORDER BY x DESC", [{"x": "Bo"}, {"x": "Ada"}]),
        ("MATCH (n) WHERE n.day < '1898' RETURN n.key AS key, n._1st AS first", [{"key": "a", "first": 2}]),
    ],
)
async def test_a_query_of_a_model_runs_as_written(query: str, rows: list[dict[str, Any]]) -> None:
    async with EmbeddedDatabase() as database:
        store = await database.load(PLACES)
        result = await store.ask(query, seconds=10, rows=10)
    assert (result.rows, result.total, result.ordered) == (rows, len(rows), "ORDER" in query)


async def test_a_query_of_a_model_is_limited_in_rows() -> None:
    async with EmbeddedDatabase() as database:
        store = await database.load(ring(50))
        result = await store.ask("MATCH (n:A) RETURN n.key", seconds=10, rows=7)
    assert (len(result.rows), result.total) == (7, 50)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        (WRITING[0], "write_refused"),
        (LOADS[0], "not_offered"),
        ("CALL db.labels() YIELD label RETURN label", "not_offered"),
        ("RETURN $x", "not_offered"),
        ("MATCH (n:gw_node) RETURN n", "not_offered"),
        ("MATCH (a)-[*]->(b) RETURN b", "query_error"),
        ("MATCH (n) RETURN m", "query_error"),
        ("MATCH (n) WHERE n.day = date('1897-09-21') RETURN n", "query_error"),
        ("MATCH (n) RETURN n.type", "query_error"),
        ("MATCH (n {id: 7}) RETURN n", "query_error"),
        ("RETURN 1" + " " * LONGEST_QUERY, "too_large"),
    ],
)
async def test_a_query_of_a_model_is_refused_in_words(query: str, kind: str) -> None:
    async with EmbeddedDatabase() as database:
        store = await database.load(PLACES)
        with pytest.raises(ToolMistake) as refused:
            await store.ask(query, seconds=10, rows=10)
    assert refused.value.kind == kind
    assert shipped_prompts().message(refused.value.message, **refused.value.values)


SCRIPT = """
import asyncio, os, signal, threading
from graphwalk.terminal import Interrupted, run_async
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.graphs.graph import Node, PropertyGraph

async def work():
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows([Node(f"k{i}", ("A",), {"n": i}) for i in range(3000)], []))
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    QUERIES

try:
    run_async(work(), STOPPED)
except Interrupted as interrupted:
    print(interrupted, interrupted.exit_code)
"""


LONG = """await store.run("MATCH (a:A), (b:A), (c:A) WHERE a.n + b.n + c.n = -1 RETURN count(*) AS many")"""
BRIEF = """while True:
        await store.run("MATCH (a:A), (b:A) WHERE b.n < 5 AND a.n + b.n = -1 RETURN count(*) AS many")
        await asyncio.sleep(0)"""


@pytest.mark.parametrize(
    ("queries", "stopped"), [(LONG, ""), (BRIEF, "stopped, and said so")], ids=["in a thread", "in the event loop"]
)
def test_ctrl_c_in_the_middle_of_a_query_is_meant_for_the_whole_work(queries: str, stopped: str) -> None:
    """The engine takes SIGINT for itself as long as it works."""
    words = [sys.executable, "-c", SCRIPT.replace("STOPPED", repr(stopped)).replace("QUERIES", queries)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == ("SIGINT 130\n", f"SIGINT: {stopped}\n" if stopped else "")


PERSON = {"name": "Ida", "title": "Dr", "type": "lead", "id": 7, "label": "x", "année": 3, "gw_odd": 4, "born": 1}
GRAPH = PropertyGraph.from_rows(
    [
        Node("p1", ("Person",), PERSON),
        Node("p2", ("Person",), {"born": 2}),
        Node("m1", ("Movie",), {"title": "name: p.name", "type": "long"}),
    ],
    [Relationship("ACTED_IN", "p1", "m1", {"type": "guest", "name": "Ann"})],
)
QUERIES: dict[str, list[dict[str, Any]]] = {
    "MATCH (p:Person {name: 'Ida'})-[r:ACTED_IN]->(m:Movie) RETURN p.name, m.title_, r.type_ AS role": [
        {"p.name": "Ida", "m.title_": "name: p.name", "role": "guest"}
    ],
    "MATCH (p:Person {born: 1, id_: 7}) RETURN p.id_ AS id, p . type_ AS type, p.`label_` AS label": [
        {"id": 7, "type": "lead", "label": "x"}
    ],
    "MATCH (name:Person) WHERE name.name IS NULL RETURN name.key AS name, name.title_ AS title": [
        {"name": "p2", "title": None}
    ],
    "MATCH (p:Person)-[{name: 'Ann'}]->(m) RETURN p.annee AS b, p.gw_odd AS c": [{"b": 3, "c": 4}],
    "MATCH (p:Person) WITH {name: p.name, born: p.born} AS m WHERE m.born < 2 RETURN m.name AS name, m": [
        {"name": "Ida", "m": {"born": 1, "name": "Ida"}}
    ],
    "MATCH (p:Person)-[*1..2]->(m) WHERE p.name IN ['name', 'Ida'] RETURN p {.name, .born} AS p": [
        {"p": {"born": 1, "name": "Ida"}}
    ],
    "MATCH (p:Person) RETURN toUpper(p['name']) AS name ORDER BY p.born LIMIT 1": [{"name": "IDA"}],
    'MATCH (p:{{ person | label }}) WHERE p.{{ name | property }} = p.name RETURN {{ name | of("p", "Person") }} AS name': [
        {"name": "Ida"}
    ],
}


@pytest.mark.parametrize("query", QUERIES)
async def test_names_mean_the_same_on_both_engines(query: str, any_database: Database) -> None:
    store = await any_database.load(GRAPH)
    assert await store.run(store.render(query, {"name": "name", "person": "Person"})) == QUERIES[query]


@pytest.mark.parametrize(
    "query", ["MATCH (p) RETURN p.title", "MATCH (p {`id`: 7}) RETURN p", "MATCH (p) RETURN p {.type}"]
)
async def test_a_reserved_name_is_refused_with_the_name_to_write(query: str) -> None:
    store = await EmbeddedDatabase().load(GRAPH)
    with pytest.raises(ConfigError, match="a meaning of its own") as refused:
        store.render(query, {})
    assert "_, which the property is called here" in refused.value.hint


async def test_a_refusal_has_the_query() -> None:
    store = await EmbeddedDatabase().load(GRAPH)
    with pytest.raises(StoreError, match=r"'born' on Movie(.|\n)*\{born: 1\}"):
        await store.run(store.render("MATCH (m:Movie {born: 1}) RETURN m.key AS key", {}))
