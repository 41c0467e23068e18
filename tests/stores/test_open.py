"""Graphs of a user in every form: content is read and loaded, an open store stays, wrong forms are named."""

import warnings
from pathlib import Path
from typing import Any

import networkx
import pytest

from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import ConfigError
from graphwalk.graphs.files import save_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.open import AnyGraph, OpenGraphs, aopen_store, graph_in_memory, open_store, read_file
from graphwalk.variables import Variables

LINK = PropertyGraph.from_rows(
    [Node("a", ("Film",), {"name": "A"}), Node("b", ("Person",), {"name": "B"})], [Relationship("BY", "a", "b", {})]
)


def every_form(folder: Path) -> dict[str, AnyGraph]:
    """Return the same graph in each form that needs no server."""
    path = folder / "link.json"
    save_graph(LINK, path)
    from_networkx = networkx.MultiDiGraph()
    from_networkx.add_node("a", labels=["Film"], name="A")
    from_networkx.add_node("b", labels=["Person"], name="B")
    from_networkx.add_edge("a", "b", type="BY")
    return {
        "object": LINK,
        "networkx": from_networkx,
        "path": path,
        "name of a file": str(path),
        "mapping": {"file": path},
        "source": GraphSource(file=path),
    }


def content(graph: PropertyGraph) -> tuple[list[Any], list[Any]]:
    return list(graph.nodes()), list(graph.relationships())


async def test_every_form_is_the_same_graph_in_a_store_and_in_memory(tmp_path: Path) -> None:
    async with OpenGraphs(Variables()) as graphs:
        for name, form in every_form(tmp_path).items():
            store = await graphs.open(form)  # type: ignore[arg-type]
            assert content(await store.read_graph()) == content(LINK), name
            assert content(await graph_in_memory(form)) == content(LINK), name
            assert await graphs.open(store) is store
            assert content(await graph_in_memory(store)) == content(LINK)


def test_a_blocking_store_is_read_and_opened_again_as_it_is() -> None:
    with open_store(LINK) as store:
        assert open_store(store) is store
        assert content(store.wait_for(graph_in_memory(store))) == content(LINK)


async def test_a_filter_keeps_a_part_of_every_form(tmp_path: Path) -> None:
    for name, form in every_form(tmp_path).items():
        async with aopen_store(form, labels=["Film"]) as store:  # type: ignore[arg-type]
            graph = await store.read_graph()
        assert [node.key for node in graph.nodes()] == ["a"], name
        assert graph.relationship_count == 0
    async with aopen_store(LINK) as store:
        with pytest.raises(ConfigError, match="labels: the store is open already"):
            async with aopen_store(store, labels=["Film"]):
                pass


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("bolt://localhost:7687", "bolt://… is the address of a server, not a file"),
        (7, "int is not a graph"),
        ({"file": "example", "neo4j": "movies"}, "give one of file, neo4j and loaded"),
    ],
)
async def test_what_is_no_graph_is_named(form: Any, message: str) -> None:
    for read in (OpenGraphs(Variables()).open, graph_in_memory):
        with pytest.raises(ConfigError, match=message):
            await read(form)


async def test_content_of_every_form_goes_into_the_store_that_is_named(tmp_path: Path) -> None:
    for form in every_form(tmp_path).values():
        with pytest.raises(ConfigError, match="nowhere"):
            async with aopen_store(form, "nowhere"):  # type: ignore[arg-type]
                pass


async def test_loaded_graphs_are_dropped_at_the_end_and_an_open_store_of_others_is_not() -> None:
    database, others = EmbeddedDatabase(), EmbeddedDatabase()
    theirs = await others.load(LINK)
    async with OpenGraphs(Variables(), database=database) as graphs:
        ours = await graphs.open(LINK)
        assert await graphs.open(theirs) is theirs
        assert await database.load(LINK) is ours
    assert await database.load(LINK) is not ours
    assert await others.load(LINK) is theirs


def test_changed_names_are_printed(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    save_graph(PropertyGraph.from_rows([Node("a", ("Größe",), {"type": 1, "name": "x"})], []), path)
    with pytest.warns(UserWarning, match="names.json: names in queries: Größe → Grosse, type → type_"):
        graph = read_file(GraphSource(file=path))
    assert [node.labels for node in graph.nodes()] == [("Grosse",)]


def test_safe_names_are_not_mentioned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_file(GraphSource(file=Path("example")))
