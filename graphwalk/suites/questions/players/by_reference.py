"""The expert that answers by reference where the tool `answer` can say it: in ten of the twelve kinds."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from graphwalk.models.policy import Ask, Policy
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

ANSWER = "answer"
Reference = Mapping[str, str]
"""Arguments of the tool but for `results`."""
_NEIGHBOR_KEY = "neighbor_properties.key"


def by_reference(walk: Policy, task: QuestionTask, schema: Schema) -> Policy:
    """Walks as the expert does. Where it is refused, or the answer has to be put together, it answers in text."""
    results: list[str] | None = None
    while True:
        try:
            asks = next(walk) if results is None else walk.send(results)
        except StopIteration as end:
            text: str = end.value
            break
        results = yield asks
    rows: list[Row] = json.loads(text)
    refer = _REFERENCES.get(task.template)
    if refer is not None and rows:
        yield [Ask(ANSWER, {"results": "all", **refer(task.parameters, schema, rows)})]
    return text


def _condition(**named: Any) -> str:
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in named.items())


def _leading_to(label: Any) -> str:
    return _condition(direction="outgoing", neighbor_label=label)


def _negation_on_rel_property(p: Mapping[str, Any], schema: Schema, rows: list[Row]) -> Reference:
    kept = _condition(direction="outgoing", type=p["relationship_type"], neighbor_label=p["target_label"])
    unlike = f"relationship_properties.{p['relationship_property']}!={json.dumps(p['excluded_value'])}"
    return {"columns": "node_key=center_key", "where": f"{kept}, {unlike}"}


def _side(relationship_type: Any, schema: Schema) -> str:
    """The side that relationships of a type were seen from: see `surveys.links_of_type`."""
    type_ = schema.relationship(relationship_type)
    pairs = type_.pairs if type_ else ()
    return "outgoing" if len({p[0] for p in pairs}) <= len({p[1] for p in pairs}) else "incoming"


def _relationship_by_property(p: Mapping[str, Any], schema: Schema, rows: list[Row]) -> Reference:
    side = _side(p["relationship_type"], schema)
    ends = ("center_key", _NEIGHBOR_KEY) if side == "outgoing" else (_NEIGHBOR_KEY, "center_key")
    names = [name for name in rows[0] if name not in ("source_key", "target_key")]
    held = [f"{name}=relationship_properties.{name}" for name in names]
    kept = _condition(direction=side, type=p["relationship_type"])
    value = f"relationship_properties.{p['property']}={json.dumps(p['value'], ensure_ascii=False)}"
    return {
        "columns": ", ".join([*held, f"source_key={ends[0]}", f"target_key={ends[1]}"]),
        "where": f"{kept}, {value}",
    }


def _remote_node_property(p: Mapping[str, Any], schema: Schema, rows: list[Row]) -> Reference:
    value = f"neighbor_properties.{p['property']}={json.dumps(rows[0]['value'], ensure_ascii=False)}"
    return {
        "columns": f"value=neighbor_properties.{p['property']}",
        "where": f"{_leading_to(p['target_label'])}, {value}",
    }


_REFERENCES: Mapping[str, Callable[[Mapping[str, Any], Schema, list[Row]], Reference]] = {
    "node_by_property": lambda p, schema, rows: {
        "columns": "node_key=properties.key",
        "where": f"properties.{p['property']}={json.dumps(p['value'], ensure_ascii=False)}",
    },
    "node_count": lambda p, schema, rows: {
        "columns": "count=center_key",
        "where": _leading_to(p["target_label"]),
        "count": "different",
    },
    "relationship_count": lambda p, schema, rows: {
        "columns": "count",
        "where": _condition(direction=_side(p["relationship_type"], schema), type=p["relationship_type"]),
        "count": "rows",
    },
    "node_with_most_relationships": lambda p, schema, rows: {
        "columns": "node_key=center_key, rel_count",
        "where": _condition(direction="outgoing", type=p["relationship_type"]),
        "count": "most",
    },
    "compositional_intersection": lambda p, schema, rows: {
        "columns": "node_key=center_key",
        "where": _leading_to(p["first_label"]),
        "also": _leading_to(p["second_label"]),
    },
    "negation_with_connection": lambda p, schema, rows: {
        "columns": "node_key=center_key",
        "where": _leading_to(p["required_label"]),
        "but_not": _leading_to(p["excluded_label"]),
    },
    "negation_on_rel_property": _negation_on_rel_property,
    "path_from_specific_node": lambda p, schema, rows: {
        "columns": f"target_node_key={_NEIGHBOR_KEY}",
        "where": _leading_to(p["target_label"]),
    },
    "relationship_by_property": _relationship_by_property,
    "remote_node_property": _remote_node_property,
}
