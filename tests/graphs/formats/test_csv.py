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
            r"no relationships: no pair of fields .* there are: 'a', 'b'. Name the fields with --source-from",
        ),
        ({"x": "sep=;\na;b\n"}, r"x\.csv: the first line is not the names of the columns but sep="),
        ({"x": "_id,_labels,name,_start,_end,_type\n"}, "nodes and relationships are in one table, as APOC"),
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


def ends(graph: PropertyGraph) -> list[tuple[str, str, str]]:
    return [(r.source, r.type, r.target) for r in graph.relationships()]


@pytest.mark.parametrize(
    "header",
    ["source,target", "From;To", "src|dst", "start,end", "_from,_to", "~from,~to", "start_node_id,end_node_id"],
)
def test_a_pair_of_columns_for_the_ends_is_a_table_of_relationships(header: str, tmp_path: Path) -> None:
    delimiter = next(sign for sign in ",;|" if sign in header)
    assert ends(load_graph(folder(tmp_path, likes=f"{header}\na{delimiter}b\n"))) == [("a", "likes", "b")]


@pytest.mark.parametrize(
    ("files", "columns"),
    [
        ({"movies": "movieId,title\n1,It\n", "ratings": "userId,movieId,rating\n7,1,3.5\n"}, "'movieId', 'title'"),
        ({"pairs": "id,u,v\n1,a,b\n"}, "'id', 'u', 'v'"),
        ({"tree": "name,parent,child\nx,a,b\n"}, "'name', 'parent', 'child'"),
        ({"nodes": "id,name\n1,Ida\n"}, "'id', 'name'"),
        ({"people": ":ID,name\n1,Ida\n"}, "':ID', 'name'"),
        ({"nodes": "id\na\n", "edges": "u,v\na,a\n"}, "'u', 'v'"),
    ],
)
def test_a_folder_without_relationships_is_refused_with_its_columns(
    files: dict[str, str], columns: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=rf"there are: {columns}.*--source-from and --target-from"):
        load_graph(folder(tmp_path, **files))


def test_options_name_the_columns(tmp_path: Path) -> None:
    place = folder(tmp_path, things="code,kind\nx,Ship\ny,Port\n", moves="u,v,how\nx,y,SAILS\n")
    options = FileOptions(key_from="code", label_from="kind", source_from="u", target_from="v", type_from="how")
    graph = load_graph(place, options)
    assert [(node.key, node.labels, dict(node.properties)) for node in graph.nodes()] == [
        ("x", ("Ship",), {"code": "x"}),
        ("y", ("Port",), {"code": "y"}),
    ]
    assert ends(graph) == [("x", "SAILS", "y")]
    by_position = FileOptions(source_from="position", target_from="position")
    place = folder(tmp_path, things="name\nx\ny\n", moves="from,to\n0,1\n")
    assert ends(load_graph(place, by_position)) == [("0", "moves", "1")]


def test_an_empty_file_of_relationships_counts(tmp_path: Path) -> None:
    graph = load_graph(folder(tmp_path, nodes="id\na\n", edges="source,target\n"))
    assert (graph.node_count, graph.relationship_count) == (1, 0)


def test_columns_that_may_be_times_are_refused(tmp_path: Path) -> None:
    place = folder(tmp_path, reigns="name,from,to\nIda,1990,2001\n", knows="source,target\nIda,Ida\n")
    with pytest.raises(ConfigError, match="from and to may be the ends of relationships, or times"):
        load_graph(place)
    graph = load_graph(place, FileOptions(source_from="from", target_from="to"))
    assert ends(graph) == [("Ida", "knows", "Ida"), ("1990", "reigns", "2001")]
    with pytest.raises(ConfigError, match="the ends may be from, to or from_id, to_id"):
        load_graph(folder(tmp_path, reigns="from,to,from_id,to_id\na,b,1,2\n", knows="id\na\n"))


@pytest.mark.parametrize(
    ("cells", "values", "note"),
    [
        ("1;NA;3", [1, None, 3], "1 cell read as missing among those of type long; the first is 'NA' in line 3"),
        (r"\N;1.5;NULL", [None, 1.5, None], "2 cells read as missing among those of type double; the first is '"),
        ("1,5;2;-0,25", [1.5, 2.0, -0.25], "2 cells with a decimal comma; the first is '1,5' in line 2"),
        ("N/A;2001-04-25;", [None, Temporal("date", "2001-04-25"), None], "1 cell read as missing among"),
        ("NA;Aal;NA", ["NA", "Aal", "NA"], "2 cells read as text; --null 'NA' reads them as missing"),
    ],
)
def test_words_for_missing_values(cells: str, values: list[object], note: str, tmp_path: Path) -> None:
    lines = "".join(f"{key};{cell}\n" for key, cell in zip("abc", cells.split(";"), strict=True))
    with pytest.warns(FileNote, match="nodes.csv: n: " + note.replace("\\", r"\\")):
        graph = load_graph(folder(tmp_path, nodes=f"id;n\n{lines}", edges="from;to\n"))
    assert [node.properties.get("n") for node in graph.nodes()] == values


def test_null_words_and_thousands(tmp_path: Path) -> None:
    place = folder(tmp_path, nodes='id,place,n\na,NA,"1,234"\nb,Aal,"2,500"\n', edges="from,to\na,b\n")
    with pytest.warns(FileNote, match="nodes.csv: cells with NA that are missing values: 1"):
        graph = load_graph(place, FileOptions(null=("NA",)))
    assert [dict(node.properties) for node in graph.nodes()] == [{"n": "1,234"}, {"place": "Aal", "n": "2,500"}]


def test_a_column_without_a_name(tmp_path: Path) -> None:
    place = folder(tmp_path, nodes=",name,\n0,Ida,\n1,Bo,\n", edges='"",source,target\n7,0,1\n')
    graph = load_graph(place, FileOptions(key_from="column_1"))
    assert [dict(node.properties) for node in graph.nodes()] == [
        {"column_1": "0", "name": "Ida"},
        {"column_1": "1", "name": "Bo"},
    ]
    assert list(graph.relationships()) == [Relationship("RELATED", "0", "1", {"column_1": 7})]


def test_forms_of_unicode_are_one_name(tmp_path: Path) -> None:
    composed, apart = "Bl\u00e9", "Ble\u0301"
    nodes = f"name\n{apart}\nBar\n"
    graph = load_graph(folder(tmp_path, nodes=nodes, edges=f"source,target\n{composed},Bar\n"))
    assert ends(graph) == [(apart, "RELATED", "Bar")]
    with pytest.raises(ConfigError, match=r"nodes\.csv, line 4: the key .* is there already, in nodes\.csv, line 2"):
        load_graph(folder(tmp_path, nodes=nodes + composed + "\n"))


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    place = folder(tmp_path, edges="from,to\na,b\n")
    (place / "nodes.csv").write_bytes("id,name\na,x\nb,Müller\n".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"nodes\.csv: line 3 is not UTF-8; save the file as UTF-8"):
        load_graph(place)


def test_all_mistakes_are_listed_or_left_out(tmp_path: Path) -> None:
    nodes = "id,n\n1,a\n1,b\n2,c,d\n"
    place = folder(tmp_path, nodes=nodes, edges="from,to\n1,9\n,1\n1,1\n")
    with pytest.raises(ConfigError) as refused:
        load_graph(place)
    assert refused.value.message.splitlines()[1:] == [
        "  nodes.csv, line 4: there are 3 fields, and 2 in the header",
        "  nodes.csv, line 3: the key '1' is there already, in nodes.csv, line 2",
        "  edges.csv, line 2 names the node '9', which does not exist; add it",
        "  edges.csv, line 3 has no source",
    ]
    with pytest.warns(FileNote, match="entries that are left out: 4; the first: nodes.csv, line 4: there are 3 fields"):
        graph = load_graph(place, FileOptions(skip_bad=True))
    assert (graph.node_count, ends(graph)) == (1, [("1", "RELATED", "1")])
    many = "".join(f"1,{number}\n" for number in range(100, 130))
    with pytest.raises(ConfigError, match=r"30 mistakes;") as refused:
        load_graph(folder(tmp_path, nodes="id\n1\n", edges=f"from,to\n{many}"))
    assert (refused.value.message.count("\n"), refused.value.message[-1]) == (21, "…")


def test_the_importer_layout_of_the_manual(tmp_path: Path) -> None:
    graph = load_graph(
        folder(
            tmp_path,
            Ship__header="shipId:ID(Ship){id-type:long},name,at:point{crs:WGS-84}\n",
            Ship__part1='1,Tern,"{x:1.5, y:2}"\n',
            Ship__part2="2,Gull,\n",
            MEETS=":START_ID(Ship),:END_ID(Ship),year:int\n1,2,1881\n",
        )
    )
    assert list(graph.nodes()) == [
        Node("Ship:1", ("Ship",), {"shipId": 1, "name": "Tern", "at": Point(4326, (1.5, 2.0))}),
        Node("Ship:2", ("Ship",), {"shipId": 2, "name": "Gull"}),
    ]
    assert list(graph.relationships()) == [Relationship("MEETS", "Ship:1", "Ship:2", {"year": 1881})]


def test_tables_of_neptune(tmp_path: Path) -> None:
    neptune = load_graph(
        folder(
            tmp_path,
            vertices="~id,~label,zip:String,age:Int\nv1,person;old,007,29\nv2,person,1,\n",
            edges="~id,~from,~to,~label,w:Double\ne1,v1,v2,knows,2\n",
        )
    )
    assert next(neptune.nodes()) == Node("v1", ("old", "person"), {"zip": "007", "age": 29})
    assert repr(list(neptune.relationships())) == repr([Relationship("knows", "v1", "v2", {"~id": "e1", "w": 2.0})])


def test_a_spreadsheet(tmp_path: Path) -> None:
    """A mark of the encoding, semicolons, ends of lines of Windows, spaces."""
    (tmp_path / "knows.csv").write_bytes("\ufeffsource ; target;w\r\na; b ;1,5\r\n".encode())
    graph = load_graph(tmp_path / "knows.csv")
    assert list(graph.relationships()) == [Relationship("knows", "a", "b", {"w": 1.5})]
