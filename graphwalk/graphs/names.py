"""The name of a node for a reader."""

import re

from graphwalk.graphs.graph import Node

_NAMING = ("name", "title", "label", "caption", "full name", "display name")
"""Properties that people call a node by, where it has one of them; `fullName` and `display_name` are such names too."""
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s_-]+")


def name_of(node: Node) -> str:
    """Return the name of a node for a reader: the text of a property that holds names, else the key."""
    for naming in _NAMING:
        for name, value in node.properties.items():
            if _in_words(name) == naming and isinstance(value, str) and value.strip():
                return value
    return node.key


def _in_words(property_name: str) -> str:
    """Return the name of a property as words: "full name" for fullName, full_name and Full-Name."""
    return " ".join(_WORD_BREAK.split(property_name)).lower()
