"""The version of GraphWalk, that of its files, and whether it runs in a checkout."""

from pathlib import Path

__version__ = "0.1.0"
SCHEMA_VERSION = 1
"""Version of everything that GraphWalk writes to disk."""

_ABOVE_THE_PACKAGE = Path(__file__).parents[1]
CHECKOUT = _ABOVE_THE_PACKAGE if (_ABOVE_THE_PACKAGE / "pyproject.toml").exists() else None
"""The folder of the checkout that the package is in; None where it is installed from a wheel."""
