"""Resources: data files of the package, YAML files, and objects by name, built in or provided by other packages.

Data files are `templates/`, `tools/` and the examples that `graphwalk init` writes: beside the package in a checkout,
inside it when installed.
"""

import pkgutil
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import yaml

from graphwalk.errors import ConfigError, GraphwalkError, did_you_mean
from graphwalk.version import CHECKOUT

PACKAGE = Path(__file__).parent.parent


def data_path(name: str) -> Path:
    """Return the path of a data file or folder ("templates", "tools", "examples", "docker-compose.yml")."""
    return (CHECKOUT or PACKAGE / "data") / name


@dataclass(frozen=True)
class Registry:
    """Objects of one kind by name. `built_in` maps names to "module:object" or "module", imported when asked for."""

    kind: str
    """Name of the kind in messages: "suite", "store", …"""
    group: str
    """Entry points of this group add to the built-in ones: `name = "package.module:object"`."""
    built_in: Mapping[str, str]

    def names(self) -> tuple[str, ...]:
        """Return the names, built-in ones first."""
        names = list(self.built_in)
        others = {point.name for point in entry_points(group=self.group)}
        names.extend(sorted(others - self.built_in.keys()))
        return tuple(names)

    def __contains__(self, name: str) -> bool:
        """Return True for a known name. Entry points are looked up only if needed, since that takes 20 ms."""
        return name in self.built_in or bool(entry_points(group=self.group, name=name))

    def origin(self, name: str) -> str:
        """Return "module:object" for a name. Raise ConfigError with the known names if it is unknown."""
        if name in self.built_in:
            return self.built_in[name]
        for point in entry_points(group=self.group, name=name):
            return point.value
        raise ConfigError(
            f"no {self.kind} {name!r}{did_you_mean(name, self.names())}", hint=f"known: {', '.join(self.names())}"
        )

    def load(self, name: str) -> Any:
        """Return the object for a name. Raise ConfigError if it is unknown or cannot be imported."""
        origin = self.origin(name)
        try:
            return pkgutil.resolve_name(origin)
        except GraphwalkError:
            raise
        except Exception as error:
            if name in self.built_in:
                raise
            cause = f"{type(error).__name__}: {error}"
            raise ConfigError(f"the {self.kind} {name!r} ({origin}) cannot be imported: {cause}") from error


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses repeated fields."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        lines: dict[Any, int] = {}
        for name, _ in node.value:
            if not isinstance(name, yaml.ScalarNode):
                continue
            if name.value in lines:
                problem = f"the field {name.value!r} is given twice, first in line {lines[name.value]}"
                raise yaml.constructor.ConstructorError(None, None, problem, name.start_mark)
            lines[name.value] = name.start_mark.line + 1
        return super().construct_mapping(node, deep)


_UNION_TAG = re.compile(r"\(.*\)")
"""The member of a union in a location, `(own)`, which is no field."""


@dataclass(frozen=True)
class YamlFile:
    """A YAML file: its text, data, and node tree with the lines."""

    path: Path
    text: str
    data: Any
    tree: yaml.Node | None

    @classmethod
    def read(cls, path: Path) -> "YamlFile":
        """Read a file. Raise ConfigError, with the line if known, if it cannot be read, or is not plain data."""
        try:
            text = path.read_text(encoding="utf-8")
            loader = _Loader(text)
            tree = loader.get_single_node()
            # An empty file has no tree.
            data = None if tree is None else loader.construct_document(tree)
            return cls(path, text, data, tree)
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: cannot be read: not UTF-8 text") from error
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
        except _NOT_YAML as error:
            mark = getattr(error, "problem_mark", None)
            where = f"{path}:{mark.line + 1}" if mark else str(path)
            raise ConfigError(f"{where}: not valid YAML: {_problem(error)}") from error

    def where(self, *fields: int | str) -> str:
        """Return file, line and field, as messages begin: `questions/mine.yaml:7: cypher`."""
        line, names = locate(self.tree, fields)
        place = f"{self.path}:{line}" if line else str(self.path)
        return f"{place}: {'.'.join(names)}"


def parse_value(text: str, source: str) -> Any:
    """Parse a YAML value from the command line. Raise ConfigError with `source` if it is none."""
    try:
        return yaml.load(text, _Loader)
    except _NOT_YAML as error:
        raise ConfigError(f"{source}: the value is not YAML: {_problem(error)}") from error


_NOT_YAML = (yaml.YAMLError, ValueError, RecursionError)
"""ValueError: of a date or a number."""


def _problem(error: Exception) -> str:
    """Return what is wrong with a YAML text, without its place."""
    # while parsing a flow sequence: expected ',' or ']', but got ':'
    parts = [getattr(error, "context", None), getattr(error, "problem", None)]
    return ": ".join(part for part in parts if part) or str(error)


def locate(tree: yaml.Node | None, location: Sequence[int | str]) -> tuple[int | None, list[str]]:
    """Return line and fields of a pydantic location; the line of its parent if the file does not have the field."""
    node = tree
    fields: list[str] = []
    line = None if tree is None else tree.start_mark.line + 1
    for part in location:
        if _UNION_TAG.fullmatch(str(part)):
            continue
        fields.append(str(part))
        node = _child(node, part)
        if node is not None:
            line = node.start_mark.line + 1
    return line, fields


def _child(node: yaml.Node | None, part: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        child: yaml.Node = node.value[part]
        return child
    return None
