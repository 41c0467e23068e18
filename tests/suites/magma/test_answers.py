"""Reading replies, and judging what was read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.evaluation.extraction import Extraction
from graphwalk.suites.magma.answers import PREFIXES, read_answer
from graphwalk.suites.magma.generate import ALGORITHMS
from graphwalk.suites.magma.score import StepScore, judge

TREE = [[0, 1, 8.0], [1, 2, 3.0]]


@pytest.mark.parametrize(
    ("algorithm", "reply", "items"),
    [
        ("bfs", "Reachable Nodes: [0, 2]", [0, 2]),
        ("bfs", "Reachable Nodes: []", []),
        ("bfs", "  Reachable Nodes: [0,2,]\n", [0, 2]),
        ("dfs", "Connected Components: [[0, 1], [2]]", [[0, 1], [2]]),
        ("mst_prim", "MST Edges: [(0, 1, 8.0), (1, 2, 3)]", TREE),
        ("mst_prim", "MST Edges: [[0, 1, 8.0], [1, 2, 3.0]]", TREE),
        ("bfs", "Reachable Nodes: [0, x, (1, 2), 2.5]", [0, "x", [1, 2], 2.5]),
        ("bfs", "Reachable Nodes: [0, , 1]", [0, "", 1]),
        ("bfs", "Reachable Nodes: [0, 1", [0, "1"]),
        ("bfs", "Reachable Nodes: none", ["none"]),
        ("bfs", "Reachable Nodes:", [""]),
        ("bfs", "<think>Reachable Nodes: [9]</think>Reachable Nodes: [0, 2]", [0, 2]),
    ],
)
def test_replies_in_the_format(algorithm: str, reply: str, items: list[Any]) -> None:
    extraction = read_answer(algorithm, reply)
    assert (extraction.answer, extraction.stage) == (items, "strict")


@pytest.mark.parametrize(
    "reply",
    [
        "The state is **Reachable Nodes:** [0, 2].",
        "**reachable nodes**: `[0, 2]`",
        "```\nReachable Nodes:\n[0, 2]\n```",
        "Explanation: [see below]\n\nReachable Nodes: [0, 2]",
    ],
)
def test_replies_with_other_text(reply: str) -> None:
    assert read_answer("bfs", reply) == Extraction([0, 2], "embedded")


@pytest.mark.parametrize("reply", ["", "[0, 2]", "Nodes: [0, 2]", "Distances: [0, 2]", "<think>Reachable Nodes: [0]"])
def test_replies_without_the_prefix(reply: str) -> None:
    assert read_answer("bfs", reply) == Extraction()


@given(st.text(), st.sampled_from(ALGORITHMS))
def test_no_text_raises(text: str, algorithm: str) -> None:
    for reply in (text, f"{PREFIXES[algorithm]} {text}", f"{PREFIXES[algorithm]} [{text}]"):
        items = read_answer(algorithm, reply).answer
        judge(algorithm, 1, items, [])


@pytest.mark.parametrize(
    "body", ["[" * 300_000, "[(" * 100_000 + "]", "1," * 300_000, "9" * 400_000, "[" + "9" * 5000 + "]"]
)
def test_hostile_texts_are_read_in_time(body: str) -> None:
    items = read_answer("mst_prim", f"MST Edges: {body}").answer
    assert judge("mst_prim", 1, items, TREE).invalid_items == 1
    assert read_answer("mst_prim", "MST Edges" * 50_000).answer is None


@pytest.mark.parametrize("part", ["MST Edges: [", "MST Edges: x ", "MST Edges: [(0, 1, 8.0), y]", "MST Edges:\n"])
def test_many_prefixes_are_read_in_time(part: str) -> None:
    """In quadratic time this would take hours."""
    assert read_answer("mst_prim", part * 50_000).lossy


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
    assert judge(algorithm, 1, items, target) == StepScore(step=1, exact=True, precision=1, recall=1, f1=1)


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
    score = judge(algorithm, 1, [item, item], [])
    assert (score.invalid_items, score.hallucinations, score.exact, score.f1) == (1, 0, False, 0)


@pytest.mark.parametrize(
    ("items", "target", "recall", "f1"),
    [([], [], 1, 1), ([1], [], 0, 0), (["x"], [], 0, 0), ([1, "x"], [], 0, 0), ([], [1], 0, 0)],
)
def test_an_empty_state_wants_an_empty_answer(items: list[Any], target: list[Any], recall: float, f1: float) -> None:
    score = judge("bfs", 1, items, target)
    assert (score.recall, score.f1) == (recall, f1)


def test_errors_are_counted_item_by_item() -> None:
    assert judge("dijkstra", 1, [[2, 1, 3.0]], [[1, 2, 3.0]]).hallucinations == 1  # the source comes first
    assert judge("bfs", 1, None, [0, 1]) == StepScore(step=1, missing_prefix=1)
    score = judge("bfs", 4, [0, 7, 8, "x", "y"], [0, 1, 2, 3])
    assert (score.false_negatives, score.hallucinations, score.invalid_items) == (3, 2, 1)
    assert (score.precision, score.recall) == (1 / 5, 1 / 4)
    assert score.f1 == pytest.approx(2 / 9)


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("Reachable \t Nodes: [1, 2]", [1, 2]),
        ("Reachable Nodes: [0, 1\nReachable Nodes: none\nmore", ["none"]),  # the last prefix counts
        ("Reachable Nodes: [0, 1\nReachable Nodes: [0, 1, 2", [0, 1, "2"]),
        ('Reachable Nodes: ["Reachable Nodes: [1]", 2]\nReachable Nodes: [3]', [3]),  # the one inside is no answer
        ("Reachable Nodes: all of them\nthe rest\nof it", ["all of them"]),
        ("Reachable Nodes: none\nReachable Nodes: nothing\nReachable Nodes: zilch\nend", ["zilch"]),
        ("Reachable Nodes: [1\nReachable Nodes: [1, 2]\nReachable Nodes: none", [1, 2]),  # it ends at the next prefix
        ("Reachable Nodes: [1, x, ]", [1, "x"]),
        ("Reachable Nodes: [1, x]", [1, "x"]),
        ("Reachable Nodes: [(1, 2), x, [3, 4]]", [[1, 2], "x", [3, 4]]),
    ],
)
def test_lists_with_odd_ends(reply: str, items: list[Any]) -> None:
    assert read_answer("bfs", reply).answer == items
