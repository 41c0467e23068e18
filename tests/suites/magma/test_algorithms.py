"""The five algorithms: every step on a small graph worked out by hand, and properties on random graphs."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphwalk.suites.magma.algorithms import ALGORITHMS, Instance, check_states, run_algorithm

#      4.0       1.0
#  0 ───── 1 ───── 2       4 ── 5
#  └────── 3 ──────┘         2.0
#     1.0     2.0
EDGES = ((0, 1), (0, 3), (1, 2), (2, 3), (4, 5))
WEIGHTS = (4.0, 1.0, 1.0, 2.0, 2.0)


def states(algorithm: str, source: int | None, weights: tuple[float, ...] | None = None) -> list[Any]:
    return [step.answer for step in run_algorithm(algorithm, Instance(6, EDGES, weights, source)).values()]


def hints(algorithm: str, source: int | None, weights: tuple[float, ...] | None = None) -> list[Any]:
    return [step.hint for step in run_algorithm(algorithm, Instance(6, EDGES, weights, source)).values()]


def test_bfs() -> None:
    assert states("bfs", 3) == [[0, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]
    assert hints("bfs", 3) == [
        {"queue": [3], "dequeued": 3, "unvisited_neighbourhood": [0, 2]},
        {"queue": [0, 2], "dequeued": 0, "unvisited_neighbourhood": [1]},
        {"queue": [2, 1], "dequeued": 2, "unvisited_neighbourhood": []},
        {"queue": [1], "dequeued": 1, "unvisited_neighbourhood": []},
    ]


def test_dfs() -> None:
    first = [[[0]], [[0, 1]], [[0, 1, 2]], [[0, 1, 2, 3]]]
    assert states("dfs", None) == [*first, [[0, 1, 2, 3], [4]], [[0, 1, 2, 3], [4, 5]]]
    assert hints("dfs", None)[2] == {"stack": [0, 1, 2], "visited": 2, "neighbourhood": [1, 3]}
    assert hints("dfs", None)[4] == {"stack": [4], "visited": 4, "neighbourhood": [5]}


def test_dijkstra() -> None:
    end = [[0, 1, 4.0], [0, 2, 3.0], [0, 3, 1.0]]
    assert states("dijkstra", 0, WEIGHTS) == [[[0, 1, 4.0], [0, 3, 1.0]], end, end, end]
    assert hints("dijkstra", 0, WEIGHTS)[1] == {
        "priority_queue": [[3, 1.0], [1, 4.0]],
        "unvisited": [1, 2, 3, 4, 5],
        "visited": [0],
    }


def test_floyd_warshall() -> None:
    steps = states("floyd_warshall", None, WEIGHTS)
    assert steps[0] == [[0, 1, 4.0], [0, 3, 1.0], [1, 2, 1.0], [1, 3, 5.0], [2, 3, 2.0], [4, 5, 2.0]]
    assert steps[5] == [[0, 1, 4.0], [0, 2, 3.0], [0, 3, 1.0], [1, 2, 1.0], [1, 3, 3.0], [2, 3, 2.0], [4, 5, 2.0]]
    assert len(steps) == 6
    assert hints("floyd_warshall", None, WEIGHTS)[4] == {"pivot": 4, "pivots_left": [5]}
    through_the_last = Instance(3, ((0, 2), (1, 2)), (1.0, 1.0), None)
    assert [0, 1, 2.0] in run_algorithm("floyd_warshall", through_the_last)[3].answer


def test_mst_prim() -> None:
    assert states("mst_prim", 0, WEIGHTS) == [
        [],
        [[0, 3, 1.0]],
        [[0, 3, 1.0], [2, 3, 2.0]],
        [[0, 3, 1.0], [1, 2, 1.0], [2, 3, 2.0]],
    ]
    assert hints("mst_prim", 0, WEIGHTS)[1]["priority_queue"] == [[3, 1.0], [1, 4.0]]


@st.composite
def problems(draw: st.DrawFn) -> Instance:
    n = draw(st.integers(2, 9))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    edges = tuple(sorted(draw(st.sets(st.sampled_from(pairs)))))
    weights = tuple(float(draw(st.integers(1, 10))) for _ in edges)
    return Instance(n, edges, weights, draw(st.integers(0, n - 1)))


@given(problems(), st.sampled_from(ALGORITHMS))
def test_states_grow_to_what_networkx_finds(problem: Instance, algorithm: str) -> None:
    if algorithm in ("dfs", "floyd_warshall"):
        problem = problem._replace(source=None)
    states = {number: step.answer for number, step in run_algorithm(algorithm, problem).items()}
    check_states(algorithm, problem, states)
    sizes = [sum(map(len, state)) if algorithm == "dfs" else len(state) for state in states.values()]
    assert sizes == sorted(sizes)
    whole_graph = algorithm in ("dfs", "floyd_warshall")
    component = {"bfs": 0, "dijkstra": 1, "mst_prim": 1}
    assert len(states) == (problem.n if whole_graph else len(states[len(states)]) + component[algorithm])
