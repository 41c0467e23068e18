"""What a property can hold, and what a query returns."""

from typing import Any

Value = str | int | float | bool
"""A property value. A missing property is absent, never None."""

Row = dict[str, Any]
"""One row of a query's result: field name → JSON value (null for a missing property)."""
