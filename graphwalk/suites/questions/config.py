"""Which questions are asked on which graphs."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PositiveInt,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from graphwalk.config.graph_source import EXAMPLE, GraphSource
from graphwalk.config.strict import MOST, NameOrPath, Strict, SuiteConfig, absolute
from graphwalk.errors import ConfigError
from graphwalk.graphs.generate import GraphSpec
from graphwalk.suites.questions.catalogue import QuestionKind, choose_kinds
from graphwalk.suites.questions.template import Wording


class RowBounds(Strict):
    """Rows of the right answer: every right row counts, also where any one of them would do."""

    at_least: PositiveInt = 1
    """Fewest rows."""
    at_most: PositiveInt | None = None
    """None: as many as there are."""

    @model_validator(mode="after")
    def _leave_something(self) -> Self:
        if self.at_most is not None and self.at_most < self.at_least:
            raise ValueError(f"no answer has at least {self.at_least} rows and at most {self.at_most}")
        return self

    def hold(self, rows: int) -> bool:
        """True where so many rows are within the bounds."""
        return self.at_least <= rows and (self.at_most is None or rows <= self.at_most)

    def __str__(self) -> str:
        at_most = [f"at most {self.at_most}"] if self.at_most is not None else []
        return " and ".join([*([f"at least {self.at_least}"] if self.at_least > 1 or not at_most else []), *at_most])


ANY_ROWS = RowBounds()
"""Every answer that has a row."""


def _there(path: Any, info: ValidationInfo) -> Any:
    if not isinstance(path, str | Path):
        return path
    whole = absolute(path, info)
    if not whole.exists():
        if str(path) == EXAMPLE:
            return path
        raise ValueError(f"there is no file {whole}")
    return whole


class OwnGraph(GraphSource):
    """`{file: movies.graphml}` or `{neo4j: movies}`, of which `labels` and `relationship_types` keep a part.

    `twin`: the same questions are asked on its anonymised copy too.
    """

    file: Annotated[Path, BeforeValidator(_there)] | None = None
    twin: bool = False

    @model_validator(mode="after")
    def _keeps_something(self) -> Self:
        for name in ("labels", "relationship_types"):
            if getattr(self, name) == ():
                raise ValueError(f"{name}: an empty list keeps nothing; leave the field out to keep all")
        return self

    @property
    def facts(self) -> dict[str, Any]:
        """What a run says about where the graph is from."""
        place = f"file {self.file.name}" if self.file is not None else f"neo4j {self.neo4j or self.loaded}"
        return {"name": self.name, "source": place}


def _kind(entry: Any) -> str:
    own = (
        bool({"file", "neo4j", "loaded"} & entry.keys())
        if isinstance(entry, Mapping)
        else isinstance(entry, GraphSource)
    )
    return "(own)" if own else "(generated)"


AnyGraph = Annotated[Annotated[GraphSpec, Tag("(generated)")] | Annotated[OwnGraph, Tag("(own)")], Discriminator(_kind)]
"""They differ by their fields: your own graph has a place."""


class QuestionsConfig(SuiteConfig):
    """The suite `questions`, on generated property graphs and on your own.

    A generated entry of `graphs` is made `count` times; `{file: movies.graphml}` and `{neo4j: movies}` are graphs that
    there are.
    """

    name: Literal["questions"] = "questions"
    graphs: tuple[AnyGraph, ...] = Field(default=(GraphSpec(),), min_length=1)
    """Graphs to generate, each `count` times, and graphs of your own."""
    questions: tuple[NameOrPath, ...] | None = None
    """Questions that ship, by name, and the user's own, by the path of their YAML file; None: all that ship."""
    wording: Wording = Field(default="standard", exclude_if=lambda wording: wording == "standard")
    """The words of the questions that ship: their own, others that models may be trained on, or others that are held
    out."""
    per_question: int = Field(default=1, ge=1, le=MOST)
    """Tasks per graph and question."""
    answer_rows: tuple[RowBounds, ...] = Field(default=(ANY_ROWS,), min_length=1)
    """How many rows right answers have; of several bounds, `per_question` tasks within each. Unless bounds are given,
    those on your own graph have 100 at most: it may be a hundred times as large as the generated ones."""

    leave_out: bool | None = None
    """Questions that a generated graph cannot host are left out, and the report says so; false: they end the run. None:
    left out where graphs of several sizes are generated. Of your own graphs they are always left out."""
    text_tokens: bool = Field(default=False, exclude_if=lambda counted: not counted)
    """Work out how many tokens every generated graph has as text, which is plotted beside those of the walks."""

    @field_validator("answer_rows", mode="before", json_schema_input_type=RowBounds | tuple[RowBounds, ...])
    @classmethod
    def _one_or_several(cls, bounds: Any) -> Any:
        return (bounds,) if isinstance(bounds, Mapping) else bounds

    @field_validator("questions")
    @classmethod
    def _can_be_read(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Every mistake in a question is found before anything is generated."""
        try:
            for kind in choose_kinds(names):
                _ = kind.python
        except ConfigError as error:
            raise ValueError(f"{error}; {error.hint}" if error.hint else str(error)) from error
        return names

    @property
    def foreign(self) -> bool:
        return any(isinstance(entry, OwnGraph) for entry in self.graphs)

    @property
    def leaves_out(self) -> bool:
        """Whether questions may be left out of generated graphs."""
        sizes = {entry.nodes for entry in self.graphs if isinstance(entry, GraphSpec)}
        return len(sizes) > 1 if self.leave_out is None else self.leave_out

    @cached_property
    def kinds(self) -> tuple[QuestionKind, ...]:
        """The questions themselves."""
        return choose_kinds(self.questions)
