"""Search in an existing Neo4j: by full-text indexes, and by a scan; the same matches from each."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from graphwalk.stores.neo4j import existing_search
from graphwalk.stores.neo4j.existing import ExistingStore
from graphwalk.stores.neo4j.existing_search import lucene_query
from graphwalk.stores.search import MATCHES, SearchText
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tools
from tests.safety.hostile import hostile_strings
from tests.stores.neo4j.existing import MARK, OwnDatabase, call
from tests.stores.test_search import RUNGS

pytestmark = pytest.mark.neo4j
EQUAL, FOLDED, PREFIX, ALL_WORDS, PART, TYPING_ERRORS = MATCHES
NODES = f"""
CREATE (f:{MARK}:StFilm {{title: 'The Matrix', key: 'odd', seats: [1.5, 2.5]}}),
  (:{MARK}:StFilm {{title: 'Fog', aka: ['Nebel', 'La brume']}})<-[:ST_IN]-(p:{MARK}:StPerson {{name: 'Tomás Leal'}}),
  (p)-[:ST_IN]->(f)-[:ST_NEXT]->(f)
WITH f UNWIND range(1, 300) AS n CREATE (:{MARK}:StFilm {{title: 'Number ' + n, text: 'A film of ' + n + ' minutes'}})
"""
INDEXES = {
    "scan": None,
    "fulltext": "CREATE FULLTEXT INDEX st_index FOR (n:StFilm|StPerson) ON EACH [n.title, n.aka, n.name]",
}
LUCENE = (
    *('+-&|!(){}[]^"~*?:\\/', "title:matrix", "a AND NOT b", "AND", "NOT", "OR OR", "matrix~5", "*", "?*", "*:*", "\\"),
    *(
        "[a TO z]",
        "{* TO *}",
        "(((((",
        "a^1e99",
        "/.*/",
        '"unclosed',
        "`) DETACH DELETE n //",
        "%' OR '1'='1",
        "{{ x }}",
    ),
    *(
        "\ud800",
        "a\ud800b",
        "\0",
        "a\0b",
        "\u202exirtam",
        "مصفوفة",
        "東京都",
        "🎬🎬",
        "x" * 300,
        "x " * 150,
        "x" * 10_000,
    ),
)


class Films:
    """The database of these tests, with one kind of index."""

    def __init__(self, own: OwnDatabase, kind: str) -> None:
        self.own, self.kind = own, kind

    async def open(self) -> ExistingStore:
        return await self.own.open([MARK])


@pytest.fixture(params=INDEXES)
async def films(request: pytest.FixtureRequest, own: OwnDatabase) -> AsyncIterator[Films]:
    await own.write(NODES)
    if statement := INDEXES[request.param]:
        await own.write(statement)
        await own.write("CALL db.awaitIndexes(60)")
    yield Films(own, request.param)
    await own.write("DROP INDEX st_index IF EXISTS")


async def test_every_source_finds_the_same_matches(films: Films) -> None:
    store = await films.open()
    for text, match in RUNGS:
        if not text.strip("?!") or (text == "TheMatrix" and films.kind == "fulltext"):
            continue  # without a letter, or two words of the index in one
        result = await store.search(text, label="StFilm")
        assert [row["match"] for row in result.rows[:1]] == ([match] if match else []), text
        assert result.scanned == (films.kind == "scan"), text
    [row] = (await store.search("the matrix", label="StFilm")).rows
    assert (row["property"], row["value"], row["relationships"]) == ("title", "The Matrix", 2)
    assert row["labels"] == ["StFilm", MARK]


async def test_lists_accents_and_other_labels(films: Films) -> None:
    store = await films.open()
    [row] = (await store.search("nebel")).rows
    assert (row["property"], row["value"], row["match"]) == ("aka", ["Nebel", "La brume"], FOLDED)
    [row] = (await store.search("tomas leal")).rows
    assert (row["labels"][0], row["match"], row["relationships"]) == ("StPerson", FOLDED, 2)
    assert (await store.search("tomas leal", label="StFilm")).rows == []
    title = store.dialect.key_title
    if films.kind == "scan":
        assert [row["property"] for row in (await store.search("odd", label="StFilm")).rows] == [title]


async def test_hostile_texts_change_nothing_and_are_answered_in_words(own: OwnDatabase) -> None:
    await own.write(NODES.replace("range(1, 300)", "range(1, 20)"))
    await own.write("CREATE FULLTEXT INDEX st_people FOR (n:StPerson) ON EACH [n.name]")
    await own.write("CALL db.awaitIndexes(60)")
    store = await own.open([MARK])
    before = await own.digest()
    toolbox = GraphToolbox(store, await store.schema(), load_tools(OWN_GRAPH_TOOLS))
    texts = [*LUCENE, *random.Random(3).sample([one.text for one in hostile_strings()], 15)]
    turns = asyncio.Semaphore(8)

    async def attack(text: str) -> None:
        async with turns:
            result = await call(store, "search_nodes", toolbox=toolbox, text=text)
        assert result.error in (None, "bad_arguments"), (text[:80], result.content)
        assert result.rows or result.content.startswith(("Note: no text of a node", "The text for search_nodes")), text

    await asyncio.gather(*map(attack, texts))
    outside = await call(store, "search_nodes", toolbox=toolbox, text="the matrix")
    assert (outside.rows, 'from the index "st_people"' in outside.content) == (0, True)
    assert (await call(store, "search_nodes", toolbox=toolbox, text="the matrix", label="StFilm")).rows == 1
    assert await own.digest() == before
    await own.write("DROP INDEX st_people")


async def test_a_result_names_a_scan(own: OwnDatabase) -> None:
    await own.write(NODES)
    store = await own.open([MARK])
    toolbox = GraphToolbox(store, await store.schema(), load_tools(OWN_GRAPH_TOOLS))
    result = await call(store, "search_nodes", toolbox=toolbox, text="the matrix")
    assert result.rows == 1
    assert "no full-text index covers all nodes, so the texts of up to 100,000 nodes were read" in result.content


async def test_a_scan_that_the_server_stops_is_named(own: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    await own.write(NODES)
    store = await own.open([MARK])
    endless = "UNWIND range(1, 1000000000000) AS number WITH number WHERE number < 0 "  # on a machine of any speed
    monkeypatch.setattr(existing_search, "_SCAN", endless + existing_search._SCAN)
    result = await store.search("zzzzzzzz yyyyyyy", seconds=0.01)
    assert (result.rows, result.stopped, result.scanned) == ([], True, True)


def test_a_full_text_query_has_letters_and_digits_only() -> None:
    assert lucene_query(SearchText('AND "Matrix"~')) == ("+(and^8 *and*^2 and~1) +(matrix^8 *matrix*^2 matrix~2)")
    assert lucene_query(SearchText('+-!(){}[]^"~*?:\\/')) == ""
    assert lucene_query(SearchText("x " * 150)) == "+(x^8 *x*^2)"
