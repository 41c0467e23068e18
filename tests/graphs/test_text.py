from inline_snapshot import snapshot

from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.text import graph_text

SMALL = PropertyGraph.from_rows(
    [
        Node("k7q2", ("Zorep",), {"ufe": "it's", "ajowu": 1.25}),
        Node("c1x9", ("Mubo",), {}),
        Node("b 2", ("Mubo",), {"i": True}),
    ],
    [Relationship("VEPAZ", "k7q2", "c1x9", {"oti": "zuvek"}), Relationship("NOKA", "c1x9", "c1x9", {})],
    seed=7,
    spec={"nodes": 3},
)


def test_json() -> None:
    assert graph_text(SMALL, "json") == snapshot("""\
{
"nodes":[
{"key":"k7q2","label":"Zorep","properties":{"ajowu":1.25,"ufe":"it's"}},
{"key":"c1x9","label":"Mubo","properties":{}},
{"key":"b 2","label":"Mubo","properties":{"i":true}}
],"relationships":[
{"type":"VEPAZ","source":"k7q2","target":"c1x9","properties":{"oti":"zuvek"}},
{"type":"NOKA","source":"c1x9","target":"c1x9","properties":{}}
]}\
""")


def test_incidence() -> None:
    assert graph_text(SMALL, "incidence") == snapshot("""\
k7q2:Zorep {ajowu: 1.25, ufe: 'it\\'s'}
  -[:VEPAZ {oti: 'zuvek'}]-> c1x9:Mubo
c1x9:Mubo
  -[:NOKA]-> c1x9:Mubo
`b 2`:Mubo {i: true}\
""")
