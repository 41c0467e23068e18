"""The kinds of questions: a YAML file each, and an optional Python part with the same name.

Built-in kinds are `templates/questions/NAME.yaml` and `kinds/NAME.py`. A user's kind is a YAML file anywhere; its
Python part is an entry point of the same name in the group `graphwalk.questions`.
"""

import inspect
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal, get_args

from pydantic import Field, PositiveInt, PrivateAttr, ValidationInfo, field_validator

from graphwalk.config.resources import Registry, data_path
from graphwalk.config.strict import Strict, YamlFile, is_path, validate
from graphwalk.config.templates import TEXT_FILTERS, check_text
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.stores.cypher import Identifiers, render_cypher
from graphwalk.suites.questions import kinds
from graphwalk.suites.questions.kinds import PythonPart

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


class QuestionKind(Strict):
    """A kind of question as its YAML file describes it (docs/method.md, Questions).

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
    _file: YamlFile = PrivateAttr()

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
            check_text(text, {*info.data.get("parameters", ()), "answer_properties"}, TEXT_FILTERS)
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
    def owners(self) -> Mapping[str, frozenset[str]]:
        """Return each parameter → the earlier ones on which its options, or those of later parameters, depend."""
        owners: dict[str, frozenset[str]] = {}
        needed: set[str] = set()
        for name in reversed(self.parameters):
            names = [self.parameters[name].of, self.parameters[name].differs_from]
            while names:
                if (owner := names.pop()) is not None:
                    needed.add(owner)
                    names.append(self.parameters[owner].of)
            needed.discard(name)
            owners[name] = frozenset(needed)
        return owners

    @property
    def file(self) -> YamlFile:
        """Return the file that the kind was read from."""
        return self._file

    @cached_property
    def python(self) -> type[PythonPart] | None:
        """Return the class of the Python part, or None. Raise ConfigError if it does not match the parameters."""
        return python_part(self.name, tuple(self.parameters))

    def mistake(self, message: str, *field: int | str) -> ConfigError:
        """Return a ConfigError about a field of the file."""
        return ConfigError(f"{self.file.where(*field)}: {message}", hint=f"graphwalk list questions {self.file.path}")


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
        raise ValueError(error.message) from error


@cache
def python_parts() -> Registry:
    """Return the Python parts of the folder `kinds` and of other packages."""
    names = sorted(module.name for module in iter_modules(kinds.__path__))
    built_in = {name: f"{kinds.__name__}.{name}:Part" for name in names}
    return Registry("Python part of a question", "graphwalk.questions", built_in)


@cache
def python_part(name: str, parameters: tuple[str, ...] | None = None) -> type[PythonPart] | None:
    """Return the class of the Python part of a question, or None.

    Raise ConfigError if it is no complete PythonPart, or has other parameters.
    """
    parts = python_parts()
    if name not in parts:
        return None
    part: Any = parts.load(name)
    complete = inspect.isclass(part) and issubclass(part, PythonPart) and not inspect.isabstract(part)
    if not complete or (parameters is not None and {field.name for field in fields(part)} != {*parameters}):
        named = f" and the fields {', '.join(parameters)}" if parameters else ""
        raise ConfigError(
            f"{parts.origin(name)} is not a class derived from {PythonPart.__module__}.PythonPart"
            f" with the method rows{named}"
        )
    return part  # type: ignore[no-any-return]


def has_plan(name: str) -> bool:
    """Return True if the scripted expert can play a question."""
    part = python_part(name)
    return part is not None and part.plan is not PythonPart.plan


def load_kind(path: Path) -> QuestionKind:
    """Return the question in a YAML file. Raise ConfigError with file, line and field of every mistake."""
    file = YamlFile.read(path)
    kind = validate(QuestionKind, file.data, str(path), file.tree)
    if kind.name != path.stem:
        raise ConfigError(f"{file.where('name')}: {kind.name!r} differs from the file name")
    kind._file = file
    return kind


@cache
def shipped_kinds() -> Mapping[str, QuestionKind]:
    """Return the built-in questions, ordered by class and position."""
    shipped = list(map(load_kind, (data_path("templates") / "questions").glob("*.yaml")))
    shipped.sort(key=lambda kind: (CATEGORIES.index(kind.category), kind.order or math.inf, kind.name))
    return {kind.name: kind for kind in shipped}


def choose_kinds(names: Sequence[str] | None = None) -> tuple[QuestionKind, ...]:
    """Return questions by name or path of a YAML file, in this order; None means those of the paper.

    Raise ConfigError for an unknown or repeated name, and for mistakes in a file.
    """
    shipped = shipped_kinds()
    if names is None:
        return tuple(kind for kind in shipped.values() if kind.order is not None)
    if unknown := [name for name in names if not is_path(name) and name not in shipped]:
        close = did_you_mean(unknown[0], shipped) if len(unknown) == 1 else ""
        hint = f"known questions: {', '.join(shipped)}; or a YAML file"
        raise ConfigError(f"unknown question {', '.join(unknown)}{close}", hint=hint)
    chosen = tuple(load_kind(Path(name)) if is_path(name) else shipped[name] for name in names)
    if twice := [name for name, number in Counter(kind.name for kind in chosen).items() if number > 1]:
        raise ConfigError(f"repeated question {', '.join(twice)}", hint="use per_question: 2 to ask it twice")
    return chosen
