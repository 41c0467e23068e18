"""A Cypher script taken apart: statements, with their lines, and the commands of Neo4j's shell between them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<text>'(?:[^'\\]|\\.)*(?:'|\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\Z)|`(?:[^`]|``)*(?:`|\Z))"
    r"|(?P<end>;)|(?P<line>\n)|(?P<other>[^'\"`;/\n]+|/)",
    re.DOTALL,
)
_SKIPPED = (":begin", ":commit", ":rollback", ":auto", ":use", ":schema")


@dataclass(frozen=True, slots=True)
class Statement:
    """`line` is where it begins, counted from 1. "param": `text` is what follows `:param`."""

    kind: Literal["cypher", "param"]
    text: str
    line: int


def statements(script: str) -> Iterator[Statement]:
    """All statements in order, without comments. ValueError, with the line, for a shell command that is not known."""
    parts: list[str] = []
    begins = line = 1
    for match in _TOKEN.finditer(script):
        kind, text = match.lastgroup, match[0]
        if kind == "end" or (kind == "line" and parts and parts[0].startswith(":")):
            yield from _statement("".join(parts).strip(), begins)
            parts = []
        elif kind == "comment":
            parts += [" "] if parts else []
        elif parts or text.strip():
            begins = begins if parts else line
            parts.append(text if parts else text.lstrip())
        line += text.count("\n")
    yield from _statement("".join(parts).strip(), begins)


def _statement(text: str, line: int) -> Iterator[Statement]:
    if not text.startswith(":"):
        if text:
            yield Statement("cypher", text, line)
        return
    command, _, rest = text.partition(" ")
    if command in (":param", ":params"):
        yield Statement("param", rest.strip(), line)
    elif command == ":auto" and rest.strip():
        yield Statement("cypher", rest.strip(), line)
    elif command not in _SKIPPED:
        raise ValueError(f"line {line}: the shell's command {command} is not known here")
