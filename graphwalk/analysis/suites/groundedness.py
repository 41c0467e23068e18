"""Groundedness: rows that the tool results of an episode prove (docs/method.md, Scores).

A row is proven if the evaluator of the question finds it in the observed graph, and no unobserved relationship could
change that. It must therefore also be found in the observed graph with the relationships that the results leave open.
"""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Row
from graphwalk.models.trajectory import Trajectory
from graphwalk.suites.questions.catalogue import python_part
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.rows import row_set
from graphwalk.tools.observed import ObservedGraph, observed_graph

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask

RowTuple = tuple[Hashable, ...]
"""The scored fields of a row, as `graphwalk.suites.rows.row_set` has them."""

_LOGGER = logging.getLogger("graphwalk")
_MOST_POSSIBLE = 200_000
"""Maximum possible relationships; beyond it the graph with them is not built."""
_UNSEEN = "\0"
"""First character of the key of a hypothetical node."""
_NAMES = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")
_NOT_ONLY_GROWING = re.compile(
    r"\b(not|optional|with|order|limit|skip|call|is|count|collect|min|max|sum|avg|size|all|none|single|reduce)\b", re.I
)
"""Keywords of queries that may lose rows when a graph grows. A superfluous word only costs time."""
_READS_RELATIONSHIPS = re.compile(r"--|-\[")
_READS_THEIR_PROPERTIES = re.compile(r"-\[[^\]]*\{|-\[(\w+)\b(?=.*\b(\1\.|properties\(\1))", re.S)


def supported_rows(task: "QuestionTask", trajectory: Trajectory, rows: Sequence[Row]) -> frozenset[RowTuple] | None:
    """Return those of `rows` that the tool results prove, or None if that is unknown.

    It is unknown if the question has no evaluator or it fails on what was observed, a result of an unknown form may
    prove what others do not, the tools hide directions or properties that the question needs, too much was not
    observed, or the prompt has no schema that bounds it.
    """
    wanted = frozenset(row for row in row_set(rows, task.scored_fields) if None not in row)
    python: Any = python_part(task.template) if task.oracles == 2 else None
    if python is None:
        return None
    observed = observed_graph(trajectory.results, "\n".join(message.content or "" for message in trajectory.prompt))
    cypher = _NAMES.sub("name", task.cypher)
    if observed.hides_directions and _READS_RELATIONSHIPS.search(cypher):
        return None
    if observed.hides_properties and _READS_THEIR_PROPERTIES.search(cypher):
        return None
    part = python(**task.parameters)
    try:
        proven = wanted & row_set(part.rows(GraphIndex(observed.graph())), task.scored_fields)
        if proven and _NOT_ONLY_GROWING.search(cypher):
            named = {str(value) for value in (*task.parameters.values(), *(value for row in proven for value in row))}
            possible = possible_graph(observed, named)
            if possible is None:
                return None
            proven &= row_set(part.rows(GraphIndex(possible)), task.scored_fields)
    except Exception:  # code of another package may raise anything on a part of the graph
        _LOGGER.exception("the Python part of the question %s failed", task.template)
        return None
    return proven if observed.understood or proven == wanted else None


def possible_graph(observed: ObservedGraph, named: Collection[str]) -> PropertyGraph | None:
    """Return the observed graph with possible relationships; None if these are too many, or no schema bounds them.

    A possible relationship fits the schema and joins two nodes whose relationships were not all observed. `named` nodes
    of question and answer get one to each such node, and one more of each type than any node was observed to have. So
    does the first node of each label, for all the others.
    """
    if not observed.pairs:
        return None
    graph, complete = observed.graph(), observed.complete_nodes()
    labels = {label for source, _, target in observed.pairs for label in (source, target)} - observed.complete_labels
    nodes = [*graph.nodes(), *(Node(_UNSEEN + label, (label,), {}) for label in sorted(labels))]
    open_keys: defaultdict[str, list[str]] = defaultdict(list)
    for node in nodes:
        for label in node.labels if node.key not in complete else ():
            open_keys[label].append(node.key)
    chosen = {label: [keys[0], *(key for key in keys[1:] if key in named)] for label, keys in open_keys.items()}
    relationships = list(graph.relationships())
    most = Counter[str]()
    for (type_, _), number in Counter((r.type, r.source) for r in relationships).items():
        most[type_] = max(most[type_], number)
    for source, type_, target in sorted(observed.pairs):
        if not (open_keys[source] and open_keys[target]):
            continue
        ends = {*product(chosen[source], open_keys[target]), *product(open_keys[source], chosen[target])}
        parallel = product(chosen[source], chosen[target][:1] * most[type_])
        relationships += [Relationship(type_, *pair, {}) for pair in (*sorted(ends), *parallel)]
        if len(relationships) > _MOST_POSSIBLE:
            return None
    return PropertyGraph.from_rows(nodes, relationships)
