"""Configuration of the suite `questions`: graphs, questions and row bounds."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, PositiveInt, Tag, model_validator

from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import MOST, NameOrPath, SuiteConfig
from graphwalk.graphs.generate import GraphSpec
from graphwalk.suites.graph_prompts import query_texts
from graphwalk.suites.loaded_graph import OwnGraph
from graphwalk.suites.questions.catalogue import QuestionKind, Target, Wording, choose_kinds, shipped_kinds

Drawing = Literal["nontrivial", "answerable"]
"""How the parameters of questions are drawn."""


def _kind(entry: Any) -> str:
    names = entry.keys() if isinstance(entry, Mapping) else ()
    own = isinstance(entry, GraphSource) or not {"file", "neo4j", "loaded"}.isdisjoint(names)
    return "(own)" if own else "(generated)"


class GeneratedGraph(GraphSpec):
    """A graph to generate; `name` groups the graphs of an entry in the report."""

    name: str | None = Field(default=None, min_length=1)
    """Name of these graphs in the report."""

    def resolved(self, index: int = 0) -> dict[str, Any]:
        """Return the data that reproduces graph `index`, without the name, which does not affect it."""
        return {field: value for field, value in super().resolved(index).items() if field != "name"}


class QuestionedGraph(OwnGraph):
    """Your own graph, about which questions are asked."""

    twin: bool = False
    """Ask the questions on an anonymised copy as well."""


AnyGraph = Annotated[
    Annotated[GeneratedGraph, Tag("(generated)")] | Annotated[QuestionedGraph, Tag("(own)")], Discriminator(_kind)
]
"""Generated or own graph; only an own graph has `file`, `neo4j` or `loaded`."""


class QuestionsConfig(SuiteConfig):
    """The suite `questions`, on generated property graphs and on your own.

    Entries to generate are generated `count` times; `{file: movies.graphml}` and `{neo4j: movies}` are your own.
    """

    name: Literal["questions"] = "questions"
    graphs: tuple[AnyGraph, ...] = Field(default=(GeneratedGraph(),), min_length=1)
    """Graphs to generate, each `count` times, and your own graphs."""
    questions: tuple[NameOrPath, ...] | None = None
    """Built-in questions by name, your own by the path of their YAML file; None: those of the paper, about your own
    graphs all."""
    wording: Wording = "standard"
    """Wording of the built-in questions: standard, paper (with the information of the paper and no more), alternatives
    for training, or alternatives held out from it."""
    drawing: Drawing = "nontrivial"
    """nontrivial: uniform over all parameter sets with an answer that is not trivial. answerable: as in the paper,
    uniform over entities, then properties, then values, with at least one answer."""
    target: Target = "graphwalk"
    """graphwalk: all correct rows, of which some kinds need a part of the columns. paper: the rows of the paper's query
    with all their columns, on generated graphs."""
    per_question: int = Field(default=1, ge=1, le=MOST)
    """Tasks per graph and question."""
    most_rows: PositiveInt | None = None
    """Maximum rows of a right answer, including those of which one is enough. None: no limit on generated graphs, 100
    on your own."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for kind in self.kinds:
            _ = kind.python  # mistakes are reported before anything is generated
        if self.target == "paper" and self.foreign:
            raise ValueError("target: paper needs generated graphs; for your own set suite.target to graphwalk")
        return self

    @property
    def foreign(self) -> bool:
        return any(isinstance(entry, OwnGraph) for entry in self.graphs)

    @cached_property
    def kinds(self) -> tuple[QuestionKind, ...]:
        return choose_kinds(self.questions)

    @cached_property
    def own_kinds(self) -> tuple[QuestionKind, ...]:
        """Return the questions about your own graphs, by default all that ship: some graphs host few of the paper's."""
        if self.questions is None:
            return tuple(shipped_kinds().values())
        return self.kinds

    def texts(self) -> Mapping[str, str]:
        """Return the YAML of every question, and of the tool of write_cypher."""
        kinds = self.own_kinds if self.foreign else self.kinds
        texts = {f"questions/{kind.name}.yaml": kind.file.text for kind in kinds}
        texts.update(query_texts())
        return texts
