"""Python parts of the question kinds: a class `Part` in a module with the name of `templates/questions/NAME.yaml`."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, dataclass_transform

from graphwalk.evaluation.rows import as_shown, distinct
from graphwalk.suites.questions.agents.walker import Steps, Walker
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.types.values import Row


@dataclass_transform(frozen_default=True)
class PythonPart(ABC):
    """Evaluator and plan of a question. Subclasses are dataclasses whose fields are the parameters in the YAML file."""

    steps: ClassVar[int] = 1
    """Fixed number of relationships in a path."""
    both_ways: ClassVar[bool] = False
    """Relationships are followed from target to source, too."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        dataclass(frozen=True)(cls)

    @abstractmethod
    def rows(self, index: GraphIndex) -> Iterator[Row]:
        """Yield every correct row from the graph in memory, including ties; rows may repeat.

        Cypher's rules hold: no relationship repeats within a match, nodes may repeat, and a missing property is null,
        which satisfies neither `=` nor `<>`.
        """

    @abstractmethod
    def plan(self, walker: Walker) -> Steps[list[Row]]:
        """Find the answer with the tools, for the scripted expert.

        If tools hide directions or relationship properties, use the remaining data.
        """

    def right_rows(self, index: GraphIndex, most: int | None = None) -> list[Row]:
        """Return all correct rows once, in ascending order, including ties; at most `most` + 1 of them."""
        return distinct(map(as_shown, self.rows(index)), most)
