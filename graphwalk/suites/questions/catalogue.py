"""Registry of question kinds: a YAML file and an optional Python part with the same name.

Built-in kinds are `templates/questions/NAME.yaml` and `kinds/NAME.py`. A user's kind is a YAML file anywhere; its
Python part is an entry point of the same name in the group `graphwalk.questions`.
"""

import inspect
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, cast

from graphwalk.config.strict import is_path
from graphwalk.config.yaml_files import YamlFile
from graphwalk.errors import ConfigError
from graphwalk.plugins import Registry
from graphwalk.resources import data_path
from graphwalk.stores.cypher import Identifiers
from graphwalk.suites.questions import kinds
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.rows import as_shown, distinct
from graphwalk.suites.questions.template import CATEGORIES, IDENTIFIER_ROLES, QuestionTemplate, read_template
from graphwalk.suites.questions.walker import Steps
from graphwalk.types.values import Row, Scalar, Value, shown

_LEADING = {"rows": 1, "plan": 2, "brute_force": 1, "by_reference": 2, "relaxed": 1}
"""Function → number of leading arguments that are not parameters of the question."""


@dataclass(frozen=True)
class PythonPart:
    """The Python part of a question; see `graphwalk.suites.questions.kinds`."""

    rows: Callable[..., Iterator[Row]]
    plan: Callable[..., Steps[list[Row]]]
    brute_force: Callable[..., Iterator[Row]] | None = None
    by_reference: Callable[..., Mapping[str, str]] | None = None
    relaxed: Callable[..., Mapping[str, Iterator[Row]]] | None = None
    steps: int = 1
    """Fixed number of relationships in a path."""

    def right_rows(self, index: GraphIndex, parameters: Mapping[str, Value], most: int | None = None) -> list[Row]:
        """Return all correct rows once, in ascending order, including ties; at most `most` + 1 of them."""
        return distinct((as_shown(row) for row in self.rows(index, **parameters)), most)


@dataclass(frozen=True)
class QuestionKind:
    """A kind of question: its template, file and Python part."""

    template: QuestionTemplate
    file: YamlFile
    parts: Registry

    @property
    def name(self) -> str:
        return self.template.name

    @cached_property
    def python(self) -> PythonPart | None:
        """Return the Python part, or None. Raise ConfigError if it does not match the template."""
        return python_part(self.name, self.parts, self.template.parameters)

    def mistake(self, message: str, *field: int | str) -> ConfigError:
        """Return a ConfigError about a field of the file."""
        return ConfigError(f"{self.file.where(*field)}: {message}", hint=f"graphwalk questions {self.file.path}")


@cache
def python_parts() -> Registry:
    """Return the Python parts of the folder `kinds` and of other packages."""
    names = sorted(module.name for module in iter_modules(kinds.__path__))
    built_in = {name: f"{kinds.__name__}.{name}" for name in names}
    return Registry("Python part of a question", "graphwalk.questions", built_in)


def python_part(
    name: str, parts: Registry | None = None, parameters: Collection[str] | None = None
) -> PythonPart | None:
    """Return the Python part of a question, or None.

    Raise ConfigError if a function is missing or takes other parameters.
    """
    parts = parts or python_parts()
    if name not in parts:
        return None
    module, origin = parts.load(name), parts.origin(name)
    if missing := [function for function in ("rows", "plan") if not callable(getattr(module, function, None))]:
        raise ConfigError(f"{origin} lacks the function `{'`, `'.join(missing)}`")
    functions: dict[str, Any] = {name: getattr(module, name, None) for name in _LEADING}
    for function_name, function in functions.items():
        if parameters is not None and function is not None:
            _check_parameters(function, _LEADING[function_name], parameters, f"{origin}.{function_name}")
    return PythonPart(**functions, steps=getattr(module, "STEPS", 1))


def load_kind(path: Path, parts: Registry | None = None) -> QuestionKind:
    """Return the question in a YAML file. Raise ConfigError with file, line and field of every mistake."""
    file = YamlFile.read(path)
    return QuestionKind(read_template(file), file, parts or python_parts())


def joined(folder: Path, parts: Registry) -> Mapping[str, QuestionKind]:
    """Return name → kind for the YAML files of a folder, ordered by class and position.

    Raise ConfigError if a file lacks its Python part, or a built-in Python part its file.
    """
    found = [load_kind(path, parts) for path in sorted(folder.glob("*.yaml"))]
    by_name = {kind.name: kind for kind in sorted(found, key=_position)}
    for name in by_name.keys() - parts.built_in.keys():
        raise ConfigError(f"{by_name[name].file.path} has no Python part", hint=f"add {kinds.__name__}.{name}")
    for name in parts.built_in.keys() - by_name.keys():
        raise ConfigError(f"{parts.origin(name)} has no YAML file", hint=f"add {folder / f'{name}.yaml'}")
    return by_name


@cache
def shipped_kinds() -> Mapping[str, QuestionKind]:
    """Return the built-in questions, ordered by class and position."""
    return joined(data_path("templates") / "questions", python_parts())


def choose_kinds(names: Sequence[str] | None = None) -> tuple[QuestionKind, ...]:
    """Return questions by name or path of a YAML file, in this order; None means all built-in questions.

    Raise ConfigError for an unknown or repeated name, and for mistakes in a file.
    """
    shipped = shipped_kinds()
    if names is None:
        return tuple(shipped.values())
    if unknown := [name for name in names if not is_path(name) and name not in shipped]:
        known = ", ".join(shipped)
        raise ConfigError(f"unknown question {', '.join(unknown)}", hint=f"known questions: {known}; or a YAML file")
    chosen = tuple(load_kind(Path(name)) if is_path(name) else shipped[name] for name in names)
    if twice := [name for name, number in Counter(kind.name for kind in chosen).items() if number > 1]:
        raise ConfigError(f"repeated question {', '.join(twice)}", hint="use per_question: 2 to ask it twice")
    return chosen


def _position(kind: QuestionKind) -> tuple[int, float, str]:
    template = kind.template
    return CATEGORIES.index(template.category), template.order or math.inf, kind.name


def _check_parameters(function: Callable[..., object], given: int, parameters: Collection[str], origin: str) -> None:
    """Raise ConfigError unless the function takes these parameters after its first `given` ones."""
    taken = list(inspect.signature(function).parameters)[given:]
    if set(taken) != set(parameters):
        raise ConfigError(f"{origin} takes {', '.join(taken)}; the YAML file has {', '.join(parameters)}")


@dataclass(frozen=True)
class Question:
    """A question about one graph.

    `parameters` are raw values of the graph. `cypher` is the Jinja text, `identifiers` its names, `values` its Cypher
    parameters, `answer_fields` its columns. With `one_of_several` the Cypher returns only one of the correct rows.
    `right_rows` finds all of them without Cypher; None if Cypher is the only oracle.
    """

    kind: QuestionKind
    parameters: dict[str, Value]
    cypher: str
    identifiers: Identifiers
    values: dict[str, Value]
    answer_fields: tuple[str, ...]
    one_of_several: bool
    right_rows: Callable[..., list[Row]] | None

    @property
    def written(self) -> dict[str, Scalar]:
        """Return the parameters as JSON values, as a model sees them."""
        return {name: shown(value) for name, value in self.parameters.items()}

    @property
    def name(self) -> str:
        return self.kind.name


def instantiate(kind: QuestionKind, index: GraphIndex, parameters: dict[str, Value]) -> Question:
    """Return a question of this kind with these parameters."""
    template, python = kind.template, kind.python
    properties = _answer_properties(template, index, parameters)
    named = {name: parameters[name] for name, p in template.parameters.items() if p.role in IDENTIFIER_ROLES}
    return Question(
        kind=kind,
        parameters=parameters,
        cypher=template.cypher,
        identifiers={**cast("dict[str, str | int]", named), "answer_properties": properties},
        values={name: parameters[name] for name in template.cypher_parameters},
        answer_fields=(*template.answer_fields, *properties),
        one_of_several=python is not None and template.mode == "ties-allowed",
        right_rows=None if python is None else partial(python.right_rows, parameters=parameters),
    )


def count_candidates(template: QuestionTemplate, index: GraphIndex, parameters: Mapping[str, Value]) -> int | None:
    """Return the number of possible rows of an answer, or None if the template does not define it."""
    if not template.candidates:
        return None
    sizes = []
    for name in template.candidates:
        parameter, value = template.parameters[name], str(parameters[name])
        if parameter.role == "label":
            sizes.append(len(index.keys_of(value)))
        elif parameter.role == "relationship_type":
            sizes.append(len(index.joined_pairs(value)))
        else:
            sizes.append(len(index.node_values(str(parameters[parameter.of or ""]), value)))
    return math.prod(sizes)


def ways_of(question: Question, index: GraphIndex) -> int:
    """Estimate the work of an oracle: the possible start nodes plus the walks from them."""
    roles = {name: p.role for name, p in question.kind.template.parameters.items()}
    by_role = {role: question.parameters[name] for name, role in reversed(roles.items())}
    if "label" not in by_role:
        return len(index.relationships_of.get(str(by_role.get("relationship_type")), ())) or index.graph.node_count
    steps = 1 if question.kind.python is None else question.kind.python.steps
    longest = max(steps, int(str(by_role.get("hops", 1))))
    starts = [str(by_role["key"])] if "key" in by_role else _starts_with_a_value(question, index)
    if starts is None:
        label = str(by_role["label"])
        return len(index.keys_of(label)) + index.walks_from(label, longest)
    walks = index.walks(longest)
    return len(starts) + sum(walks[key] for key in starts)


def _starts_with_a_value(question: Question, index: GraphIndex) -> list[str] | None:
    """Return the nodes of the first label with the value in the question, or None without such a value."""
    parameters = question.kind.template.parameters
    first = next(name for name, parameter in parameters.items() if parameter.role == "label")
    for name, parameter in parameters.items():
        if parameter.role == "value" and parameters[str(parameter.of)].of == first:
            given = question.parameters
            return index.keys_with(str(given[first]), str(given[str(parameter.of)]), given[name])
    return None


def _answer_properties(
    template: QuestionTemplate, index: GraphIndex, parameters: Mapping[str, Value]
) -> tuple[str, ...]:
    """Return the properties that are answer fields, without names that the template already uses."""
    if template.answer_properties_of is None:
        return ()
    owner = template.answer_properties_of
    of_nodes = template.parameters[owner].role == "label"
    names = (index.node_properties if of_nodes else index.relationship_properties)(str(parameters[owner]))
    return tuple(name for name in names if name not in template.answer_fields)
