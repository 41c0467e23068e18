"""Generated problems are those of the data set's recipe, and the evaluator agrees with networkx."""

import hashlib

import networkx as nx
import numpy as np

from graphwalk.seeds import stdlib_random
from graphwalk.suites.graphwalks.suite import ProblemSpec, answer_of, generated


def test_graphs_follow_the_recipe_of_the_data_set() -> None:
    graph, _ = generated(ProblemSpec(nodes=50, out_degree=4), 7, 0)
    edges = list(graph.edges())
    keys = [key_of_number(number) for number in range(50)]
    assert keys[0] == "cfcd208495"
    sources = [source for source, _ in edges]
    targets = [target for _, target in edges]
    assert sources == list(np.repeat(keys, 4))
    assert set(targets) <= set(keys)
    assert len(set(edges)) < len(edges)  # parallel edges occur
    assert any(source == target for source, target in edges)


def key_of_number(number: int) -> str:
    return hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()[:10]


def test_a_problem_is_a_function_of_its_spec_seed_and_index() -> None:
    spec = ProblemSpec(nodes=30, depth=3)
    first, second = generated(spec, 1, 4), generated(spec, 1, 4)
    assert (first[0].digest, first[1]) == (second[0].digest, second[1])
    others = {generated(spec, seed, index)[0].digest for seed in range(3) for index in range(3)}
    assert len(others) == 9
    deeper, _ = generated(spec.model_copy(update={"depth": 5}), 1, 4)
    assert deeper.digest == first[0].digest


def test_a_thousand_problems_are_answered_as_by_networkx() -> None:
    sizes = set[int]()
    for number in range(500):
        draw = stdlib_random(number, "test")
        depth = draw.randint(1, 6)
        spec = ProblemSpec(nodes=draw.randint(1, 60), out_degree=draw.randint(1, 4), depth=depth)
        graph, (bfs, parents) = generated(spec, number, 0)
        of_networkx: nx.MultiDiGraph[str] = nx.MultiDiGraph(list(graph.edges()))
        distances = nx.shortest_path_length(of_networkx, bfs.node)
        assert answer_of(bfs, graph) == sorted(key for key, length in distances.items() if length == depth)
        assert answer_of(parents, graph) == sorted({*of_networkx.predecessors(parents.node)} - {parents.node})
        sizes |= {len(answer_of(bfs, graph)), len(answer_of(parents, graph))}
    assert {0, 1, 2, 3, 10} <= sizes
