"""CSV files, plain or in the layout of Neo4j's importer."""

from pathlib import Path

import pytest

from graphwalk.config.graph_source import FileOptions
from graphwalk.errors import ConfigError, FileNote
from graphwalk.graphs.files import load_graph, save_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Point, Temporal, Value


def folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / f"{name.replace('__', '-')}.csv").write_text(text, encoding="utf-8")
    return tmp_path


def test_types_lists_and_missing_fields(tmp_path: Path) -> None:
    place = folder(
        tmp_path,
        people="id:ID,name,:LABEL,age:int,born:date,at:point,tags:string[],note,seen:datetime\n"
        'a,"Ada ""A"", L.",Person;Old,36,1815-12-10,"{longitude: 12.5, latitude: 55.7}",x;y,"",2001-04-25T12:00+02:00\n'
        "b,Bob,,,,,,,\n",
        knows=":START_ID,:END_ID,:TYPE,since:long\na,b,KNOWS,1999\nb,b,SELF,\n",
    )
    graph = load_graph(place)
    assert list(graph.nodes()) == [
        Node(
            "a",
            ("Old", "Person"),
            {
                "id": "a",
                "name": 'Ada "A", L.',
                "age": 36,
                "born": Temporal("date", "1815-12-10"),
                "at": Point(4326, (12.5, 55.7)),
                "tags": ("x", "y"),
                "note": "",
                "seen": Temporal("datetime", "2001-04-25T12:00:00+02:00"),
            },
        ),
        Node("b", (), {"id": "b", "name": "Bob"}),
    ]
    assert list(graph.relationships()) == [
        Relationship("KNOWS", "a", "b", {"since": 1999}),
        Relationship("SELF", "b", "b", {}),
    ]


def test_an_id_space_is_a_part_of_the_key(tmp_path: Path) -> None:
    place = folder(
        tmp_path,
        people=":ID(Person),:LABEL\n1,Person\n2,Person\n",
        towns=":ID(Town),name,:LABEL\n1,Riga,Town\n",
        lives=":START_ID(Person),:END_ID(Town),:TYPE\n2,1,LIVES_IN\n1,1,LIVES_IN\n",
    )
    graph = load_graph(place)
    assert [node.key for node in graph.nodes()] == ["Person:1", "Person:2", "Town:1"]
    assert [(r.source, r.target) for r in graph.relationships()] == [("Person:2", "Town:1"), ("Person:1", "Town:1")]


NODES = "id,label,name,born,zip,seen\n1,Person,Ida,1960,007,2001-04-25\n2,Person,Ole,,008,\n3,City,Riga,1201,009,\n"
EDGES = "source,target,type,since,open\n1,2,KNOWS,1999,true\n1,3,LIVES_IN,2000.5,\n"


@pytest.mark.parametrize("both", ["folder", "two files"])
def test_plain_files(both: str, tmp_path: Path) -> None:
    place, options = folder(tmp_path, nodes=NODES, edges=EDGES), FileOptions()
    if both == "two files":
        place, options = tmp_path / "nodes.csv", FileOptions(edges=tmp_path / "edges.csv")
    with pytest.warns(FileNote) as notes:
        graph = load_graph(place, options)
    assert {str(note.message) for note in notes} == {
        "nodes.csv: nodes; key: id; label: label; columns: name string, born long, zip string, seen date",
        "edges.csv: relationships; ends: source, target; type: type; columns: since double, open boolean",
        f"{place.name}: read as 3 nodes (Person 2, City 1) and 2 relationships (KNOWS 1, LIVES_IN 1)",
    }
    assert list(graph.nodes()) == [
        Node("1", ("Person",), {"name": "Ida", "born": 1960, "zip": "007", "seen": Temporal("date", "2001-04-25")}),
        Node("2", ("Person",), {"name": "Ole", "zip": "008"}),
        Node("3", ("City",), {"name": "Riga", "born": 1201, "zip": "009"}),
    ]
    assert list(graph.relationships()) == [
        Relationship("KNOWS", "1", "2", {"since": 1999.0, "open": True}),
        Relationship("LIVES_IN", "1", "3", {"since": 2000.5}),
    ]


@pytest.mark.parametrize(
    ("files", "labels", "relationships"),
    [
        ({"edges": "From;To\na;b\n"}, {("Node",)}, [("RELATED", "a", "b")]),
        ({"edges": "source,target,type\na,b,Directed\n"}, {("Node",)}, [("Directed", "a", "b")]),
        (
            {
                "people": "nodeId,name\n1,Ida\n",
                "ships": "name,built\nTern,1990\n",
                "owns": "from,to\n1,Tern\n",
            },
            {("people",), ("ships",)},
            [("owns", "1", "Tern")],
        ),
        ({"nodes": "id,labels\na,A;B\n", "edges": "src,dst,label\na,a,LIKES\n"}, {("A", "B")}, [("LIKES", "a", "a")]),
    ],
)
def test_usual_names(
    files: dict[str, str], labels: set[tuple[str, ...]], relationships: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    graph = load_graph(folder(tmp_path, **files))
    assert {node.labels for node in graph.nodes()} == labels
    assert [(r.type, r.source, r.target) for r in graph.relationships()] == relationships


def test_plain_files_of_gephi(tmp_path: Path) -> None:
    place = folder(
        tmp_path,
        nodes="Id,Label\n1,Ines Roth\n2,Paul Adler\n3,Ada Kern\n",
        edges="Source,Target,Type,Weight\n1,2,Undirected,1.5\n",
    )
    with pytest.raises(ConfigError, match=r"edges.csv, line 2 is undirected; .*--undirected both"):
        load_graph(place)
    graph = load_graph(place, FileOptions(undirected="both"))
    assert next(graph.nodes()) == Node("1", ("Node",), {"name": "Ines Roth"})
    assert [(r.source, r.target, dict(r.properties)) for r in graph.relationships()] == [
        ("1", "2", {"Weight": 1.5}),
        ("2", "1", {"Weight": 1.5}),
    ]


def test_layout_for_the_importer(tmp_path: Path) -> None:
    graph = PropertyGraph.from_rows(
        [Node("a", ("A", "B"), {"p": 1, "q": "x, y"}), Node("b", ("A", "B"), {"p": 2, "l": ("u", "w")})],
        [Relationship("R S", "a", "b", {"b": 0.5})],
    )
    save_graph(graph, tmp_path / "g")
    files = {path.name: path.read_text() for path in (tmp_path / "g").iterdir()}
    assert files == {
        "nodes-A-B.csv": 'key:ID,:LABEL,number:IGNORE,l:string[],p:long,q:string\na,A;B,0,,1,"x, y"\nb,A;B,1,u;w,2,\n',
        "relationships-R_S.csv": ":START_ID,:END_ID,:TYPE,b:double\na,b,R S,0.5\n",
        "import.args": "--nodes=./nodes-A-B.csv\n--relationships=./relationships-R_S.csv\n--multiline-fields=true\n",
    }


@pytest.mark.parametrize("values", [(1, "1"), (1, 0.5), (b"a", b"b"), (("a;b",), ("c",)), (("",), ("c",))])
def test_what_csv_cannot_hold_is_refused(values: tuple[Value, Value], tmp_path: Path) -> None:
    nodes = [Node(key, ("A",), {"p": value}) for key, value in zip("ab", values, strict=True)]
    with pytest.raises(ConfigError, match="CSV cannot hold") as refused:
        save_graph(PropertyGraph.from_rows(nodes, []), tmp_path / "g")
    assert refused.value.hint == "save the graph as JSON"


PEOPLE = ":ID,n:int,:LABEL\na,1,A\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"x": "a,b\n1,2\n"},
            r"x\.csv: no column is an id, a key or a name, and none are ends .* there are: 'a', 'b'. Choose with --key-from",
        ),
        ({"x": PEOPLE, "y": "id\n1\n"}, r"y\.csv: its first line must have :ID once"),
        ({"x": ":ID,at:time{timezone:+02:00}\na,b\n"}, "'at:time{timezone:.*' has the option 'timezone', which"),
        ({"x": "id,b\na,1,2\n"}, r"x\.csv, line 2: there are 3 fields, and 2 in the header"),
        ({"nodes": "id,b\n,1\n", "edges": "from,to\n"}, r"nodes\.csv, line 2 has no key"),
        ({"x": "Source,Target,Type\na,b,Directed\nb,a,Undirected\n"}, r"x\.csv, line 3 is undirected"),
        ({"x": PEOPLE + "b,two,A\n"}, r"x\.csv, line 3: column 'n', a int: 'two' is not a whole number"),
        ({"x": PEOPLE + 'b,"2,A\n'}, r"x\.csv: line 3: cannot read .*is a quote not closed"),
        ({"x": PEOPLE + "b,2,A,4\n"}, r"x\.csv, line 3: there are 4 fields, and 3 in the header"),
        ({"x": ":ID,p:map\na,1\n"}, "the column 'p:map' has the unknown type 'map'"),
        ({"x": ":ID,p,p\na,1,2\n"}, "the header has the column 'p' more than once"),
        ({"x": PEOPLE, "y": ":START_ID,:END_ID,:TYPE\na,b,R\n"}, r"y\.csv, line 2 names the node 'b'"),
        ({"x": PEOPLE + ",2,A\n"}, r"x\.csv, line 3: :ID is missing"),
    ],
)
def test_unusable_files_are_errors(files: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        load_graph(folder(tmp_path, **files))
