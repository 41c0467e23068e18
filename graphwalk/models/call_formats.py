"""Calls as model families write them in text, other than as JSON objects: with tags, or as Python."""

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

Tools = Mapping[str, Collection[str]]
"""Tool → its parameters: their names, or their JSON schemas by name."""
_LONGEST, _MOST_TRIED = 2_000, 200
"""Characters of a call as Python or in tags, and beginnings and ends of calls as Python that are tried: hostile text
takes long."""
_BODY = f"(.{{0,{_LONGEST}}}?)"
PREFIX = re.compile(
    r"\[TOOL_CALLS\]\s*([\w.-]+)(?:\[CALL_ID\]\w*)?(?:\[ARGS\])?\s*\Z"  # Mistral
    r"|(?:function<｜tool▁sep｜>|<｜tool▁call▁begin｜>)([\w.-]+)(?:<｜tool▁sep｜>|\n```(?:json)?)\s*\Z"  # DeepSeek
    r"|(?:\A|\n|<\|assistant\|>)([\w.-]+)\n\Z"  # GLM-4
)
"""The name of a tool before its arguments as a JSON object."""
_TAGGED = re.compile(
    rf"<function=([\w.-]+)>{_BODY}</function>"  # Qwen3-Coder
    rf"|<tool_call>\s*([\w.-]+)\s*(?=<){_BODY}</tool_call>"  # GLM-4.5
    rf'|<(?:｜DSML｜)?invoke name="([\w.-]+)">{_BODY}</(?:｜DSML｜)?invoke>',  # DeepSeek V3.2
    re.DOTALL,
)
_ARGUMENT = re.compile(
    r"<parameter=([\w.-]+)>(.*?)</parameter>"
    r"|<arg_key>([^<]*)</arg_key>\s*<arg_value>(.*?)</arg_value>"
    r'|<(?:｜DSML｜)?parameter name="([\w.-]+)"[^>]*>(.*?)</(?:｜DSML｜)?parameter>',
    re.DOTALL,
)
_GEMMA = re.compile(
    rf"(?:<start_function_call>|<\|tool_call>)\s*call:([\w.-]+)\{{{_BODY}\}}(?:<end_function_call>|<tool_call\|>)",
    re.DOTALL,
)
_QUOTE = re.compile(r'<escape>|<\|"\|>')
_KEY = re.compile(r"([\w.-]+):")
_PYTHON = re.compile(r"(?:^|<\|[a-z_]+\|>)[ \t]*(\[\s*)?([A-Za-z_]\w*)\(", re.MULTILINE)
_CLOSING = re.compile(r"[)\]]")
_AFTER = re.compile(r"[ \t]*(?:<\|[a-z_]+\|>|[;,]?[ \t]*(?:```)?[ \t]*(?:\n|\Z))")
"""A tag or the end of the line, after a call."""


class CallSpan(NamedTuple):
    """Calls, each name and arguments, and their place in a text."""

    start: int
    end: int
    calls: list[tuple[str, str]]


def tagged_calls(text: str, begin: int, tools: Tools) -> Iterator[CallSpan]:
    """Yield the calls of known tools whose arguments are in tags of their own."""
    for match in _TAGGED.finditer(text, begin):
        name, body = [part for part in match.groups() if part is not None]
        if name not in tools or _ARGUMENT.sub("", body).strip():
            continue
        pairs = [[part for part in found.groups() if part is not None] for found in _ARGUMENT.finditer(body)]
        arguments = {key.strip(): _typed(value, tools[name], key.strip()) for key, value in pairs}
        yield CallSpan(match.start(), match.end(), [(name, json.dumps(arguments))])
    for match in _GEMMA.finditer(text, begin):
        parts = _QUOTE.split(match[2])  # every second one is a text
        written = [json.dumps(part) if n % 2 else _KEY.sub(r'"\1":', part) for n, part in enumerate(parts)]
        with suppress(ValueError, RecursionError):
            arguments = json.loads(f"{{{''.join(written)}}}")
            yield CallSpan(match.start(), match.end(), [(match[1], json.dumps(arguments))])


def _typed(text: str, parameters: Collection[str], name: str) -> Any:
    """Return a value in tags: text if the parameter takes text alone, or if it is no JSON."""
    text = text.removeprefix("\n").removesuffix("\n")
    schema = parameters.get(name, {}) if isinstance(parameters, Mapping) else {}
    if schema.get("type") != "string":
        with suppress(ValueError, RecursionError):
            return json.loads(text)
    return text


def python_calls(text: str, begin: int, tools: Tools) -> Iterator[CallSpan]:
    """Yield calls like `[look(key="a"), look(key="b")]`, each on lines of its own. Only literals are arguments."""
    position = begin
    for _ in range(_MOST_TRIED):
        if (match := _PYTHON.search(text, position)) is None:
            return
        position = match.end()
        start = match.start(1) if match[1] else match.start(2)
        if match[2] in tools and (span := _python_call(text, start, tools)) is not None:
            yield span
            position = span.end


def _python_call(text: str, start: int, tools: Tools) -> CallSpan | None:
    for closing in islice(_CLOSING.finditer(text, start, start + _LONGEST), _MOST_TRIED):
        end = closing.end()
        if (text[start] == "[") != (closing[0] == "]") or not _AFTER.match(text, end):
            continue
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
            node = ast.parse(text[start:end], mode="eval").body
            calls = [_of_node(one, tools) for one in (node.elts if isinstance(node, ast.List) else [node])]
            return CallSpan(start, end, calls)
    return None


def _of_node(node: ast.expr, tools: Tools) -> tuple[str, str]:
    """Return a call. Raise ValueError for an expression that is not a call of a known tool with literals."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in tools:
        raise ValueError("no call of a tool")
    values = dict(zip(tools[node.func.id], map(ast.literal_eval, node.args), strict=False))
    if len(values) < len(node.args) or not all(keyword.arg for keyword in node.keywords):
        raise ValueError("arguments without names")
    values |= {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return node.func.id, json.dumps(values)
