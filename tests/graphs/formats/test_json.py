"""JSON of other programs."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from graphwalk.config.graph_source import FileOptions
from graphwalk.errors import ConfigError, FileNote
from graphwalk.graphs.conversion import from_networkx
from graphwalk.graphs.files import load_graph, save_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Point, Temporal


def read(tmp_path: Path, document: Any, **options: Any) -> PropertyGraph:
    path = tmp_path / "g.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return load_graph(path, FileOptions(**options))


def test_labels_names_and_values_without_a_version(tmp_path: Path) -> None:
    graph = read(
        tmp_path,
        {
            "nodes": [
                {"id": 7, "labels": ["Ship", "Old"], "properties": {"built": {"$date": "1897-05-01"}, "key": "oak"}},
                {
                    "id": 1,
                    "label": "Port",
                    "properties": {"at": {"$point": {"srid": 4326, "x": 12.5, "y": 55.7}}, "gone": None},
                },
                {"id": "c", "labels": []},
            ],
            "relationships": [{"type": "CALLED", "source": 7, "target": "1", "properties": {"days": [1, 2.5]}}],
        },
    )
    assert list(graph.nodes()) == [
        Node("7", ("Old", "Ship"), {"built": Temporal("date", "1897-05-01"), "key_": "oak"}),
        Node("1", ("Port",), {"at": Point(4326, (12.5, 55.7))}),
        Node("c", (), {}),
    ]
    assert list(graph.relationships()) == [Relationship("CALLED", "7", "1", {"days": (1.0, 2.5)})]


def test_fields_beside_properties_are_properties(tmp_path: Path) -> None:
    node = {"id": "a", "label": "Person", "born": 1960, "properties": {"name": "Ida"}}
    edge = {"id": 7, "source": "a", "target": "a", "type": "KNOWS", "since": float("nan")}
    for version in ({}, {"schema_version": 1}):
        graph = read(tmp_path, {**version, "nodes": [node], "relationships": [edge]})
        assert list(graph.nodes()) == [Node("a", ("Person",), {"name": "Ida", "born": 1960})]
        (relationship,) = graph.relationships()
        assert repr(relationship.properties) == "{'id': 7, 'since': nan}"
    with pytest.raises(ConfigError, match=r"nodes\[0\] has 'born' twice"):
        read(tmp_path, {"nodes": [node | {"properties": {"born": 1961}}], "relationships": []})


ADA, ELY = Node("a", ("Person",), {"name": "Ada"}), Node("b", ("City",), {"name": "Ely"})
LIVES = Relationship("LIVES_IN", "a", "b", {"since": 1999})
ADA_FIELDS, ELY_FIELDS = {"id": "a", "type": "Person", "name": "Ada"}, {"id": "b", "type": "City", "name": "Ely"}
LIVES_FIELDS = {"source": "a", "target": "b", "type": "LIVES_IN", "since": 1999}
CYTOSCAPE = [{"data": ADA_FIELDS}, {"data": ELY_FIELDS, "group": "nodes"}, {"data": LIVES_FIELDS, "group": "edges"}]
FORMS = {
    "langchain": {
        "nodes": [
            {"id": n["id"], "type": n["type"], "properties": {"name": n["name"]}} for n in (ADA_FIELDS, ELY_FIELDS)
        ],
        "relationships": [
            {
                "source": {"id": "a", "type": "Person", "properties": {}},
                "target": {"id": "b", "type": "City", "properties": {}},
                "type": "LIVES_IN",
                "properties": {"since": 1999},
            }
        ],
    },
    "neo4j_graphrag": {
        "nodes": [ADA_FIELDS | {"embedding_properties": None}, ELY_FIELDS],
        "relationships": [
            {"start_node_id": "a", "end_node_id": "b", "type": "LIVES_IN", "embedding_properties": {"since": 1999}}
        ],
    },
    "vis": {"nodes": [ADA_FIELDS, ELY_FIELDS], "edges": [{"from": "a", "to": "b", "label": "LIVES_IN", "since": 1999}]},
    "cytoscape": {"elements": {"nodes": CYTOSCAPE[:2], "edges": CYTOSCAPE[2:]}},
    "cytoscape_list": CYTOSCAPE,
    "json_graph_format": {
        "graph": {
            "nodes": {n["id"]: {"label": n["type"], "metadata": {"name": n["name"]}} for n in (ADA_FIELDS, ELY_FIELDS)},
            "edges": [{"source": "a", "target": "b", "relation": "LIVES_IN", "metadata": {"since": 1999}}],
        }
    },
    "apoc": "\n".join(
        (
            '{"type":"node","id":"a","labels":["Person"],"properties":{"name":"Ada"}}',
            '{"type":"node","id":"b","labels":["City"],"properties":{"name":"Ely"}}',
            '{"type":"relationship","label":"LIVES_IN","properties":{"since":1999},"start":{"id":"a"},"end":{"id":"b"}}',
        )
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_other_programs(form: str, tmp_path: Path) -> None:
    with pytest.warns(FileNote, match=r"2 nodes \(Person 1, City 1\) and 1 relationship \(LIVES_IN 1\)"):
        graph = read(tmp_path, FORMS[form])
    assert (list(graph.nodes()), list(graph.relationships())) == ([ADA, ELY], [LIVES])


@pytest.mark.parametrize("type_", ["node", "relationship"])
def test_a_type_called_as_the_entries_of_apoc_stays(type_: str, tmp_path: Path) -> None:
    written = PropertyGraph.from_rows([ADA, ELY], [Relationship(type_, "a", "b", {})])
    save_graph(written, tmp_path / "ours.json")
    graphs = [
        load_graph(tmp_path / "ours.json"),
        read(tmp_path, {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"type": type_, "start": "a", "end": "b"}]}),
    ]
    for graph in graphs:
        assert [relationship.type for relationship in graph.relationships()] == [type_]


@pytest.mark.parametrize(
    ("document", "keys", "ends"),
    [
        ({"nodes": [{"name": "x"}, {"name": "y"}], "links": [{"source": 1, "target": 0}]}, ["0", "1"], ("1", "0")),
        ({"nodes": [{"id": "x"}, {"id": "y"}], "links": [{"source": 1, "target": 0}]}, ["x", "y"], ("y", "x")),
        ({"nodes": [{"id": 1}, {"id": 0}], "links": [{"source": 1, "target": 0}]}, ["1", "0"], ("1", "0")),
        ({"nodes": [{"name": "x"}, {"name": "y"}], "edges": [{"source": "y", "target": "x"}]}, ["x", "y"], ("y", "x")),
        ([{"from": "y", "type": "likes", "to": "x"}], ["y", "x"], ("y", "x")),
    ],
)
def test_ends_are_keys_positions_or_names(
    document: Any, keys: list[str], ends: tuple[str, str], tmp_path: Path
) -> None:
    graph = read(tmp_path, document)
    assert [node.key for node in graph.nodes()] == keys
    assert [(r.source, r.target) for r in graph.relationships()] == [ends]


@pytest.mark.parametrize("edges", ["links", "edges"])
def test_node_link_data_of_networkx(edges: str, tmp_path: Path) -> None:
    theirs: nx.MultiDiGraph = nx.MultiDiGraph()
    theirs.add_node((0, 1), label="Cell", size=float("nan"))
    theirs.add_edge((0, 1), 1.5, key="NEAR", w=2)
    theirs.add_edge((0, 1), 1.5)
    ours, again = from_networkx(theirs), read(tmp_path, nx.node_link_data(theirs, edges=edges))
    assert repr(list(again.nodes())) == repr(list(ours.nodes()))
    assert list(again.relationships()) == list(ours.relationships())
    undirected = nx.node_link_data(nx.Graph([(1, 2)]), edges=edges)
    with pytest.raises(ConfigError, match="--undirected both"):
        read(tmp_path, undirected)
    assert read(tmp_path, undirected, undirected="both").relationship_count == 2


def test_options_choose_label_name_and_type(tmp_path: Path) -> None:
    nodes = [{"id": 1, "group": "Person", "properties": {"title": "Ada"}}, {"id": 2, "group": "City"}]
    document = {"nodes": nodes, "edges": [{"source": 1, "target": 2, "kind": "LIVES_IN"}]}
    graph = read(tmp_path, document, label_from="group", name_from="title", type_from="kind")
    assert [(node.labels, dict(node.properties)) for node in graph.nodes()] == [
        (("Person",), {"name": "Ada"}),
        (("City",), {}),
    ]
    assert [r.type for r in graph.relationships()] == ["LIVES_IN"]


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    with pytest.warns(FileNote, match="are left out: 'made'"):
        read(tmp_path, {"nodes": [], "edges": [], "made": "2026", "graph": {}})
    with pytest.warns(FileNote, match="are left out: 'made'"):
        read(tmp_path, {"schema_version": 1, "nodes": [], "relationships": [], "made": "2026"})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (nx.adjacency_data(nx.DiGraph([(1, 2)])), "no list of relationships.*its fields: .*'adjacency'"),
        ([[1, 2]], r"entry\[0\] must be an object"),
        (
            {"nodes": [{"id": 1, "in": {"a": 1}}], "edges": []},
            r"nodes\[0\], property 'in': an object cannot be a value",
        ),
        (
            {"nodes": [{"id": "x"}], "edges": [{"source": 0, "target": 4}]},
            r"edges\[0\] names the node '0', which does not exist",
        ),
        ('{"type":"node","id":"0"}\n{"type":\n', "line 2, column 9: Expecting value"),
    ],
)
def test_other_documents_are_refused(document: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, document)


IDS = [{"identity": 2, "name": "Ida"}, {"identity": 0, "name": "Tor"}, {"identity": 1, "name": "Liv"}]
LINKS = [{"start": 2, "end": 0}, {"start": 0, "end": 1}]


def test_integers_are_positions_only_where_nothing_else_can_be_meant(tmp_path: Path) -> None:
    assert ends(read(tmp_path, {"nodes": IDS, "links": LINKS})) == [("2", "0"), ("0", "1")]
    others = [{"uid": one["identity"], "name": one["name"]} for one in IDS]
    document = {"nodes": others, "links": LINKS}
    with pytest.raises(
        ConfigError, match="choose with --key-from uid or --source-from position --target-from position"
    ):
        read(tmp_path, document)
    by_key = read(tmp_path, document, key_from="uid")
    assert [(node.key, node.properties["name"]) for node in by_key.nodes()] == [
        ("2", "Ida"),
        ("0", "Tor"),
        ("1", "Liv"),
    ]
    by_position = read(tmp_path, document, source_from="position", target_from="position")
    assert [(node.key, node.properties["name"]) for node in by_position.nodes()] == [
        ("0", "Ida"),
        ("1", "Tor"),
        ("2", "Liv"),
    ]
    same = [{"index": place, "name": one["name"]} for place, one in enumerate(IDS)]
    assert ends(read(tmp_path, {"nodes": same, "links": LINKS})) == [("2", "0"), ("0", "1")]


def ends(graph: PropertyGraph) -> list[tuple[str, str]]:
    return [(r.source, r.target) for r in graph.relationships()]


UNDIRECTED: list[dict[str, Any]] = [
    {"nodes": [{"key": "a"}, {"key": "b"}], "edges": [{"source": "a", "target": "b", "undirected": True}]},
    {
        "options": {"type": "undirected"},
        "nodes": [{"key": "a"}, {"key": "b"}],
        "edges": [{"source": "a", "target": "b"}],
    },
    {"graph": {"directed": False, "nodes": {"a": {}, "b": {}}, "edges": [{"source": "a", "target": "b"}]}},
    {"graph": {"nodes": {"a": {}, "b": {}}, "edges": [{"source": "a", "target": "b", "directed": False}]}},
    {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"Source": "a", "Target": "b", "Type": "Undirected"}]},
]


@pytest.mark.parametrize("document", UNDIRECTED)
def test_marks_of_undirected_edges(document: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"edges\[0\] is undirected; .*--undirected both"):
        read(tmp_path, document)
    graph = read(tmp_path, document, undirected="both")
    assert (ends(graph), [dict(r.properties) for r in graph.relationships()]) == ([("a", "b"), ("b", "a")], [{}, {}])


def test_the_label_that_graphology_draws_is_a_name(tmp_path: Path) -> None:
    with pytest.warns(FileNote, match="the label among the attributes of a node is read as the property name"):
        graph = read(tmp_path, {"nodes": [{"key": "a", "attributes": {"label": "Aal"}}], "edges": []})
    assert list(graph.nodes()) == [Node("a", ("Node",), {"name": "Aal"})]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([{"id": "a"}, {"id": "b"}], "no relationships: .* there are: 'id'"),
        ([{"subject": "a", "object": "b"}], "there are: 'subject', 'object'. Name the fields with --source-from"),
        ({"nodes": [{"id": "a"}], "edges": [{"u": "a", "v": "a"}]}, "there are: 'u', 'v'"),
        ({"nodes": [{"n": "a"}], "edges": [{"from": "a", "to": "a"}]}, "no id, key or name; there are: 'n'. Choose"),
        (
            {"nodes": [{"id": "a"}], "edges": [{"from": "a", "to": "a"}], "links": [{"from": "a", "to": "a"}]},
            "one of the fields 'edges' and 'links'",
        ),
    ],
)
def test_what_usual_names_do_not_decide_is_refused(document: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, document)


def test_options_name_the_ends(tmp_path: Path) -> None:
    triples = [{"subject": "a", "predicate": "likes", "object": "b"}]
    graph = read(tmp_path, triples, source_from="subject", target_from="object", type_from="predicate")
    assert list(graph.relationships()) == [Relationship("likes", "a", "b", {})]
    for chosen in ({"source_from": "subject"}, {"source_from": "position", "target_from": "object"}):
        with pytest.raises(ValueError, match="source_from"):
            FileOptions.model_validate(chosen)
