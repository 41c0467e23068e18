import json
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings

from graphwalk.config.graph_source import FileOptions
from graphwalk.errors import ConfigError
from graphwalk.graphs.conversion import to_networkx
from graphwalk.graphs.files import FOLDER, FORMATS, load_graph, save_graph
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from tests.graphs.graphs import odd_graphs, specs

SUFFIXES = list(FORMATS)
PAPER = generate_graph(GraphSpec(preset="paper-100", missing_rate=0.2, parallel_relationships=True), 7)
SMALL = PropertyGraph.from_rows(
    [Node("k7q2", ("Zorep",), {"ajowu": 1.25}), Node("c1x9", ("Mubo",), {})],
    [Relationship("VEPAZ", "k7q2", "c1x9", {"oti": "zuvek"})],
    seed=7,
    spec={"nodes": 2},
)
once_per_example = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))


def content(path: Path) -> dict[str, bytes]:
    """The bytes of a file, or of all files in a folder by name."""
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.iterdir()}
    return {"": path.read_bytes()}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_round_trip_gives_the_same_graph_and_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"a{suffix}", tmp_path / "new folder" / f"b{suffix}"
    save_graph(PAPER, first)
    loaded = load_graph(first)
    with pytest.raises(ConfigError, match=r"there is no folder .*new folder"):
        save_graph(loaded, second)
    second.parent.mkdir()
    save_graph(loaded, second)
    origin = (7, PAPER.spec) if suffix else (None, {})
    assert (loaded.digest, loaded.seed, loaded.spec) == (PAPER.digest, *origin)
    assert content(first) == content(second)
    assert sorted(path.name for path in tmp_path.iterdir()) == [first.name, "new folder"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@once_per_example
@given(graph=specs.map(lambda spec: generate_graph(spec, 1)) | odd_graphs())
def test_every_value_and_name_survives(suffix: str, tmp_path: Path, graph: PropertyGraph) -> None:
    with TemporaryDirectory(dir=tmp_path) as place:
        try:
            save_graph(graph, Path(place) / f"g{suffix}")
        except ConfigError:
            if suffix == FOLDER:
                return  # which cannot hold each
            raise
        loaded = load_graph(Path(place) / f"g{suffix}")
    assert list(loaded.nodes()) == list(graph.nodes()) or "nan" in repr(list(graph.nodes()))
    assert loaded.digest == graph.digest


def test_the_json_form_is_the_documented_one(tmp_path: Path) -> None:
    save_graph(SMALL, tmp_path / "g.json")
    assert json.loads((tmp_path / "g.json").read_text()) == {
        "schema_version": 1,
        "seed": 7,
        "spec": {"nodes": 2},
        "nodes": [
            {"key": "k7q2", "label": "Zorep", "properties": {"ajowu": 1.25}},
            {"key": "c1x9", "label": "Mubo", "properties": {}},
        ],
        "relationships": [{"type": "VEPAZ", "source": "k7q2", "target": "c1x9", "properties": {"oti": "zuvek"}}],
    }


def test_networkx_reads_our_graphml(tmp_path: Path) -> None:
    save_graph(PAPER, tmp_path / "g.graphml")
    theirs, ours = nx.read_graphml(tmp_path / "g.graphml", force_multigraph=True), to_networkx(PAPER)
    assert dict(theirs.nodes(data=True)) == dict(ours.nodes(data=True))
    by_content = [sorted((s, t, sorted(d.items())) for s, t, d in g.edges(data=True)) for g in (theirs, ours)]
    assert by_content[0] == by_content[1]


def test_an_unknown_suffix_lists_the_formats() -> None:
    with pytest.raises(ConfigError, match=r"'\.txt'") as caught:
        load_graph("graph.txt")
    assert ".json, .graphml" in caught.value.hint


NODE = {"key": "a", "label": "A", "properties": {}}
EDGE = {"type": "R", "source": "a", "target": "a", "properties": {}}


def document(**fields: object) -> str:
    return json.dumps({"schema_version": 1, "seed": 1, "spec": {}, "nodes": [NODE], "relationships": [EDGE], **fields})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 column 1"),
        ('{"nodes": [', "line 1 column 12"),
        ("{}", "no list of relationships: expected one of relationships, edges"),
        (document(nodes=1), "'nodes' must be a list"),
        ('{"nodes": [], "nodes": []}', "an object has the field 'nodes' twice"),
        ("[" * 100_000, "it is nested too deeply"),
        (document(nodes=[NODE | {"label": "gw_x"}]), r"nodes\[0\] has the label 'gw_x'"),
        (document(nodes=[NODE | {"properties": {"p": {"$date": "2001-02-30"}}}]), "'2001-02-30' is not a date"),
        (document(nodes=[NODE | {"properties": {"p": [1, "a"]}}]), "a list holds values of one kind, not of int, str"),
        (document(schema_version=2), "schema_version is 2, this version of GraphWalk reads 1"),
        (document(nodes=[NODE | {"key": True}]), r"nodes\[0\], key: expected text, not True"),
        (document(nodes=[NODE | {"properties": {"p": 2**63}}]), "does not fit into 64 bits"),
        (document(nodes=[NODE | {"properties": {"p": "\ud800"}}]), "surrogates not allowed"),
        (document(nodes=[NODE, NODE]), r"nodes\[1\]: the key 'a' is there already, in nodes\[0\]"),
        (
            document(relationships=[EDGE | {"target": "b"}]),
            r"relationships\[0\] names the node 'b', which does not exist",
        ),
    ],
)
def test_damaged_json_is_a_clear_error(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_graph(tmp_path / "g.json")
    assert "g.json" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</graph>", "", "mismatched tag"),
        ('<data key="n0">1.25', '<data key="n0">x', "'x' of attribute 'ajowu' is no double"),
        ('<data key="n0">', '<data key="n9">', "no <key> element explains the data 'n9'"),
        ("<node id", '<node id="p"><port/></node><node id', "the unknown element <port>"),
        ("</graph>", "<hyperedge/></graph>", "the unknown element <hyperedge>"),
        (">Mubo<", "><", "node 'c1x9', label: expected text"),
    ],
)
def test_damaged_graphml_is_a_clear_error(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    save_graph(SMALL, path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match=message) as caught:
        load_graph(path)
    assert path.name in str(caught.value)


@pytest.mark.parametrize("option", ["key_from", "label_from", "type_from", "source_from"])
@pytest.mark.parametrize("suffix", [".graphml", FOLDER])
def test_what_a_format_fixes_is_not_chosen(suffix: str, option: str, tmp_path: Path) -> None:
    save_graph(SMALL, tmp_path / f"g{suffix}")
    chosen = {option: "ajowu"} | ({"target_from": "ajowu"} if option == "source_from" else {})
    with pytest.raises(
        ConfigError, match=f"{option}: the format of this file fixes the {option.removesuffix('_from')}"
    ):
        load_graph(tmp_path / f"g{suffix}", FileOptions.model_validate(chosen))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_without_a_graph_are_errors(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"g{suffix}"
    with pytest.raises(ConfigError, match="No such file or directory"):
        load_graph(path)
    path.mkdir()
    with pytest.raises(ConfigError, match="Is a directory" if suffix else "no CSV file is in this folder"):
        load_graph(path)
    path.rmdir()
    for content in (b"\x93\xff\x00 binary", b'<?xml version="1.0"?><html/>'):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=path.name):
            load_graph(path)


def test_default_values_of_graphml_are_filled_in(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(
        '<graphml><key id="d" for="node" attr.name="age" attr.type="int"><default>4</default></key>'
        '<graph edgedefault="directed"><node id="a"/><node id="b"><data key="d">5</data></node></graph></graphml>'
    )
    nodes = list(load_graph(tmp_path / "g.graphml").nodes())
    assert nodes == [Node("a", ("Node",), {"age": 4}), Node("b", ("Node",), {"age": 5})]
