"""All kinds of questions: what the YAML says joined, by name, with the Python part.

Those that ship are `templates/questions/NAME.yaml` and `kinds/NAME.py`. A user's own are a YAML file anywhere, whose
Python part, where it has one, comes from an entry point of its name in the group `graphwalk.questions`.
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

_LEADING = {"rows": 1, "plan": 2, "brute_force": 1, "by_reference": 2}
"""Function → how many of its first arguments are no parameters of the question."""


@dataclass(frozen=True)
class PythonPart:
    """The Python part of a question: see `graphwalk.suites.questions.kinds`."""

    rows: Callable[..., Iterator[Row]]
    plan: Callable[..., Steps[list[Row]]]
    brute_force: Callable[..., Iterator[Row]] | None = None
    by_reference: Callable[..., Mapping[str, str]] | None = None
    steps: int = 1
    """Relationships of a path that a row tells of, where no parameter says how many."""

    def right_rows(self, index: GraphIndex, parameters: Mapping[str, Value], most: int | None = None) -> list[Row]:
        """All right rows, each once, in ascending order; of a tie, every one. `most`: of more, any `most` + 1."""
        return distinct((as_shown(row) for row in self.rows(index, **parameters)), most)


@dataclass(frozen=True)
class QuestionKind:
    """One kind of question."""

    template: QuestionTemplate
    file: YamlFile
    parts: Registry

    @property
    def name(self) -> str:
        return self.template.name

    @cached_property
    def python(self) -> PythonPart | None:
        """None where there is none, so that the engines are the only oracle. ConfigError where it does not fit."""
        return python_part(self.name, self.parts, self.template.parameters)

    def mistake(self, message: str, *field: int | str) -> ConfigError:
        """What is wrong with a field of the file, though the file could be read."""
        return ConfigError(f"{self.file.where(*field)}: {message}", hint=f"graphwalk questions {self.file.path}")


@cache
def python_parts() -> Registry:
    """The Python parts by name: those of the folder `kinds`, and those of other packages."""
    names = sorted(module.name for module in iter_modules(kinds.__path__))
    built_in = {name: f"{kinds.__name__}.{name}" for name in names}
    return Registry("Python part of a question", "graphwalk.questions", built_in)


def python_part(
    name: str, parts: Registry | None = None, parameters: Collection[str] | None = None
) -> PythonPart | None:
    """The Python part of a question, None where there is none.

    ConfigError names the function that is missing, or that does not take these parameters.
    """
    parts = parts or python_parts()
    if name not in parts:
        return None
    module, origin = parts.load(name), parts.origin(name)
    if missing := [function for function in ("rows", "plan") if not callable(getattr(module, function, None))]:
        raise ConfigError(f"{origin} has no function `{'`, `'.join(missing)}`")
    functions: dict[str, Any] = {name: getattr(module, name, None) for name in _LEADING}
    for function_name, function in functions.items():
        if parameters is not None and function is not None:
            _check_parameters(function, _LEADING[function_name], parameters, f"{origin}.{function_name}")
    return PythonPart(**functions, steps=getattr(module, "STEPS", 1))


def load_kind(path: Path, parts: Registry | None = None) -> QuestionKind:
    """The kind of question in a YAML file. ConfigError names file, line and field of every mistake."""
    file = YamlFile.read(path)
    return QuestionKind(read_template(file), file, parts or python_parts())


def joined(folder: Path, parts: Registry) -> Mapping[str, QuestionKind]:
    """Name → kind, by class and order, of the files in a folder and the built-in Python parts.

    ConfigError where one of them lacks the other.
    """
    found = [load_kind(path, parts) for path in sorted(folder.glob("*.yaml"))]
    by_name = {kind.name: kind for kind in sorted(found, key=_place)}
    for name in by_name.keys() - parts.built_in.keys():
        raise ConfigError(f"{by_name[name].file.path} has no Python part", hint=f"add {kinds.__name__}.{name}")
    for name in parts.built_in.keys() - by_name.keys():
        raise ConfigError(f"{parts.origin(name)} has no YAML file", hint=f"add {folder / f'{name}.yaml'}")
    return by_name


@cache
def shipped_kinds() -> Mapping[str, QuestionKind]:
    """The questions that come with GraphWalk, by class and order."""
    return joined(data_path("templates") / "questions", python_parts())


def choose_kinds(names: Sequence[str] | None = None) -> tuple[QuestionKind, ...]:
    """Questions by name, or by the path of a YAML file, in this order; None: all that ship.

    ConfigError for an unknown name, for mistakes in a file, and where two have one name.
    """
    shipped = shipped_kinds()
    if names is None:
        return tuple(shipped.values())
    if unknown := [name for name in names if not is_path(name) and name not in shipped]:
        known = ", ".join(shipped)
        raise ConfigError(f"there is no question {', '.join(unknown)}", hint=f"known questions: {known}; or a file")
    chosen = tuple(load_kind(Path(name)) if is_path(name) else shipped[name] for name in names)
    if twice := [name for name, number in Counter(kind.name for kind in chosen).items() if number > 1]:
        raise ConfigError(f"the question {', '.join(twice)} is named twice", hint="per_question: 2 asks it twice")
    return chosen


def _place(kind: QuestionKind) -> tuple[int, float, str]:
    template = kind.template
    return CATEGORIES.index(template.category), template.order or math.inf, kind.name


def _check_parameters(function: Callable[..., object], given: int, parameters: Collection[str], origin: str) -> None:
    """The first `given` parameters of the function are no parameters of the question."""
    taken = list(inspect.signature(function).parameters)[given:]
    if set(taken) != set(parameters):
        raise ConfigError(f"{origin} takes {', '.join(taken)}; the YAML has {', '.join(parameters)}")


@dataclass(frozen=True)
class Question:
    """One question about one graph.

    `parameters` are values of the graph; where they are written down they are as a model sees them (`shown`).
    `cypher` is the Jinja text, `identifiers` what it names, `values` its Cypher parameters, `answer_fields` the
    columns of its rows. `one_of_several`: the Cypher returns one of the right rows, not all of them. `right_rows` finds
    them without Cypher; None where Cypher is the only oracle.
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
        """The parameters as JSON."""
        return {name: shown(value) for name, value in self.parameters.items()}

    @property
    def name(self) -> str:
        return self.kind.name


def instantiate(kind: QuestionKind, index: GraphIndex, parameters: dict[str, Value]) -> Question:
    """A kind of question with these parameters."""
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
    """Rows that the form of an answer allows: what an agent that gives everything gives."""
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
    """Nodes that an answer may begin at, and walks that begin there: what an oracle may have to look at."""
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
    """The nodes of the first label, where the question tells a value that they have; None where it does not."""
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
    """The properties that are answer fields too; one that is named like a field of the template is left out."""
    if template.answer_properties_of is None:
        return ()
    owner = template.answer_properties_of
    of_nodes = template.parameters[owner].role == "label"
    names = (index.node_properties if of_nodes else index.relationship_properties)(str(parameters[owner]))
    return tuple(name for name in names if name not in template.answer_fields)
