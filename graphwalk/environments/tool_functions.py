"""Tools as Python functions: for projects that take a tool's name, arguments and words from a function.

The words are those of the tool's YAML file, as every model reads them, with an `Args` section as Google's style has it.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from graphwalk.types.chat import ToolSpec

Call = Callable[..., Any]
"""Runs a tool by its name with its arguments, as a method of the object that comes first; may be awaited."""
_TYPES: Mapping[str, type] = {"string": str, "number": float, "integer": int, "boolean": bool, "array": list}


def tool_function(spec: ToolSpec, call: Call, *, method: bool = False) -> Callable[..., Any]:
    """A function that calls the tool. `method`: it takes `self`, and gives it to `call` first."""
    names = list(spec.parameters["properties"])

    def function(*given: Any, **named: Any) -> Any:
        owner, given = (given[:1], given[1:]) if method else ((), given)
        arguments = {**dict(zip(names, given, strict=False)), **named}
        return call(*owner, spec.name, arguments)

    function.__name__ = function.__qualname__ = spec.name
    function.__doc__ = _words(spec)
    function.__annotations__ = {**{name: _type(schema) for name, schema in _schemas(spec).items()}, "return": str}
    function.__signature__ = _signature(spec, method)  # type: ignore[attr-defined]
    return function


def _signature(spec: ToolSpec, method: bool) -> inspect.Signature:
    required = set(spec.parameters.get("required", ()))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(
            name, kind, annotation=_type(schema), default=inspect.Parameter.empty if name in required else 1
        )
        for name, schema in _schemas(spec).items()
    ]
    own = [inspect.Parameter("self", kind)] if method else []
    return inspect.Signature([*own, *parameters], return_annotation=str)


def _schemas(spec: ToolSpec) -> Mapping[str, Mapping[str, Any]]:
    schemas: Mapping[str, Mapping[str, Any]] = spec.parameters["properties"]
    return schemas


def _type(schema: Mapping[str, Any]) -> Any:
    """The Python type; a union where a value may be of several."""
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    found: Any = _TYPES[names[0]]
    for name in names[1:]:
        found = found | _TYPES[name]
    return found


def _words(spec: ToolSpec) -> str:
    described = [f"    {name}: {schema['description']}" for name, schema in _schemas(spec).items()]
    arguments = ["", "Args:", *described] if described else []
    return "\n".join([spec.description, *arguments, "", "Returns:", "    The result, as text."])
