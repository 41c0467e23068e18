"""Folders of CSV files in the layout of Neo4j's importer."""

from pathlib import Path

import pytest

from graphwalk.errors import ConfigError
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


def test_nodes_of_two_id_spaces_with_one_id_are_told_apart(tmp_path: Path) -> None:
    place = folder(
        tmp_path,
        people=":ID(Person),:LABEL\n1,Person\n2,Person\n",
        towns=":ID(Town),name,:LABEL\n1,Riga,Town\n",
        lives=":START_ID(Person),:END_ID(Town),:TYPE\n2,1,LIVES_IN\n1,1,LIVES_IN\n",
    )
    graph = load_graph(place)
    assert [node.key for node in graph.nodes()] == ["Person:1", "2", "Town:1"]
    assert [(r.source, r.target) for r in graph.relationships()] == [("2", "Town:1"), ("Person:1", "Town:1")]


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
        ({"x": "a,b\n1,2\n"}, r"x\.csv: its first line has neither :ID nor :START_ID"),
        ({"x": PEOPLE + "b,two,A\n"}, r"x\.csv: line 3: column 'n', a int: 'two' is not a whole number"),
        ({"x": PEOPLE + "a,2,A\n"}, r"x\.csv, line 3: the id 'a' is there already, in x\.csv, line 2"),
        ({"x": PEOPLE + 'b,"2,A\n'}, r"x\.csv: line 3: cannot read .*is a quote not closed"),
        ({"x": PEOPLE + "b,2,A,4\n"}, r"x\.csv: line 3: there are 4 fields, and 3 in the header"),
        ({"x": PEOPLE + "b,2,gw_1\n"}, r"x\.csv, line 3 has the label 'gw_1'"),
        ({"x": ":ID,p:map\na,1\n"}, "column 'p', a map: the type 'map' is unknown"),
        ({"x": ":ID,p,p\na,1,2\n"}, "the header has the column 'p' more than once"),
        ({"x": PEOPLE, "y": ":START_ID,:END_ID,:TYPE\na,b,R\n"}, r"y\.csv, line 2: no node has the id 'b'"),
        ({"x": PEOPLE + ",2,A\n"}, r"x\.csv, line 3: :ID is missing"),
    ],
)
def test_unusable_files_are_errors(files: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        load_graph(folder(tmp_path, **files))
