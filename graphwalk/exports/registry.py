"""Registry of export formats."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from graphwalk.config.registry import Registry
from graphwalk.exports.episodes import Episodes

Exporter: TypeAlias = Callable[[Episodes, Path], None]
"""Writes the episodes into a file or a new folder, read as a stream and never held in memory together.

Its docstring is the help of its command. ConfigError where the place cannot be written, or a library is missing.
"""

EXPORTS = Registry(
    "export format",
    "graphwalk.exports",
    {
        "inspect": "graphwalk.exports.inspect_log:export_inspect",
        "chats": "graphwalk.exports.chats:export_chats",
        "csv": "graphwalk.exports.tables:export_csv",
    },
)
