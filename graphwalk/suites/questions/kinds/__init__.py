"""Python parts of the question kinds: a class `Part` in a module with the name of `templates/questions/NAME.yaml`."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, dataclass_transform

from graphwalk.graphs.graph import KEY
from graphwalk.graphs.values import Row, Value
from graphwalk.suites.questions.graph_index import GraphIndex, differs, distances, equal
from graphwalk.suites.questions.walker import Centre, Layers, Steps, Walker, end_keys, nodes, read, rows_of_keys
from graphwalk.tools.relationship_rows import RelationshipRow

__all__ = ["KEY", "GraphIndex", "PythonPart", "Row", "Rows", "Value", "differs", "distances", "equal"]
__all__ += [
    "Centre",
    "Layers",
    "Plan",
    "RelationshipRow",
    "Steps",
    "Walker",
    "end_keys",
    "nodes",
    "read",
    "rows_of_keys",
]

Rows = Iterator[Row]
Plan = Steps[list[Row]]


@dataclass_transform(frozen_default=True)
class PythonPart(ABC):
    """Evaluator and plan of a question. Subclasses are dataclasses whose fields are the parameters in the YAML file."""

    steps: ClassVar[int] = 1
    """Fixed number of relationships in a path."""
    grows: ClassVar[bool | None] = None
    """True: more nodes, relationships and values never take a row away. None: the words of the Cypher decide, and
    answers to a question that may lose rows are proven only if `certain` and `possible` are overridden."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        dataclass(frozen=True)(cls)

    @abstractmethod
    def rows(self, index: GraphIndex) -> Rows:
        """Yield every correct row from the graph in memory, including ties; rows may repeat.

        Cypher's rules hold: no relationship repeats within a match, nodes may repeat, and a missing property is null,
        which satisfies neither `=` nor `<>`.
        """

    def certain(self, least: GraphIndex, most: GraphIndex) -> Rows:
        """Yield the rows that are right in every graph between two: what was seen, and all that may be there.

        A property that was not seen has the value `UNKNOWN` in `most`, for which `equal` and `differs` hold.
        """
        return self.rows(least)

    def possible(self, least: GraphIndex, most: GraphIndex) -> Rows:
        """Yield at least the rows that are right in some graph between the two."""
        return self.rows(most)

    def plan(self, walker: Walker) -> Plan:
        """Find the answer with the tools. Optional: without it, the scripted expert does not play the question.

        If tools hide directions or relationship properties, use the remaining data.
        """
        raise NotImplementedError
