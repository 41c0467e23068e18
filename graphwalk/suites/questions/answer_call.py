"""Arguments of the tool `answer`, with which an expert answers by reference to the rows it has seen."""

import json
from typing import Any

from graphwalk.types.schema import Schema

NEIGHBOR_KEY = "neighbor_properties.key"


def condition(**named: Any) -> str:
    """Return a condition on rows of neighborhoods: every column has this value."""
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in named.items())


def leading_to(label: str) -> str:
    """Return the condition that a row leads to a node with this label."""
    return condition(direction="outgoing", neighbor_label=label)


def side_of(schema: Schema, relationship_type: str) -> str:
    """Return the side from which `links_of_type` looks at the relationships of a type."""
    type_ = schema.relationship(relationship_type)
    pairs = type_.pairs if type_ else ()
    return "outgoing" if len({p[0] for p in pairs}) <= len({p[1] for p in pairs}) else "incoming"
