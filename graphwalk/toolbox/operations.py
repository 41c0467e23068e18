"""What a tool does where no query can do it: Python functions that a tool file names."""

from collections.abc import Callable, Mapping
from typing import Any

Operation = Callable[[Mapping[str, Any]], str]
"""Checked arguments → text for the model."""


def think(arguments: Mapping[str, Any]) -> str:
    """The thought, unchanged (spec section 3)."""
    return str(arguments["thought"])


OPERATIONS: Mapping[str, Operation] = {"think": think}
