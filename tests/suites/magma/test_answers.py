"""Reading replies, and judging what was read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.suites.extraction import Extraction
from graphwalk.suites.magma.algorithms import ALGORITHMS
from graphwalk.suites.magma.answers import PREFIXES, MagmaScore, read_states, score_states

TREE = [[0, 1, 8.0], [1, 2, 3.0]]


def judged(algorithm: str, items: list[Any], target: list[Any]) -> MagmaScore:
    return score_states(algorithm, Extraction(items, "strict"), target)


@pytest.mark.parametrize(
    ("algorithm", "reply", "items"),
    [
        ("bfs", "Reachable Nodes: [0, 2]", [0, 2]),
        ("bfs", "Reachable Nodes: []", []),
        ("dfs", "Connected Components: [[0, 1], [2]]", [[0, 1], [2]]),
        ("mst_prim", "MST Edges: [(0, 1, 8.0), (1, 2, 3)]", TREE),
        ("mst_prim", "MST Edges: [[0, 1, 8.0], [1, 2, 3.0]]", TREE),
        ("bfs", "Reachable Nodes: [0, x, (1, 2), 2.5]", [0, "x", [1, 2], 2.5]),
        ("bfs", "Reachable Nodes: [0, 1", [0, "1"]),
        ("bfs", "Reachable Nodes: none", ["none"]),
        ("bfs", "<think>Reachable Nodes: [9]</think>Reachable Nodes: [0, 2]", [0, 2]),
    ],
)
def test_replies_in_the_format(algorithm: str, reply: str, items: list[Any]) -> None:
    extraction = read_states(algorithm, reply)
    assert (extraction.answer, extraction.stage) == (items, "strict")


@pytest.mark.parametrize(
    "reply",
    [
        "The state is **Reachable Nodes:** [0, 2].",
        "```\nReachable Nodes:\n[0, 2]\n```",
        "Explanation: [see below]\n\nReachable Nodes: [0, 2]",
    ],
)
def test_replies_with_other_text(reply: str) -> None:
    assert read_states("bfs", reply) == Extraction([0, 2], "embedded")


@pytest.mark.parametrize("reply", ["", "[0, 2]", "Nodes: [0, 2]", "Distances: [0, 2]", "<think>Reachable Nodes: [0]"])
def test_replies_without_the_prefix(reply: str) -> None:
    assert read_states("bfs", reply) == Extraction()


@given(st.text(), st.sampled_from(ALGORITHMS))
def test_no_text_raises(text: str, algorithm: str) -> None:
    for reply in (text, f"{PREFIXES[algorithm]} {text}", f"{PREFIXES[algorithm]} [{text}]"):
        score_states(algorithm, read_states(algorithm, reply), [])


@pytest.mark.parametrize(
    ("algorithm", "items"),
    [
        ("bfs", [2, 0, 0]),
        ("dfs", [[2], [1, 0]]),
        ("mst_prim", [[2, 1, 3], [0, 1, 8]]),
        ("floyd_warshall", [[2, 1, 3], [0, 1, 8]]),
        ("dijkstra", [[1, 2, 3], [0, 1, 8]]),
    ],
)
def test_order_and_spelling_do_not_matter(algorithm: str, items: list[Any]) -> None:
    target = {"bfs": [0, 2], "dfs": [[0, 1], [2]]}.get(algorithm, TREE)
    score = judged(algorithm, items, target)
    assert (score.correct, score.precision, score.recall, score.f1, score.false_positives) == (True, 1, 1, 1, 0)


@pytest.mark.parametrize(
    ("algorithm", "item"),
    [
        ("bfs", "0"), ("bfs", 0.0), ("bfs", True), ("bfs", [0]), ("bfs", {}),
        ("dfs", 0), ("dfs", []), ("dfs", [0.5]), ("dfs", [[0]]),
        ("mst_prim", [0, 1]), ("mst_prim", [0, 1, "8"]), ("mst_prim", [0, 1, 8.0, 1]), ("mst_prim", [0.0, 1, 8.0]),
        ("dijkstra", [0, 1, True]), ("floyd_warshall", "(0, 1, inf)"),
    ],
)  # fmt: skip
def test_invalid_items(algorithm: str, item: Any) -> None:
    score = judged(algorithm, [item, item], [])
    assert (score.invalid_items, score.hallucinations, score.correct, score.f1) == (1, 0, False, 0)


def test_errors_are_counted_item_by_item() -> None:
    assert judged("dijkstra", [[2, 1, 3.0]], [[1, 2, 3.0]]).hallucinations == 1  # the source comes first
    missing = score_states("bfs", Extraction(), [0, 1])
    assert (missing.correct, missing.f1, missing.missing_prefix, missing.false_negatives) == (False, 0, 1, 0)
    score = judged("bfs", [0, 7, 8, "x", "y"], [0, 1, 2, 3])
    assert (score.false_negatives, score.hallucinations, score.invalid_items) == (3, 2, 1)
    assert (score.precision, score.recall) == (1 / 5, 1 / 4)
    assert score.f1 == pytest.approx(2 / 9)
