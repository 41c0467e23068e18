"""All kinds of questions: what the YAML says joined, by name, with the Python part.

Those that ship are `templates/questions/NAME.yaml` and `kinds/NAME.py`. A user's own are a YAML file anywhere, whose
Python part, where it has one, comes from an entry point of its name in the group `graphwalk.questions`.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from pkgutil import iter_modules

from graphwalk.config.strict import is_path
from graphwalk.config.yaml_files import YamlFile
from graphwalk.errors import ConfigError
from graphwalk.plugins import Registry
from graphwalk.resources import data_path
from graphwalk.suites.questions import kinds
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.oracle.rows import as_shown, distinct
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.template import CATEGORIES, QuestionTemplate, read_template
from graphwalk.types.values import Row, Value


@dataclass(frozen=True)
class PythonPart:
    """What Python knows of a question: see `graphwalk.suites.questions.kinds`."""

    rows: Callable[..., Iterator[Row]]
    plan: Callable[..., Steps[list[Row]]]
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
    if parameters is not None:
        _check_parameters(module.rows, 1, parameters, f"{origin}.rows")
        _check_parameters(module.plan, 2, parameters, f"{origin}.plan")
    return PythonPart(module.rows, module.plan, getattr(module, "STEPS", 1))


def load_kind(path: Path, parts: Registry | None = None) -> QuestionKind:
    """The kind of question in a YAML file. ConfigError names file, line and field of every mistake."""
    file = YamlFile.read(path)
    return QuestionKind(read_template(file), file, parts or python_parts())


def joined(folder: Path, parts: Registry) -> Mapping[str, QuestionKind]:
    """Name → kind, by class and then by name, of the files in a folder and the built-in Python parts.

    ConfigError where one of them lacks the other.
    """
    found = [load_kind(path, parts) for path in sorted(folder.glob("*.yaml"))]
    by_name = {kind.name: kind for kind in sorted(found, key=lambda k: (CATEGORIES.index(k.template.category), k.name))}
    for name in by_name.keys() - parts.built_in.keys():
        raise ConfigError(f"{by_name[name].file.path} has no Python part", hint=f"add {kinds.__name__}.{name}")
    for name in parts.built_in.keys() - by_name.keys():
        raise ConfigError(f"{parts.origin(name)} has no YAML file", hint=f"add {folder / f'{name}.yaml'}")
    return by_name


@cache
def shipped_kinds() -> Mapping[str, QuestionKind]:
    """The questions that come with GraphWalk, by class and then by name."""
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


def _check_parameters(function: Callable[..., object], given: int, parameters: Collection[str], origin: str) -> None:
    """The first `given` parameters of the function are no parameters of the question."""
    taken = list(inspect.signature(function).parameters)[given:]
    if set(taken) != set(parameters):
        raise ConfigError(f"{origin} takes {', '.join(taken)}; the YAML has {', '.join(parameters)}")
