"""The tables of all fields of an experiment, a question and a tool, for docs/experiments.md and docs/extending.md."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from graphwalk.runs.experiment import ExperimentConfig
from graphwalk.suites.suite import SUITES, suite_named

_TYPES = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "null": "empty",
    "object": "names and values",
}
_BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


class FieldRow(NamedTuple):
    """One field: dotted name (`[]` for an entry of a list), type, default and meaning in words."""

    name: str
    type: str
    default: str
    meaning: str


def experiment_fields() -> dict[str, list[FieldRow]]:
    """Return all fields: common ones under "", those of each suite under its name."""
    rows_by_suite: dict[str, list[FieldRow]] = {}
    for name in SUITES.built_in:
        config_type: Any = suite_named(name).config_type
        schema = ExperimentConfig[config_type].model_json_schema()
        rows = list(_rows(schema, schema.get("$defs", {}), ""))
        rows_by_suite.setdefault("", [row for row in rows if not row.name.startswith("suite.")])
        rows_by_suite[name] = [row for row in rows if row.name.startswith("suite.")]
    return rows_by_suite


def fields_table(model: type[BaseModel], hidden: Sequence[str] = ()) -> str:
    """Return a Markdown table of the fields of a file, without those that are not written in it."""
    schema = model.model_json_schema()
    lines = ["| field | value | default | |", "|---|---|---|---|"]
    for row in _rows(schema, schema.get("$defs", {}), ""):
        if row.name.partition("[")[0].partition(".")[0] not in hidden:
            lines.append(table_row(row))
    return "\n".join(lines)


def table_row(row: FieldRow) -> str:
    """Return a field as a row of a Markdown table."""
    cells = (f"`{row.name}`", row.type, row.default, row.meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _rows(schema: Mapping[str, Any], definitions: Mapping[str, Any], prefix: str) -> Iterator[FieldRow]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        full = f"{prefix}{name}"
        inner, is_list = _inner(field, definitions)
        first = inner[0] if inner else {}
        default = "needed" if name in required else _default(field, inner)
        yield FieldRow(full, _type(field, definitions), default, _words(field) or _words(first))
        full += "[]" if is_list else ""
        for entry in inner:
            if len(inner) > 1:
                yield FieldRow(full, "fields", "", _words(entry))
            yield from _rows(entry, definitions, f"{full}.")


def _words(schema: Mapping[str, Any]) -> str:
    return " ".join(str(schema.get("description") or "").split())


def _inner(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], bool]:
    """Return the schemas of the fields inside a field, one for each form of it, and whether it is a list of these."""
    forms = [_resolved(form, definitions) for form in field.get("anyOf", field.get("oneOf", [field]))]
    if inner := [form for form in forms if form.get("properties")]:
        return inner, False
    items = (form["items"] for form in forms if isinstance(form.get("items"), dict))
    return next((inner for item in items if (inner := _inner(item, definitions)[0])), []), True


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    return definitions[name] if name else schema


def _type(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if forms := field.get("anyOf", field.get("oneOf")):
        return " or ".join(dict.fromkeys(_type(form, definitions) for form in forms))
    field = _resolved(field, definitions)
    if "const" in field:
        return str(field["const"])
    if "enum" in field:
        return ", ".join(map(str, field["enum"]))
    if field.get("properties"):
        return "fields"
    if field.get("type") == "array":
        items = field.get("items") or field.get("prefixItems")
        return f"list of {_type(items, definitions)}" if isinstance(items, dict) else "list"
    bounds = [f"{sign} {field[bound]:,.12g}" for bound, sign in _BOUNDS.items() if bound in field]
    return " ".join([_TYPES.get(field.get("type", ""), "any value"), *bounds])


def _default(field: Mapping[str, Any], inner: Sequence[Any]) -> str:
    default = field.get("default")
    if default in (None, {}) or inner:
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return ", ".join(map(str, default)) if isinstance(default, list) else str(default)
