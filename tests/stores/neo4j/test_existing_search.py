"""Search in an existing Neo4j: by full-text indexes, and by a scan; the same matches from each."""

import asyncio

import pytest

from graphwalk.stores.neo4j import existing
from graphwalk.stores.neo4j.existing import lucene_query
from graphwalk.stores.search import MATCHES, SearchText
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tools
from tests.stores.neo4j.existing import OwnDatabase, call
from tests.stores.test_search import RUNGS

pytestmark = pytest.mark.neo4j
FOLDED = MATCHES[1]
LUCENE = (
    '+-&|!(){}[]^"~*?:\\/',
    "title:matrix",
    "a AND NOT b",
    "AND",
    "*:*",
    "[a TO z]",
    "(((((",
    "a^1e99",
    "/.*/",
    '"unclosed',
    "`) DETACH DELETE n //",
    "%' OR '1'='1",
    "{{ x }}",
    "a\ud800b",
    "a\0b",
    "\u202exirtam",
    "東京都",
    "x " * 150,
    "x" * 10_000,
)


async def films(own: OwnDatabase, numbered: int = 300) -> tuple[str, str]:
    """Write some films and a person, and return their labels."""
    film, person = own.labels("Film", "Person")
    await own.write(
        f"CREATE (f:{own.mark}:{film} {{title: 'The Matrix', seats: [1.5, 2.5]}}), "
        f"(:{own.mark}:{film} {{title: 'Fog', aka: ['Nebel', 'La brume']}})"
        f"<-[:IN]-(p:{own.mark}:{person} {{name: 'Tomás Leal'}}), (p)-[:IN]->(f)-[:NEXT]->(f) "
        f"WITH f UNWIND range(1, {numbered}) AS n "
        f"CREATE (:{own.mark}:{film} {{title: 'Number ' + n, text: 'A film of ' + n + ' minutes'}})"
    )
    return film, person


@pytest.mark.parametrize("indexed", [False, True])
async def test_an_index_and_a_scan_find_the_same_matches(own: OwnDatabase, indexed: bool) -> None:
    film, person = await films(own)
    if indexed:
        await own.index_texts(f"{film}|{person}", "n.title, n.aka, n.name")
    store = await own.open()
    for text, match in RUNGS:
        if not text.strip("?!") or (text == "TheMatrix" and indexed):
            continue  # without a letter, or two words of the index in one
        result = await store.search(text, label=film)
        assert [row["match"] for row in result.rows[:1]] == ([match] if match else []), text
        assert result.scanned != indexed, text
    [row] = (await store.search("the matrix", label=film)).rows
    assert (row["property"], row["value"], row["relationships"]) == ("title", "The Matrix", 2)
    assert row["labels"] == [film, own.mark]
    [row] = (await store.search("nebel")).rows
    assert (row["property"], row["value"], row["match"]) == ("aka", ["Nebel", "La brume"], FOLDED)
    [row] = (await store.search("tomas leal")).rows
    assert (row["labels"][0], row["match"], row["relationships"]) == (person, FOLDED, 2)
    assert (await store.search("tomas leal", label=film)).rows == []


async def test_hostile_texts_change_nothing_and_are_answered_in_words(own: OwnDatabase) -> None:
    film, person = await films(own, numbered=20)
    index = await own.index_texts(person, "n.name")
    store = await own.open()
    before = await own.digest()
    toolbox = GraphToolbox(store, await store.schema(), load_tools(OWN_GRAPH_TOOLS))
    turns = asyncio.Semaphore(8)

    async def attack(text: str) -> None:
        async with turns:
            result = await call(store, "search_nodes", toolbox, text=text)
        assert result.error in (None, "bad_arguments"), (text[:80], result.content)
        assert result.rows or result.content.startswith(("Note: no text of a node", "The text for search_nodes")), text

    await asyncio.gather(*map(attack, LUCENE))
    outside = await call(store, "search_nodes", toolbox, text="the matrix")
    assert (outside.rows, f'from the index "{index}"' in outside.content) == (0, True)
    scanned = await call(store, "search_nodes", toolbox, text="the matrix", label=film)
    assert (scanned.rows, "nodes were read" in scanned.content) == (1, True)
    assert await own.digest() == before


async def test_a_scan_that_the_server_stops_is_named(own: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    await films(own)
    store = await own.open()
    endless = "UNWIND range(1, 1000000000000) AS number WITH n, number WHERE number < 0 "  # on a machine of any speed
    monkeypatch.setattr(existing, "_RANKED", endless + existing._RANKED)
    result = await store.search("zzzzzzzz yyyyyyy", seconds=0.01)
    assert (result.rows, result.stopped, result.scanned) == ([], True, True)


def test_a_full_text_query_has_letters_and_digits_only() -> None:
    assert lucene_query(SearchText('AND "Matrix"~')) == ("+(and^8 *and*^2 and~1) +(matrix^8 *matrix*^2 matrix~2)")
    assert lucene_query(SearchText('+-!(){}[]^"~*?:\\/')) == ""
    assert lucene_query(SearchText("x " * 150)) == "+(x^8 *x*^2)"
