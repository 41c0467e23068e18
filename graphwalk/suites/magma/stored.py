"""MAGMA's graphs in the store: the strategy "tools", in which a model walks a graph and is not shown its edges."""

from collections.abc import Iterator

from graphwalk.models.policy import Policy
from graphwalk.suites.magma.answers import write_answer
from graphwalk.suites.magma.generator.instances import Instance
from graphwalk.suites.magma.generator.traces import MagmaTrace, run_algorithm
from graphwalk.suites.magma.task import MagmaTask
from graphwalk.suites.questions.players.reading import Steps, neighborhood, read, unique_values
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Row

NODE, EDGE = "Node", "EDGE"


def stored_graph(trace: MagmaTrace) -> PropertyGraph:
    """One node per number, one relationship per edge, from the lower number to the higher one."""
    n, edges, weights, _ = trace.instance
    nodes = [Node(str(number), (NODE,), {}) for number in range(n)]
    held = [{}] * len(edges) if weights is None else [{"weight": weight} for weight in weights]
    links = [Relationship(EDGE, str(i), str(j), dict(own)) for (i, j), own in zip(edges, held, strict=True)]
    return PropertyGraph.from_rows(nodes, links, seed=trace.seed, spec={"trace": trace.trace_id})


def walking_expert(task: MagmaTask, setting: str) -> Policy:
    """Reads the neighbourhood of every node with the tools, and carries the algorithm out on what it has read.

    It knows the algorithm, the source and the tools, and no edge before a result shows it.
    """
    source = task.parameters.get("source")
    instance = yield from _walked(task.n, None if source is None else int(source), weighted=task.weighted)
    steps = run_algorithm(task.algorithm, instance)
    *earlier, last = (write_answer(task.algorithm, steps[step - 1].answer) for step, _ in task.asked(setting))
    for reply in earlier:  # noqa: UP028 (a list takes no messages, which a policy is sent)
        yield reply
    return last


def _walked(n: int, source: int | None, *, weighted: bool) -> Steps[Instance]:
    (keys,) = yield from read([unique_values("key", NODE)])
    results = yield from read([neighborhood(NODE, "key", row["values"]) for row in keys])
    edges = dict(sorted(_edges(row for rows in results for row in rows)))
    return Instance(n, tuple(edges), tuple(edges.values()) if weighted else None, source)


def _edges(rows: Iterator[Row]) -> Iterator[tuple[tuple[int, int], float]]:
    for row in rows:
        ends = int(str(row["center_key"])), int(str(_of(row, "neighbor_properties")["key"]))
        weight = _of(row, "relationship_properties").get("weight", 1.0)
        yield (min(ends), max(ends)), float(str(weight))


def _of(row: Row, name: str) -> Row:
    held = row.get(name)
    return held if isinstance(held, dict) else {}
