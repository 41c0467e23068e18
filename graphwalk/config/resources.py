"""Resources by name: data files of the package, and objects that are built in or provided by other packages.

Data files are `templates/` and `tools/`: beside the package in a checkout, inside it when installed.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError, GraphwalkError, did_you_mean

PACKAGE = Path(__file__).parent.parent


def data_path(name: str) -> Path:
    """Return the path of a data file or folder ("templates", "tools", "docker-compose.yml")."""
    checkout = PACKAGE.parent
    root = checkout if (checkout / "pyproject.toml").exists() else PACKAGE / "data"
    return root / name


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
        others = {point.name for point in entry_points(group=self.group)} - self.built_in.keys()
        return (*self.built_in, *sorted(others))

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
