"""Which rows of an answer the tool results of an episode prove, and whether they prove the whole answer.

Two graphs are compared (docs/method.md, Proven). The least one is what the results show: each graph that gives these
results contains it. The most one is a `PossibleGraph`, which has everything that may be there besides. A row is
supported if it is right in each graph between the two. An answer is proven if its rows are, and no other row is right
in any of them.

An example. The question is which A nodes have a relationship to a B node, and the model has called

    get_all_nearest_neighbors(label: A, property_name: key, property_value: a1)    → a1 –R→ b1

The row {"node_key": "a1"} is supported. It is not the proven answer, because another A node may have such a
relationship: the most graph has A nodes that no result shows. They go when all keys of A were listed; if these are a1
and a2, a2 may still have a relationship to b1 or to another B node, until its relationships are looked up, too.
"""

import logging
import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

from graphwalk.analysis.evidence import shows_data
from graphwalk.analysis.observed import observed_graph, shows_whole_schema
from graphwalk.analysis.possible_graph import OpenGroup, PossibleGraph
from graphwalk.errors import counted
from graphwalk.graphs.values import Row
from graphwalk.models.chat import Message
from graphwalk.models.trajectory import ToolResult
from graphwalk.suites.graph_prompts import QUERY_TOOLS
from graphwalk.suites.questions.catalogue import python_part
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.rows import row_set

RowTuple = tuple[Hashable, ...]
"""The scored fields of a row, as `graphwalk.suites.rows.row_set` has them."""

_LOGGER = logging.getLogger("graphwalk")
_NAMES = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")
_NOT_ONLY_GROWING = re.compile(
    r"\b(not|optional|with|order|limit|skip|call|is|count|collect|min|max|sum|avg|size|all|none|single|reduce)\b", re.I
)
"""Keywords of queries that may lose rows when a graph grows. A superfluous word only costs time."""
_READS_RELATIONSHIPS = re.compile(r"--|-\[")
_READS_THEIR_PROPERTIES = re.compile(r"-\[[^\]]*\{|-\[(\w+)\b(?=.*\b(\1\.|properties\(\1))", re.S)


class Proof:
    """The rows of one question that the tool results of an episode prove.

    Everything is None if it is unknown: the question has no evaluator or it fails on what was observed, a result of
    an unknown form may prove what others do not, the tools hide directions or properties that the question needs, too
    much was not observed, or the prompt has no schema that bounds it.
    """

    def __init__(self, task: QuestionTask, prompt: Iterable[Message], results: Sequence[ToolResult]) -> None:
        self._task = task
        self._prompt = "\n".join(message.content or "" for message in prompt)
        self._observed = observed_graph(results, self._prompt)
        # A query of the model may show rows that it has made up.
        self._has_queried = any(shows_data(result) and result.call.name in QUERY_TOOLS for result in results)
        self._cypher = _NAMES.sub("name", task.cypher)

    @cached_property
    def _part(self) -> PythonPart | None:
        python: Any = python_part(self._task.template) if self._task.oracles == 2 else None
        return None if python is None else python(**self._task.parameters)

    @cached_property
    def _grows(self) -> bool:
        """Return True if more nodes, relationships and values never take a row of the question away."""
        assert self._part is not None
        if self._part.grows is not None:
            return self._part.grows
        return _NOT_ONLY_GROWING.search(self._cypher) is None

    @cached_property
    def _is_readable(self) -> bool:
        """Return False if the results do not show what the question needs."""
        observed = self._observed
        if self._part is None or self._has_queried:
            return False
        if observed.hides_directions and _READS_RELATIONSHIPS.search(self._cypher):
            return False
        return not (observed.hides_properties and _READS_THEIR_PROPERTIES.search(self._cypher))

    @cached_property
    def _least(self) -> GraphIndex:
        return GraphIndex(self._observed.graph())

    @cached_property
    def _possible(self) -> PossibleGraph | None:
        is_bounded = shows_whole_schema(self._prompt)
        return self._possible_graph() if is_bounded else None

    def _possible_graph(self, looked_up: Iterable[OpenGroup] = ()) -> PossibleGraph:
        return PossibleGraph(self._observed, self._prompt, self._task.parameters, frozenset(looked_up))

    def supported(self, rows: Sequence[Row]) -> frozenset[RowTuple] | None:
        """Return those of `rows` that are right in every graph that gives these results; None if that is unknown."""
        wanted = frozenset(row for row in row_set(rows, self._task.scored_fields) if None not in row)
        if not self._is_readable:
            return None
        assert self._part is not None
        try:
            found = wanted & self._rows(self._part.rows(self._least))
            if found and not self._grows:
                most = None if self._possible is None else self._possible.index()
                if most is None:
                    return None
                if not self._states_bounds:
                    found &= self._rows(self._part.rows(most))
                else:
                    found &= self._rows(self._part.certain(self._least, most))
        except Exception:  # code of another package may raise anything on a part of the graph
            _LOGGER.exception("the Python part of the question %s failed", self._task.template)
            return None
        return found if self._observed.understood or found == wanted else None

    def unproven_because(self, answer: Sequence[Row]) -> str | None:
        """Return "" if a right answer is right in every graph that gives these results, else why it is not.

        None if that is unknown.
        """
        if not self._is_readable or not (self._grows or self._states_bounds) or self._possible is None:
            return None
        if self._observed.infers_directions and not self._observed.has_one_label_each:
            return None  # a node may have a label that was not seen, and with it another direction is possible
        if self._task.rows_left_out:
            return f"{counted(len(self._task.rows_left_out), 'row')} that would be as right was not asked for"
        try:
            return self._why(self._possible, row_set(answer, self._task.scored_fields))
        except Exception:  # as above
            _LOGGER.exception("the Python part of the question %s failed", self._task.template)
            return None

    def _why(self, possible: PossibleGraph, answer: frozenset[RowTuple]) -> str | None:
        follows = self._follows(possible, answer)
        if follows is None:
            return None
        if follows:
            return ""

        # What if all was looked up? Then leave out, one after the other, what makes no difference.
        needed = list(possible.open_groups())
        if not self._would_follow(needed, answer):
            return f"the results do not show all rows of the answer ({counted(len(answer), 'row')})"
        for group in reversed(list(needed)):  # nodes that were not listed explain most, and stay if they can
            others = [one for one in needed if one != group]
            if self._would_follow(others, answer):
                needed = others
        return "; ".join(group.text() for group in needed)

    def _would_follow(self, looked_up: Collection[OpenGroup], answer: frozenset[RowTuple]) -> bool:
        return bool(self._follows(self._possible_graph(looked_up), answer))

    def _follows(self, possible: PossibleGraph, answer: frozenset[RowTuple]) -> bool | None:
        """Return True if the rows are certain, and no other row is possible; None if the graph is too large."""
        assert self._part is not None
        most = possible.index()
        if most is None:
            return None
        if not answer <= self._rows(self._part.certain(self._least, most)):
            return False
        if self._task.mode != "set":
            return True  # of several right answers, each is right by itself
        return self._rows(self._part.possible(self._least, most)) <= answer

    @property
    def _states_bounds(self) -> bool:
        """Return True if the kind states which rows are certain although the question may lose rows."""
        assert self._part is not None
        return type(self._part).certain is not PythonPart.certain

    def _rows(self, rows: Iterable[Row]) -> frozenset[RowTuple]:
        return row_set(rows, self._task.scored_fields)
