import pytest

from graphwalk.errors import ConfigError
from graphwalk.graphs.conversion import from_pandas
from graphwalk.types.graph import Node, Relationship
from graphwalk.types.values import Temporal

pd = pytest.importorskip("pandas")


def test_tables_become_a_graph() -> None:
    nodes = pd.DataFrame(
        {
            "id": [1, 2],
            "kind": ["Ship", [":Old", "Port"]],
            "seen": [pd.Timestamp("2001-04-25 12:30:00.000000001"), pd.NaT],
            "zoned": [pd.Timestamp("2001-04-25 12:30", tz="Europe/Berlin"), pd.NaT],
            "span": [pd.Timedelta(days=1, seconds=2), pd.NaT],
            "tons": [1.5, float("nan")],
            "crew": pd.array([3, None], dtype="Int64"),
            "tags": [["a", "b"], None],
        }
    )
    relationships = pd.DataFrame(
        {"from": [1.0, 2.0], "to": [2, 2], "rel": ["CALLED_AT", "SELF"], "since": [1999, 2000]}
    )
    graph = from_pandas(nodes, relationships, key="id", label="kind", source="from", target="to", type="rel")
    assert list(graph.nodes()) == [
        Node(
            "1",
            ("Ship",),
            {
                "seen": Temporal("local datetime", "2001-04-25T12:30:00.000000001"),
                "zoned": Temporal("datetime", "2001-04-25T12:30:00+02:00[Europe/Berlin]"),
                "span": Temporal("duration", "P1DT2S"),
                "tons": 1.5,
                "crew": 3,
                "tags": ("a", "b"),
            },
        ),
        Node("2", (":Old", "Port"), {}),
    ]
    assert list(graph.relationships()) == [
        Relationship("CALLED_AT", "1", "2", {"since": 1999}),
        Relationship("SELF", "2", "2", {"since": 2000}),
    ]


@pytest.mark.parametrize(
    ("nodes", "relationships", "message"),
    [
        ({"key": ["a"]}, {"source": [], "target": [], "type": []}, "the table of nodes has no column 'label'"),
        (
            {"key": ["a", "a"], "label": "A"},
            {"source": [], "target": [], "type": []},
            "two nodes have the same key 'a'",
        ),
        ({"key": [None], "label": "A"}, {"source": [], "target": [], "type": []}, "nodes, row 0, key must be text"),
        ({"key": ["a"], "label": "A", "p": [{}]}, {"source": [], "target": [], "type": []}, "row 0, property 'p'"),
        ({"key": ["a"], "label": "A"}, {"source": ["a"], "target": ["b"], "type": ["R"]}, "names the node 'b'"),
        (
            {"key": ["a"], "label": "A"},
            {"source": ["a"], "target": ["a"], "type": [None]},
            "relationships, row 0, type",
        ),
    ],
)
def test_unusable_tables_are_errors(nodes: dict, relationships: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_pandas(pd.DataFrame(nodes), pd.DataFrame(relationships))
