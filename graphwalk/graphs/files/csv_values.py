"""Values in a field of a CSV file, by the type of its column."""

from collections.abc import Iterable
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.checked import brief
from graphwalk.graphs.files.csv_layout import CsvColumn
from graphwalk.graphs.files.text_values import read_point_text, read_value, type_name, value_text
from graphwalk.types.values import Value

_ZONED = ("time", "datetime")
_ARRAY_DELIMITERS = (";", "|", "\t", "~", "^", "\x1f", "\x1e", "\x1d")


def csv_value(column: CsvColumn, field: str, array_delimiter: str) -> Any:
    """The value of a field. ValueError where it is not of the column's type."""
    try:
        if column.is_list and column.type == "byte":
            return _bytes(field.split(array_delimiter) if field else [])
        if column.is_list:
            return [_single(column, item) for item in field.split(array_delimiter)] if field else []
        return _single(column, field)
    except KeyError:
        raise ValueError(f"the column {column.name!r} has the unknown type {column.type!r}") from None
    except ValueError as error:
        raise ValueError(f"column {column.name!r}, a {column.type}: {error}") from None


def csv_type(value: Value) -> str:
    """The type of a column that can hold the value; bytes are a list of them."""
    if isinstance(value, bytes):
        return "byte[]"
    if isinstance(value, tuple) and value and isinstance(value[0], bytes):
        raise ConfigError("a list of bytes has no place in the layout of Neo4j's importer", hint="save it as JSON")
    return type_name(value)


def csv_field(value: Value, array_delimiter: str) -> str:
    """The text of a field. ConfigError for a list that this layout cannot tell from an empty one."""
    if isinstance(value, bytes):
        return array_delimiter.join(str(byte - 256 if byte > 127 else byte) for byte in value)
    if not isinstance(value, tuple):
        return value_text(value)
    if value == ("",):
        raise ConfigError("a list of one empty text looks like an empty list in CSV", hint="save the graph as JSON")
    return array_delimiter.join(value_text(item) for item in value)


def free_delimiter(values: Iterable[Value], labels: Iterable[str]) -> str:
    """A character to stand between the items of lists, and between labels, that is in none of them."""
    used = {character for label in labels for character in label}
    for value in values:
        if isinstance(value, tuple):
            used.update(character for item in value for character in value_text(item))
    for delimiter in _ARRAY_DELIMITERS:
        if delimiter not in used:
            return delimiter
    raise ConfigError("the lists of this graph use every character that could part them", hint="save it as JSON")


def _single(column: CsvColumn, text: str) -> Any:
    options = dict(column.options)
    if column.type == "point" and options:
        return read_point_text(text, options)
    if column.type in _ZONED and "timezone" in options:
        try:
            return read_value(column.type, text)
        except ValueError:
            zone = options["timezone"]
            return read_value(column.type, text + zone)
    return read_value(column.type, text)


def _bytes(items: list[str]) -> bytes:
    numbers = [int(item) for item in items if len(item) < 6]
    if len(numbers) < len(items) or not all(-128 <= number < 256 for number in numbers):
        raise ValueError(f"{brief(items)} are not bytes")
    return bytes(number % 256 for number in numbers)
