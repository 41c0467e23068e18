"""The kinds of questions: a YAML file each, and an optional Python part with the same name.

Built-in kinds are `templates/questions/NAME.yaml` and `kinds/NAME.py`. A user's kind is a YAML file anywhere; its
Python part is an entry point of the same name in the group `graphwalk.questions`.
"""

import inspect
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache, cached_property
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal, get_args

from pydantic import Field, PositiveInt, PrivateAttr

from graphwalk.config.resources import Registry, YamlFile, data_path
from graphwalk.config.strict import Strict, is_path, validate
from graphwalk.config.templates import TEXT_FILTERS, TextError, check_text
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.stores.cypher import render_cypher
from graphwalk.suites.questions import kinds
from graphwalk.suites.questions.kinds import PythonPart

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
    """Name of the file, without its ending."""
    category: Category = Field(alias="class")
    """Row of the report in which the question counts."""
    order: PositiveInt | None = None
    """Position within the class of a question of the paper; others come after these in lists and reports, by name."""
    version: PositiveInt = 1
    """To be raised whenever the file changes."""
    parameters: dict[str, Parameter]
    """Name → `role` (`label`, `relationship_type`, `key`, `property`, `value`, `hops`). `of` names what a key, property
    or value belongs to, `differs_from` a parameter that must be another one."""
    wording: str
    """The question, in Jinja. It ends with the exact form of the answer."""
    cypher: str
    """The query, in Jinja. Its columns are the answer fields; keys and values are its parameters, written `$name`."""
    answer_fields: tuple[str, ...] = Field(min_length=1)
    """Fields of a row of the answer."""
    answer_properties_of: str | None = None
    """Parameter whose properties are answer fields too."""
    scored_fields: tuple[str, ...] = ()
    """Fields that decide if a row is correct; empty means all."""
    computed: tuple[str, ...] = ()
    """Answer fields that are in no tool result, for example counts."""
    mode: Mode = "set"
    """`set`: all rows; `any-one`: any of them is right; `ties-allowed`: any of the tied ones."""
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

    @cached_property
    def owners(self) -> Mapping[str, frozenset[str]]:
        """Return each parameter → the earlier ones on which its options, or those of later parameters, depend."""
        owners: dict[str, frozenset[str]] = {}
        needed: set[str] = set()
        for name in reversed(self.parameters):
            for owner in (self.parameters[name].of, self.parameters[name].differs_from):
                while owner is not None:
                    needed.add(owner)
                    owner = self.parameters[owner].of
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
        part = python_part(self.name)
        if part is None:
            return None
        names = {field.name for field in fields(part)}  # type: ignore[arg-type]
        if names != set(self.parameters):
            raise self.mistake(f"{part.__module__}.{part.__name__} has other fields", "parameters")
        return part

    def mistake(self, message: str, *field: int | str) -> ConfigError:
        """Return a ConfigError about a field of the file."""
        hint = "graphwalk list questions node_count   shows a complete file"
        return ConfigError(f"{self.file.where(*field)}: {message}", hint=hint)

    def check(self) -> None:
        """Raise ConfigError for a name that does not exist, or a text that cannot be rendered."""
        roles: dict[str | None, Role] = {}
        for name, parameter in self.parameters.items():
            owners = _OWNERS.get(parameter.role, ())
            if owners and roles.get(parameter.of) not in owners:
                raise self.mistake(f"`of` must name an earlier parameter, a {' or '.join(owners)}", "parameters", name)
            if parameter.differs_from is not None and roles.get(parameter.differs_from) != parameter.role:
                raise self.mistake("`differs_from` must name an earlier parameter of the same role", "parameters", name)
            roles[name] = parameter.role
        if self.answer_properties_of is not None:
            self._check_known((self.answer_properties_of,), self.parameters, "answer_properties_of")
        self._check_known(self.candidates, self.parameters, "candidates")
        self._check_known(self.scored_fields, self.answer_fields, "scored_fields")
        self._check_known(self.computed, self.answer_fields, "computed")
        self._check_known(self.drawing.required_fields, self.answer_fields, "drawing", "required_fields")

        self._check_wording(self.wording, "wording")
        for name, texts in self.other_wordings.items():
            for text in texts:
                self._check_wording(text, "other_wordings", name)
        self._check_query(self.cypher, "cypher")
        for number, query in enumerate(self.drawing.wider):
            self._check_query(query, "drawing", "wider", number)

    def _check_known(self, names: Iterable[str], existing: Collection[str], *field: str) -> None:
        unknown = set(names).difference(existing)
        if unknown:
            raise self.mistake(f"there is no {', '.join(sorted(unknown))}; known: {', '.join(existing)}", *field)

    def _check_wording(self, text: str, *field: str) -> None:
        try:
            check_text(text, {*self.parameters, "answer_properties"}, TEXT_FILTERS)
        except TextError as error:
            raise self.mistake(error.problem, *field) from error

    def _check_query(self, text: str, *field: str | int) -> None:
        """Render a query with sample names, in both of its forms. Raise ConfigError if that fails."""
        values: dict[str, Any] = {"answer_properties": ("name",)}
        for name, parameter in self.parameters.items():
            if parameter.role in IDENTIFIER_ROLES:
                values[name] = 2 if parameter.role == "hops" else "Name"
        for paper in (False, True):
            try:
                render_cypher(text, {**values, "paper": paper})
            except ConfigError as error:
                raise self.mistake(error.message, *field) from error


@cache
def python_parts() -> Registry:
    """Return the Python parts of the folder `kinds` and of other packages."""
    names = sorted(module.name for module in iter_modules(kinds.__path__))
    built_in = {name: f"{kinds.__name__}.{name}:Part" for name in names}
    return Registry("Python part of a question", "graphwalk.questions", built_in)


@cache
def python_part(name: str) -> type[PythonPart] | None:
    """Return the class of the Python part of a question, or None. Raise ConfigError if it is no complete PythonPart."""
    parts = python_parts()
    if name not in parts:
        return None
    part: Any = parts.load(name)
    if not inspect.isclass(part) or not issubclass(part, PythonPart) or inspect.isabstract(part):
        base = f"{PythonPart.__module__}.PythonPart"
        raise ConfigError(f"{parts.origin(name)} is not a class derived from {base} with the method rows")
    return part


def has_plan(name: str) -> bool:
    """Return True if the scripted expert can play a question."""
    part = python_part(name)
    return part is not None and part.plan is not PythonPart.plan


def load_kind(path: Path) -> QuestionKind:
    """Return the question in a YAML file. Raise ConfigError with file, line and field of a mistake."""
    kind = _kind_in(path)
    if kind.name != path.stem:
        raise kind.mistake(f"{kind.name!r} differs from the file name", "name")
    kind.check()
    return kind


def _kind_in(path: Path) -> QuestionKind:
    """Return the question in a file, whose names and templates may have mistakes."""
    file = YamlFile.read(path)
    kind = validate(QuestionKind, file.data, str(path), file.tree)
    kind._file = file
    return kind


def shipped_files() -> Mapping[str, Path]:
    """Return the files of the built-in questions by name."""
    folder = data_path("templates") / "questions"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


@cache
def shipped_kinds() -> Mapping[str, QuestionKind]:
    """Return the built-in questions, ordered by class and position.

    The tests check their files (tests/suites/questions/test_catalogue.py), which takes a tenth of a second.
    """
    shipped = kinds_in_order(_kind_in(path) for path in shipped_files().values())
    return {kind.name: kind for kind in shipped}


def kinds_in_order(kinds: Iterable[QuestionKind]) -> list[QuestionKind]:
    """Return kinds of questions by category, position and name."""
    return sorted(kinds, key=lambda kind: (CATEGORIES.index(kind.category), kind.order or math.inf, kind.name))


def choose_kinds(names: Sequence[str] | None = None) -> tuple[QuestionKind, ...]:
    """Return questions by name or path of a YAML file, in this order; None means those of the paper.

    Raise ConfigError for an unknown or repeated name, and for mistakes in a file.
    """
    shipped = shipped_kinds()
    if names is None:
        return tuple(kind for kind in shipped.values() if kind.order is not None)
    unknown = [name for name in names if not is_path(name) and name not in shipped]
    if unknown:
        problem = f"unknown question {', '.join(unknown)}"
        if len(unknown) == 1:
            problem += did_you_mean(unknown[0], shipped)
        raise ConfigError(problem, hint=f"known questions: {', '.join(shipped)}; or a YAML file")

    chosen = [load_kind(Path(name)) if is_path(name) else shipped[name] for name in names]
    numbers = Counter(kind.name for kind in chosen)
    repeated = [name for name, number in numbers.items() if number > 1]
    if repeated:
        raise ConfigError(f"repeated question {', '.join(repeated)}", hint="use per_question: 2 to ask it twice")
    return tuple(chosen)
