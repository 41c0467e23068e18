"""Registry of question kinds: a YAML file and an optional Python part with the same name.

Built-in kinds are `templates/questions/NAME.yaml` and `kinds/NAME.py`. A user's kind is a YAML file anywhere; its
Python part is an entry point of the same name in the group `graphwalk.questions`.
"""

import inspect
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, cast

from graphwalk.config.resources import Registry, data_path
from graphwalk.config.strict import YamlFile, is_path, validate
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.graphs.graph import value_order
from graphwalk.graphs.values import Scalar, Value, shown
from graphwalk.stores.cypher import Identifiers, render_cypher
from graphwalk.suites.questions import kinds
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.tasks.graph_index import EntityType, GraphIndex
from graphwalk.suites.questions.template import CATEGORIES, IDENTIFIER_ROLES, QuestionTemplate


@dataclass(frozen=True)
class QuestionKind:
    """A kind of question: its template, file and Python part."""

    template: QuestionTemplate
    file: YamlFile

    @property
    def name(self) -> str:
        return self.template.name

    @cached_property
    def python(self) -> type[PythonPart] | None:
        """Return the class of the Python part, or None. Raise ConfigError if it does not match the template."""
        return python_part(self.name, tuple(self.template.parameters))

    def mistake(self, message: str, *field: int | str) -> ConfigError:
        """Return a ConfigError about a field of the file."""
        return ConfigError(f"{self.file.where(*field)}: {message}", hint=f"graphwalk list questions {self.file.path}")


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
    template = validate(QuestionTemplate, file.data, str(path), file.tree)
    if template.name != path.stem:
        raise ConfigError(f"{file.where('name')}: {template.name!r} differs from the file name")
    return QuestionKind(template, file)


@cache
def shipped_kinds() -> Mapping[str, QuestionKind]:
    """Return the built-in questions, ordered by class and position."""

    def position(kind: QuestionKind) -> tuple[int, float, str]:
        template = kind.template
        return CATEGORIES.index(template.category), template.order or math.inf, kind.name

    shipped = map(load_kind, (data_path("templates") / "questions").glob("*.yaml"))
    return {kind.name: kind for kind in sorted(shipped, key=position)}


def choose_kinds(names: Sequence[str] | None = None) -> tuple[QuestionKind, ...]:
    """Return questions by name or path of a YAML file, in this order; None means those of the paper.

    Raise ConfigError for an unknown or repeated name, and for mistakes in a file.
    """
    shipped = shipped_kinds()
    if names is None:
        return tuple(kind for kind in shipped.values() if kind.template.order is not None)
    if unknown := [name for name in names if not is_path(name) and name not in shipped]:
        close = did_you_mean(unknown[0], shipped) if len(unknown) == 1 else ""
        hint = f"known questions: {', '.join(shipped)}; or a YAML file"
        raise ConfigError(f"unknown question {', '.join(unknown)}{close}", hint=hint)
    chosen = tuple(load_kind(Path(name)) if is_path(name) else shipped[name] for name in names)
    if twice := [name for name, number in Counter(kind.name for kind in chosen).items() if number > 1]:
        raise ConfigError(f"repeated question {', '.join(twice)}", hint="use per_question: 2 to ask it twice")
    return chosen


@dataclass(frozen=True)
class Question:
    """A question about one graph; `parameters` are raw values of the graph."""

    kind: QuestionKind
    index: GraphIndex
    parameters: dict[str, Value]

    @cached_property
    def part(self) -> PythonPart | None:
        """Return the evaluator with these parameters; None if Cypher is the only oracle."""
        python: Any = self.kind.python
        return None if python is None else python(**self.parameters)

    @property
    def written(self) -> dict[str, Scalar]:
        """Return the parameters as JSON values, as a model sees them."""
        return {name: shown(value) for name, value in self.parameters.items()}

    @cached_property
    def answer_properties(self) -> tuple[str, ...]:
        """Return the properties that are answer fields, without names that the template already uses."""
        template = self.kind.template
        if (owner := template.answer_properties_of) is None:
            return ()
        kind: EntityType = "node" if template.parameters[owner].role == "label" else "relationship"
        names = self.index.property_names(kind, str(self.parameters[owner]))
        return tuple(name for name in names if name not in template.answer_fields)

    @property
    def answer_fields(self) -> tuple[str, ...]:
        """Return the columns of the query."""
        return (*self.kind.template.answer_fields, *self.answer_properties)

    @property
    def identifiers(self) -> Identifiers:
        """Return the names that the Cypher template inserts."""
        parameters = self.kind.template.parameters.items()
        named = {name: self.parameters[name] for name, p in parameters if p.role in IDENTIFIER_ROLES}
        return {**cast("dict[str, str | int]", named), "answer_properties": self.answer_properties, "paper": False}

    @property
    def values(self) -> dict[str, Value]:
        """Return the parameters of the Cypher query."""
        parameters = self.kind.template.parameters.items()
        return {name: self.parameters[name] for name, p in parameters if p.role not in IDENTIFIER_ROLES}

    @property
    def cypher(self) -> str:
        """Return the unscoped query, which runs on a database that contains only this graph."""
        return render_cypher(self.kind.template.cypher, self.identifiers)

    @cached_property
    def candidates(self) -> int | None:
        """Return the number of possible rows of an answer, or None if the template does not define it."""
        sizes = []
        for name in self.kind.template.candidates:
            parameter, value = self.kind.template.parameters[name], str(self.parameters[name])
            if parameter.role == "label":
                sizes.append(len(self.index.keys_of(value)))
            elif parameter.role == "relationship_type":
                relationships = self.index.relationships_of.get(value, ())
                sizes.append(len({(r.source, r.target) for r in relationships}))
            else:
                values = self.index.values("node", str(self.parameters[parameter.of or ""]), value)
                sizes.append(len(set(map(value_order, values))))
        return math.prod(sizes) if sizes else None

    def count_ways(self) -> int:
        """Estimate the work of an oracle: the possible start nodes plus the walks from them."""
        index, values, parameters = self.index, self.parameters, self.kind.template.parameters
        first = {parameter.role: name for name, parameter in reversed(parameters.items())}
        if "label" not in first:
            relationships = index.relationships_of.get(str(values.get(first.get("relationship_type", ""))), ())
            return len(relationships) or index.graph.node_count
        starts = index.keys_of(str(values[first["label"]]))
        if "key" in first:
            starts = [str(values[first["key"]])]
        elif "value" in first and parameters[of := str(parameters[first["value"]].of)].of == first["label"]:
            starts = index.keys_with(str(values[first["label"]]), str(values[of]), values[first["value"]])
        steps = 1 if self.part is None else self.part.steps
        walks = index.walks(max(steps, int(str(values.get(first.get("hops", ""), 1)))))
        return len(starts) + sum(walks[key] for key in starts)
