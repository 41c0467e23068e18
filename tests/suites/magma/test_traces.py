"""Data sets: distinct, split for ever, the same for the same seed, fast; networkx confirms them."""

from itertools import combinations, product
from typing import Any

import pytest

from graphwalk.errors import ConfigError, OracleError
from graphwalk.suites.magma.algorithms import ALGORITHMS, Instance, check_states
from graphwalk.suites.magma.traces import MagmaSpec, MagmaTrace, instances, make_traces

SPLITS = ("train", "validation", "test")


def traces_of(seed: int = 3, **fields: Any) -> list[MagmaTrace]:
    return list(make_traces(MagmaSpec(**fields), seed))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_papers_splits_have_no_data_point_twice(algorithm: str) -> None:
    for nodes, counts in ((5, (800, 112, 112)), (6, (1000, 125, 125))):
        distinct = set()
        for split, count in zip(SPLITS, counts, strict=True):
            spec = MagmaSpec(algorithm=algorithm, nodes=nodes, count=count, split=split)
            drawn = list(instances(spec, 1))
            assert len(drawn) == count
            distinct.update(drawn)
        assert len(distinct) == sum(counts)


def test_no_graph_of_a_split_is_in_another_whatever_seed_source_and_weights() -> None:
    graphs: dict[str, set[Any]] = {split: set() for split in SPLITS}
    for split, seed, nodes in product(SPLITS, (1, 2), (4, 5, 6)):
        spec = MagmaSpec(algorithm="bfs", nodes=nodes, count=25, split=split)
        for instance in instances(spec, seed):
            graphs[split].add((instance.n, instance.edges))
    for one, other in combinations(SPLITS, 2):
        assert not graphs[one] & graphs[other]


@pytest.mark.parametrize("nodes", [5, 15])
def test_an_item_depends_on_seed_and_index_only(nodes: int) -> None:
    long = traces_of(algorithm="dijkstra", nodes=nodes, count=40)
    assert traces_of(algorithm="dijkstra", nodes=nodes, count=5) == long[:5]
    assert [trace.index for trace in long] == list(range(40))
    assert traces_of(algorithm="dijkstra", nodes=nodes, count=40, seed=4) != long


def test_one_line_of_a_data_set() -> None:
    record = traces_of(algorithm="dijkstra", nodes=4, count=1)[0].as_json()
    steps, final = record.pop("steps"), record.pop("final")
    assert record == {
        "algorithm": "dijkstra",
        "n": 4,
        "p": 0.5,
        "seed": 3,
        "split": "test",
        "index": 0,
        "trace_id": "dijkstra-n4-p0.5-test-s3-0",
        "edges": [[0, 1], [0, 2], [0, 3], [1, 3], [2, 3]],
        "weights": [9.0, 10.0, 5.0, 9.0, 6.0],
        "source": 0,
    }
    assert [step["hint"]["visited"] for step in steps] == [[], [0], [0, 3], [0, 1, 3]]
    assert steps[-1]["answer"] == final == [[0, 1, 9.0], [0, 2, 10.0], [0, 3, 5.0]]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"count": 113}, "has 112 distinct dfs traces of 5 nodes"),
        ({"nodes": 7, "p": 0.0, "split": "train", "count": 1}, "0 distinct dfs traces of 7 nodes at p = 0"),
    ],
)
def test_a_split_that_is_too_small(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        traces_of(**{"algorithm": "dfs", "nodes": 5, **fields})
    assert error.value.hint


def test_networkx_refuses_a_wrong_answer() -> None:
    square = Instance(4, ((0, 1), (0, 2), (1, 3), (2, 3)), (1.0, 2.0, 1.0, 5.0), 0)
    tree = [[0, 1, 1.0], [0, 2, 2.0], [1, 3, 1.0]]
    wrong: dict[str, list[Any]] = {
        "bfs": [0, 1, 2],
        "dfs": [[0, 1, 2], [3]],
        "dijkstra": [[0, 1, 1.0], [0, 2, 2.0], [0, 3, 3.0]],
        "floyd_warshall": [[0, 1, 1.0]],
    }
    for algorithm, final in wrong.items():
        with pytest.raises(OracleError, match=algorithm):
            check_states(algorithm, square, {4: final})
    check_states("mst_prim", square, {4: tree})
    for broken in (tree[:-1], [*tree, [2, 3, 5.0]], [*tree[:-1], [2, 3, 5.0]], [*tree[:-1], [2, 3, 1.0]]):
        with pytest.raises(OracleError, match="mst_prim"):
            check_states("mst_prim", square, {4: broken})
