"""Rows in the form of the data set openai/graphwalks, on graphs of our own."""

from typing import Any

EXAMPLE = """\
The graph has the following edges:
uvwx -> alke
abcd -> uvwx

Example 1:
Operation:
Find the parents of node uvwx.
Final Answer: [abcd]
"""
EDGES = [("a0", "b1"), ("a0", "b1"), ("a0", "c2"), ("b1", "b1"), ("b1", "d3"), ("c2", "a0"), ("c2", "d3"), ("d3", "e4")]
BFS = "Perform a BFS from node {} with depth {}."
NEW_BFS = "Perform a BFS from node {} and return only the nodes at exactly depth {} (not nodes at intermediate depths)."
PARENTS = "Find the parents of node {}."
ANSWER = "Return your final answer in the very last line of your response:\nFinal Answer: [node1, node2, node3]\n"


def prompt_of(operation: str, edges: list[tuple[str, str]] | None = None) -> str:
    """The worked example has edges and an operation too; the graph follows the marker."""
    lines = "\n".join(f"{source} -> {target}" for source, target in (EDGES if edges is None else edges))
    graph = f"Here is the graph to operate on:\nThe graph has the following edges:\n{lines}\n\n\n"
    return f"{EXAMPLE}\n{graph}Operation:\n{operation}\n\n{ANSWER}"


def row(kind: str, operation: str, answer: list[str], **changed: Any) -> dict[str, Any]:
    prompt = prompt_of(operation)
    record = {"prompt": prompt, "answer_nodes": answer, "prompt_chars": len(prompt), "problem_type": kind}
    return {name: value for name, value in {**record, **changed}.items() if value is not None}


ROWS = [
    row("bfs", BFS.format("a0", 2), ["d3"]),
    row("bfs", NEW_BFS.format("a0", 3), ["e4"]),
    row("parents", PARENTS.format("b1"), ["a0", "b1"]),  # the node itself, as in rows of 2025
    row("parents", PARENTS.format("d3"), ["c2", "b1"]),
    row("bfs", BFS.format("e4", 1), []),
]
GOLD = [["d3"], ["e4"], ["a0"], ["b1", "c2"], []]
