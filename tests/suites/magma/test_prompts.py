"""The prompts of MAGMA, word for word."""

import pytest
from inline_snapshot import snapshot

from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.generate import ALGORITHMS, Instance, MagmaTrace, run_algorithm


def trace(algorithm: str) -> MagmaTrace:
    instance = Instance(
        4,
        ((0, 1), (0, 2), (1, 2)),
        (8.0, 3.0, 1.0) if algorithm in ("dijkstra", "floyd_warshall", "mst_prim") else None,
        0 if algorithm in ("bfs", "dijkstra", "mst_prim") else None,
    )
    return MagmaTrace(algorithm, instance, run_algorithm(algorithm, instance), 0.5, 0, "test", 0)  # type: ignore[arg-type]


def shown(algorithm: str, setting: str, step: int) -> str:
    return "\n".join(f"{m.role}: {m.content}" for m in prompts.conversation(trace(algorithm), setting, step))


def test_input_output() -> None:
    assert shown("bfs", "io", 3) == snapshot("""\
system: You carry out graph algorithms exactly, by hand and without any program. You never skip or guess a step, and you give every result in precisely the format you are asked for.
user: Algorithm: breadth-first search (BFS) from the source node.
Goal: find all nodes that can be reached from the source; the source counts as reached.
The graph is undirected; its nodes are the numbers 0 to 3. Each edge is listed once, as (i, j) with i < j. Every tie goes to the node with the lowest number.

Edges: [(0, 1), (0, 2), (1, 2)]
Source: 0

Answer format: one line that begins with "Reachable Nodes:", followed by a list in square brackets.
The list holds the nodes, in ascending order, for example: Reachable Nodes: [0, 2, 3]
Where there is nothing to list, answer: Reachable Nodes: []

Give the final result of the algorithm. Write that one line and nothing else.\
""")


def test_input_output_with_reasoning() -> None:
    assert shown("floyd_warshall", "io_reasoning", 4) == snapshot("""\
system: You carry out graph algorithms exactly, by hand and without any program. You never skip or guess a step, and you give every result in precisely the format you are asked for.
user: Algorithm: Floyd–Warshall, with the pivots taken in the order 0, 1, 2, …
Goal: find the length of the shortest path between every pair of nodes that are connected.
The graph is undirected and weighted; its nodes are the numbers 0 to 3. Each edge is listed once, as (i, j, weight) with i < j. Every tie goes to the node with the lowest number.

Edges: [(0, 1, 8.0), (0, 2, 3.0), (1, 2, 1.0)]

Answer format: one line that begins with "Distances:", followed by a list in square brackets.
The list holds (i, j, distance) with i < j, sorted, and no pair without a known path, for example: Distances: [(0, 1, 8.0), (1, 2, 3.0)]
Where there is nothing to list, answer: Distances: []

Work through the algorithm step by step, in words of your own. When you are done, write the final result as the last line of your answer.\
""")


def test_input_output_of_a_step() -> None:
    problem, asked = shown("mst_prim", "io", 2).rsplit("MST Edges: []", 1)
    assert problem == shown("mst_prim", "io", 3).rsplit("MST Edges: []", 1)[0]
    assert asked == snapshot("""\


The algorithm goes one step at a time; steps are counted from 1.
One step takes the node with the smallest key out of the priority queue, adds the edge that gave it this key to the tree, and updates the keys of its neighbours. Give the edges added so far, not those of nodes still in the queue.

Give the state after step 2. Write that one line and nothing else.\
""")


def test_input_output_of_a_step_with_reasoning() -> None:
    assert shown("bfs", "io_reasoning", 1).rsplit("Reachable Nodes: []", 1)[1] == snapshot("""\


The algorithm goes one step at a time; steps are counted from 1.
One step takes the node at the front of the queue and puts its unvisited neighbours, lowest first, at the end. Give all nodes reached so far.

Work through the algorithm up to step 1, in words of your own. When you are done, write the state after step 1 as the last line of your answer.\
""")


def test_steps() -> None:
    assert shown("dfs", "is", 3) == snapshot("""\
system: You carry out graph algorithms exactly, by hand and without any program. You never skip or guess a step, and you give every result in precisely the format you are asked for.
user: Algorithm: depth-first search (DFS) over the whole graph.
Goal: find the connected components. The search starts at the lowest node; where it ends and nodes are left, a new tree starts at the lowest node not yet visited.
The graph is undirected; its nodes are the numbers 0 to 3. Each edge is listed once, as (i, j) with i < j. Every tie goes to the node with the lowest number.

Edges: [(0, 1), (0, 2), (1, 2)]

Answer format: one line that begins with "Connected Components:", followed by a list in square brackets.
The list holds one sorted list of nodes per component, for example: Connected Components: [[0, 1], [2]]
Where there is nothing to list, answer: Connected Components: []

We go through the algorithm one step at a time.
One step is the first visit to one node. Give the components as far as they are visited, leaving out the nodes not yet visited.

Give the state after step 1, as one line in the answer format.
assistant: Connected Components: [[0]]
user: Give the state after step 2, as one line in the answer format.
assistant: Connected Components: [[0, 1]]
user: Give the state after step 3, as one line in the answer format.\
""")


def test_steps_with_hints_bfs() -> None:
    assert shown("bfs", "ish", 1).rpartition("\n\n")[2] == snapshot("""\
Hint for step 1: the queue is [0]; node 0 is dequeued; its unvisited neighbourhood is [1, 2].
Give the state after step 1, as one line in the answer format.\
""")


def test_steps_with_hints_dfs() -> None:
    assert shown("dfs", "ish", 1).rpartition("\n\n")[2] == snapshot("""\
Hint for step 1: the stack is [0]; node 0 is visited; its neighbourhood is [1, 2].
Give the state after step 1, as one line in the answer format.\
""")


def test_steps_with_hints_dijkstra() -> None:
    assert shown("dijkstra", "ish", 2) == snapshot("""\
system: You carry out graph algorithms exactly, by hand and without any program. You never skip or guess a step, and you give every result in precisely the format you are asked for.
user: Algorithm: Dijkstra's shortest paths from the source node.
Goal: find the length of the shortest path from the source to every node that can be reached.
The graph is undirected and weighted; its nodes are the numbers 0 to 3. Each edge is listed once, as (i, j, weight) with i < j. Every tie goes to the node with the lowest number.

Edges: [(0, 1, 8.0), (0, 2, 3.0), (1, 2, 1.0)]
Source: 0

Answer format: one line that begins with "Distances:", followed by a list in square brackets.
The list holds (source, node, distance) for every reached node other than the source, sorted, for example: Distances: [(1, 0, 8.0), (1, 2, 3.0)]
Where there is nothing to list, answer: Distances: []

We go through the algorithm one step at a time.
One step takes the nearest node out of the priority queue and relaxes its edges. Give the shortest distances known so far, those of nodes still in the queue included.

Hint for step 1: the priority queue holds (node, distance) [(0, 0.0)]; the unvisited nodes are [0, 1, 2, 3]; the visited nodes are [].
Give the state after step 1, as one line in the answer format.
assistant: Distances: [(0, 1, 8.0), (0, 2, 3.0)]
user: Hint for step 2: the priority queue holds (node, distance) [(2, 3.0), (1, 8.0)]; the unvisited nodes are [1, 2, 3]; the visited nodes are [0].
Give the state after step 2, as one line in the answer format.\
""")


def test_steps_with_hints_floyd_warshall() -> None:
    assert shown("floyd_warshall", "ish", 1).rpartition("\n\n")[2] == snapshot("""\
Hint for step 1: the pivot is 0; the pivots left after it are [1, 2, 3].
Give the state after step 1, as one line in the answer format.\
""")


def test_steps_with_hints_mst_prim() -> None:
    assert shown("mst_prim", "ish", 2) == snapshot("""\
system: You carry out graph algorithms exactly, by hand and without any program. You never skip or guess a step, and you give every result in precisely the format you are asked for.
user: Algorithm: Prim's minimum spanning tree, grown from the source node.
Goal: find the edges of a minimum spanning tree of the part of the graph that can be reached from the source. An edge of equal weight does not replace the one that gave a node its key first.
The graph is undirected and weighted; its nodes are the numbers 0 to 3. Each edge is listed once, as (i, j, weight) with i < j. Every tie goes to the node with the lowest number.

Edges: [(0, 1, 8.0), (0, 2, 3.0), (1, 2, 1.0)]
Source: 0

Answer format: one line that begins with "MST Edges:", followed by a list in square brackets.
The list holds the tree's edges (i, j, weight) with i < j, sorted, for example: MST Edges: [(0, 1, 8.0), (1, 2, 3.0)]
Where there is nothing to list, answer: MST Edges: []

We go through the algorithm one step at a time.
One step takes the node with the smallest key out of the priority queue, adds the edge that gave it this key to the tree, and updates the keys of its neighbours. Give the edges added so far, not those of nodes still in the queue.

Hint for step 1: the priority queue holds (node, key) [(0, 0.0)]; the unvisited nodes are [0, 1, 2, 3]; the visited nodes are [].
Give the state after step 1, as one line in the answer format.
assistant: MST Edges: []
user: Hint for step 2: the priority queue holds (node, key) [(2, 3.0), (1, 8.0)]; the unvisited nodes are [1, 2, 3]; the visited nodes are [0].
Give the state after step 2, as one line in the answer format.\
""")


def test_worked_solution() -> None:
    assert prompts.reasoned_answer(trace("mst_prim")) == snapshot("""\
Step 1: the priority queue holds (node, key) [(0, 0.0)]; the unvisited nodes are [0, 1, 2, 3]; the visited nodes are [].
This gives [].
Step 2: the priority queue holds (node, key) [(2, 3.0), (1, 8.0)]; the unvisited nodes are [1, 2, 3]; the visited nodes are [0].
This gives [(0, 2, 3.0)].
Step 3: the priority queue holds (node, key) [(1, 1.0)]; the unvisited nodes are [1, 3]; the visited nodes are [0, 2].
This gives [(0, 2, 3.0), (1, 2, 1.0)].
MST Edges: [(0, 2, 3.0), (1, 2, 1.0)]\
""")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_prompt_has_the_tie_rule_and_not_the_answer(algorithm: str) -> None:
    text = shown(algorithm, "io", 1)
    assert "Every tie goes to the node with the lowest number." in text
    assert prompts.reasoned_answer(trace(algorithm)).splitlines()[-1] not in text
    assert len(prompts.conversation(trace(algorithm), "ish", 3)) == 6


@pytest.mark.parametrize("setting", ["is", "ish"])
def test_earlier_steps_are_the_correct_ones(setting: str) -> None:
    assistant = [m.content for m in prompts.conversation(trace("bfs"), setting, 3) if m.role == "assistant"]
    assert assistant == ["Reachable Nodes: [0, 1, 2]"] * 2
