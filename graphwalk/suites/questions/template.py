"""Question templates: wording, parameters, Cypher, answer format, and conditions for drawing parameters."""

import json
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache, partial
from itertools import chain
from typing import Any, Literal, get_args

from jinja2 import Environment, Template
from pydantic import Field, PositiveInt, ValidationInfo, field_validator

from graphwalk.config.strict import Strict
from graphwalk.config.templates import check_text, compiled, make_environment, rendered, with_article
from graphwalk.errors import ConfigError
from graphwalk.stores.cypher import Identifiers, render_cypher

WORDING_FILTERS = ("json", "with_article")
CYPHER_FILTERS = ("label", "type", "property", "of", "hops", "key_of", "properties_of")
Category = Literal["retrieval", "traversal", "logic"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
Mode = Literal["set", "any-one", "ties-allowed"]
"""Correct answers: exactly the target's rows; any one of them; one of the tied rows (or all)."""
Size = Literal["nodes", "relationships"]
Wording = Literal["standard", "paper", "training", "held_out"]
Target = Literal["graphwalk", "paper"]
"""Query of the target: `cypher` of the template, or the one of the paper with all its columns scored."""
Role = Literal["label", "relationship_type", "key", "property", "value", "hops"]
_OWNERS: Mapping[Role, tuple[Role, ...]] = {
    "key": ("label",),
    "property": ("label", "relationship_type"),
    "value": ("property",),
}
"""Role → roles that its `of` may name."""
IDENTIFIER_ROLES: tuple[Role, ...] = ("label", "relationship_type", "property", "hops")
"""Roles that are inserted into the query text; keys and values are query parameters."""


class Parameter(Strict):
    """A parameter; keys, properties and values are drawn `of` an earlier parameter."""

    role: Role
    of: str | None = None
    differs_from: str | None = None
    at_least: PositiveInt = 1
    """Smallest number of hops."""


class Drawing(Strict):
    """Conditions on parameters, so that the answer is not trivial."""

    below_candidates: bool = False
    """Require fewer rows than `candidates` allow."""
    required_fields: tuple[str, ...] = ()
    """Fields that must not be null in any row."""
    wider: tuple[str, ...] = ()
    """Queries with one condition left out that return one number, `size`. It must exceed the size of the answer: its
    computed value if that is the only field, else its number of rows."""


class QuestionTemplate(Strict):
    """A kind of question (docs/method.md, Questions).

    `cypher` is a Jinja template for `graphwalk.stores.cypher.render_cypher`. It may use `answer_properties`: the
    properties of the parameter `answer_properties_of`, which are then answer fields too. In questions of the paper
    (Table 6 of arXiv 2604.01610) it may use `paper`: True where the text of its query is wanted.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    category: Category = Field(alias="class")
    order: PositiveInt | None = None
    """Position within the class of a question of the paper; others come after these in lists and reports, by name."""
    version: PositiveInt = 1
    parameters: dict[str, Parameter]
    wording: str
    cypher: str
    answer_fields: tuple[str, ...] = Field(min_length=1)
    answer_properties_of: str | None = None
    scored_fields: tuple[str, ...] = ()
    """Fields that decide if a row is correct; empty means all."""
    computed: tuple[str, ...] = ()
    """Answer fields that are in no tool result, for example counts."""
    mode: Mode = "set"
    candidates: tuple[str, ...] = ()
    """Parameters that span all possible rows (nodes of a label, relationships of a type, values of a property); empty
    if rows have computed values."""
    drawing: Drawing = Drawing()
    chance: tuple[Size, ...] = ()
    """Without `candidates`: graph sizes whose product is the number of possible rows of a random guess."""
    other_wordings: Mapping[Literal["paper", "training", "held_out"], tuple[str, ...]] = Field(default={})
    """Texts that may replace all but the last paragraph of `wording`: with the information of the paper alone, for
    training, or held out from it."""

    @field_validator("parameters")
    @classmethod
    def _owners_come_first(cls, parameters: dict[str, Parameter]) -> dict[str, Parameter]:
        earlier: dict[str | None, Role] = {}
        for name, parameter in parameters.items():
            owners = _OWNERS.get(parameter.role, ())
            if owners and earlier.get(parameter.of) not in owners:
                raise ValueError(f"{name}: `of` must name an earlier parameter, a {' or '.join(owners)}")
            if parameter.differs_from is not None and earlier.get(parameter.differs_from) != parameter.role:
                raise ValueError(f"{name}: `differs_from` must name an earlier parameter of the same role")
            earlier[name] = parameter.role
        return parameters

    @field_validator("wording", "other_wordings")
    @classmethod
    def _words_use_known_names(cls, wording: Any, info: ValidationInfo) -> Any:
        for text in [wording] if isinstance(wording, str) else chain.from_iterable(wording.values()):
            check_text(text, {*info.data.get("parameters", ()), "answer_properties"}, WORDING_FILTERS)
        return wording

    @field_validator("cypher")
    @classmethod
    def _query_uses_known_names(cls, text: str, info: ValidationInfo) -> str:
        _check_cypher(text, info.data.get("parameters", {}))
        return text

    @field_validator("answer_properties_of", "scored_fields", "computed", "candidates")
    @classmethod
    def _names_what_exists(cls, names: Any, info: ValidationInfo) -> Any:
        of_answer = info.field_name in ("scored_fields", "computed")
        _check_names([names] if isinstance(names, str) else names or (), info, of_answer=of_answer)
        return names

    @field_validator("drawing")
    @classmethod
    def _drawing_is_possible(cls, drawing: Drawing, info: ValidationInfo) -> Drawing:
        _check_names(drawing.required_fields, info, of_answer=True)
        if drawing.below_candidates and not info.data.get("candidates"):
            raise ValueError("below_candidates: the question names no `candidates`")
        for number, text in enumerate(drawing.wider, 1):
            try:
                _check_cypher(text, info.data.get("parameters", {}))
            except ValueError as error:
                raise ValueError(f"wider, query {number}: {error}") from error
        return drawing

    @cached_property
    def owners(self) -> frozenset[str | None]:
        """Return the parameters on which others depend."""
        return frozenset(
            name for parameter in self.parameters.values() for name in (parameter.of, parameter.differs_from)
        )


def _check_names(names: Any, info: ValidationInfo, *, of_answer: bool) -> None:
    allowed = info.data.get("answer_fields" if of_answer else "parameters", ())
    if unknown := set(names) - set(allowed):
        raise ValueError(f"there is no {', '.join(sorted(unknown))}; known: {', '.join(allowed)}")


def _check_cypher(text: str, parameters: Mapping[str, Parameter]) -> None:
    """Raise ValueError if the text cannot be rendered with sample names."""
    named = {name: parameter for name, parameter in parameters.items() if parameter.role in IDENTIFIER_ROLES}
    check_text(text, {*named, "answer_properties", "any_node", "paper"}, CYPHER_FILTERS)
    samples: dict[str, str | int] = {name: 2 if p.role == "hops" else "Name" for name, p in named.items()}
    identifiers: Identifiers = {**samples, "answer_properties": ("name",), "paper": False}
    try:
        render_cypher(text, identifiers)
    except ConfigError as error:
        raise ValueError(str(error)) from error


def render_wording(text: str, values: Mapping[str, Any]) -> str:
    """Return the question that a model reads. Raise TextError for an error in the text."""
    return rendered(_wording(text), values).strip()


@lru_cache(maxsize=256)
def _wording(text: str) -> Template:
    return compiled(_environment(), text)


@cache
def _environment() -> Environment:
    return make_environment({"json": partial(json.dumps, ensure_ascii=False), "with_article": with_article})
