"""GraphML of other programs."""

from pathlib import Path

import networkx as nx
import pytest

from graphwalk.config.graph_source import FileOptions
from graphwalk.errors import ConfigError, FileNote
from graphwalk.graphs.files import load_graph, save_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship


def test_graphml_of_neo4j(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="name" for="node" attr.name="name"/><key id="labels" for="node" attr.name="labels"/>'
        '<key id="tags" for="node" attr.name="tags" attr.type="string" attr.list="string"/>'
        '<key id="label" for="edge" attr.name="label"/><graph id="G" edgedefault="directed">'
        '<node id="n0" labels=":Movie:Old"><data key="labels">:Movie:Old</data><data key="name">It</data>'
        '<data key="tags">["a","b"]</data></node><node id="n1"/>'
        '<edge id="e0" source="n0" target="n1" label="LIKES"><data key="label">LIKES</data></edge></graph></graphml>'
    )
    graph = load_graph(tmp_path / "g.graphml")
    assert list(graph.nodes()) == [
        Node("n0", ("Movie", "Old"), {"name": "It", "tags": ("a", "b")}),
        Node("n1", ("Node",), {}),
    ]
    assert list(graph.relationships()) == [Relationship("LIKES", "n0", "n1", {})]


def test_undirected_edges_are_read_both_ways_by_choice(tmp_path: Path) -> None:
    nx.write_graphml_xml(nx.les_miserables_graph(), tmp_path / "g.graphml")
    with pytest.raises(ConfigError, match=r"the edge from .* is undirected"):
        load_graph(tmp_path / "g.graphml")
    graph = load_graph(tmp_path / "g.graphml", FileOptions(undirected="both"))
    assert (graph.node_count, graph.relationship_count) == (77, 508)


def test_files_named_by_an_entity_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(
        '<!DOCTYPE graphml [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
        '<graphml><graph edgedefault="directed"><node id="a">&a;</node></graph></graphml>'
    )
    with pytest.raises(ConfigError, match="undefined entity"):
        load_graph(tmp_path / "g.graphml")


def read(folder: Path, body: str, keys: str = "", edgedefault: str = "directed", **options: str) -> PropertyGraph:
    path = folder / "g.graphml"
    path.write_text(f'<graphml>{keys}<graph edgedefault="{edgedefault}">{body}</graph></graphml>', encoding="utf-8")
    return load_graph(path, FileOptions.model_validate(options))


def test_labels_that_older_releases_of_apoc_do_not_declare(tmp_path: Path) -> None:
    graph = read(
        tmp_path,
        '<node id="n0" labels=":Firm:Bank"><data key="labels">:Firm:Bank</data><data key="name">Alba</data></node>'
        '<node id="n1" labels=""/><edge source="n0" target="n1" label="OWNS"><data key="label">OWNS</data>'
        '<data key="type">wholly</data></edge>',
        '<key id="name" for="node" attr.name="name"/><key id="type" for="edge" attr.name="type"/>',
    )
    assert list(graph.nodes()) == [Node("n0", ("Bank", "Firm"), {"name": "Alba"}), Node("n1", (), {})]
    assert list(graph.relationships()) == [Relationship("OWNS", "n0", "n1", {"type": "wholly"})]
    with pytest.raises(ConfigError, match="no <key> element explains the data 'other'"):
        read(tmp_path, '<node id="n0"><data key="other">x</data></node>')


YED_KEYS = (
    '<key for="node" id="d6" yfiles.type="nodegraphics"/><key for="edge" id="d9" yfiles.type="edgegraphics"/>'
    '<key for="node" id="d5" attr.name="url"/>'
)
YED = (
    '<node id="n0"><data key="d5">http://a.b</data><data key="d6"><Shape><Geometry x="1"/><NodeLabel>Payroll<Model/>'
    "</NodeLabel><NodeLabel>monthly</NodeLabel></Shape></data></node>"
    '<node id="n1"><data key="d6"><Shape/></data></node>'
    '<edge source="n0" target="n1"><data key="d9"><Line><EdgeLabel>writes to</EdgeLabel></Line></data></edge>'
    '<edge source="n1" target="n0"><data key="d9"><Line/></data></edge>'
)


def test_labels_of_a_drawing_are_names_and_types(tmp_path: Path) -> None:
    with pytest.warns(FileNote, match="g.graphml is a drawing: its labels are the names"):
        graph = read(tmp_path, YED, YED_KEYS)
    payroll = {"name": "Payroll\nmonthly", "url": "http://a.b"}
    assert list(graph.nodes()) == [Node("n0", ("Node",), payroll), Node("n1", ("Node",), {})]
    assert [r.type for r in graph.relationships()] == ["writes to", "RELATED"]


def test_data_with_elements_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"the data 'd5' of the node 'n0' has the element <b>"):
        read(tmp_path, '<node id="n0"><data key="d5"><b>x</b></data></node>', '<key for="node" id="d5"/>')


def test_what_is_beside_the_data_is_read_or_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the node 'a' has the unknown element <locator>"):
        read(tmp_path, '<node id="a"><locator/></node>')
    with pytest.warns(FileNote, match="data of the graph as a whole is left out: source"):
        read(tmp_path, '<data key="s">a survey</data><node id="a"/>', '<key id="s" for="graph" attr.name="source"/>')


def test_two_values_of_one_name_are_refused(tmp_path: Path) -> None:
    keys = '<key id="d0" for="node" attr.name="mass" attr.type="double"/><key id="d1" for="node" attr.name="mass"/>'
    with pytest.raises(ConfigError, match=r"node 'a' has two values of 'mass', 4\.5 and 'unknown': give one"):
        read(tmp_path, '<node id="a"><data key="d0">4.5</data><data key="d1">unknown</data></node>', keys)
    one_each = '<node id="a"><data key="d0">4.5</data></node><node id="b"><data key="d1">light</data></node>'
    assert [node.properties["mass"] for node in read(tmp_path, one_each, keys).nodes()] == [4.5, "light"]


@pytest.mark.parametrize(("directed", "relationships"), [("true", 1), ("1", 1), ("false", 2), ("0", 2)])
def test_an_edge_can_have_its_own_direction(tmp_path: Path, directed: str, relationships: int) -> None:
    body = f'<node id="a"/><node id="b"/><edge source="a" target="b" directed="{directed}"/>'
    assert read(tmp_path, body, edgedefault="undirected", undirected="both").relationship_count == relationships
    with pytest.raises(ConfigError, match="neither true nor false"):
        read(tmp_path, body.replace(f'"{directed}"', '"yes"'))


def test_a_number_is_a_label_or_a_type_as_text(tmp_path: Path) -> None:
    nodes = "".join(f'<node id="{key}"><data key="k">3</data></node>' for key in "ab")
    graph = read(
        tmp_path,
        nodes + '<edge source="a" target="b"><data key="t">1.5</data></edge>',
        '<key id="k" for="node" attr.name="label" attr.type="int"/>'
        '<key id="t" for="edge" attr.name="type" attr.type="double"/>',
    )
    assert [node.labels for node in graph.nodes()] == [("3",), ("3",)]
    assert [r.type for r in graph.relationships()] == ["1.5"]


GEPHI_KEYS = (
    '<key attr.name="label" for="node" id="label"/><key attr.name="party" for="node" id="party"/>'
    '<key attr.name="Edge Label" for="edge" id="edgelabel"/>'
)
GEPHI = "".join(
    f'<node id="{key}"><data key="label">{name}</data><data key="party">{party}</data></node>'
    for key, name, party in (("1", "Ines Roth", "Green"), ("2", "Paul Adler", "Blue"), ("3", "Ada Kern", "Blue"))
)
CITES = '<edge source="1" target="2"><data key="edgelabel">cites</data></edge><edge source="2" target="3"/>'


def test_a_label_that_nearly_every_node_has_alone_is_its_name(tmp_path: Path) -> None:
    with pytest.warns(FileNote, match="g.graphml: nearly every node has a label of its own, .* property name;"):
        graph = read(tmp_path, GEPHI + CITES, GEPHI_KEYS)
    assert next(graph.nodes()) == Node("1", ("Node",), {"name": "Ines Roth", "party": "Green"})
    assert [r.properties for r in graph.relationships()] == [{"Edge Label": "cites"}, {}]


def test_options_choose_label_type_and_name(tmp_path: Path) -> None:
    chosen = {"label_from": "party", "name_from": "label", "type_from": "Edge Label"}
    with pytest.warns(FileNote, match=r"3 nodes \(Blue 2, Green 1\) and 2 relationships \(cites 1, RELATED 1\)"):
        graph = read(tmp_path, GEPHI + CITES, GEPHI_KEYS, **chosen)
    assert next(graph.nodes()) == Node("1", ("Green",), {"name": "Ines Roth"})
    assert [(r.type, r.properties) for r in graph.relationships()] == [("cites", {}), ("RELATED", {})]
    assert next(read(tmp_path, GEPHI, GEPHI_KEYS, label_from="label").nodes()).labels == ("Ines Roth",)
    for option in chosen:
        with pytest.raises(ConfigError, match=rf"{option}: there is no 'Party'; there are: "):
            read(tmp_path, GEPHI + CITES, GEPHI_KEYS, **{**chosen, option: "Party"})


def test_labels_of_a_file_of_ours_are_labels(tmp_path: Path) -> None:
    """Also where every node has another one, and another property of the name."""
    graph = PropertyGraph.from_rows(
        [Node(key, (key.upper(),), {"label": 1}) for key in "abc"], [Relationship("R", "a", "b", {"type": "x"})]
    )
    save_graph(graph, tmp_path / "g.graphml")
    assert load_graph(tmp_path / "g.graphml").digest == graph.digest
