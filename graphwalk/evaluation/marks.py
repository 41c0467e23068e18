r"""Answers that are no JSON, and marked as answers all the same: tables, labelled lines, `\boxed{…}`, bare bullets.

Only what is unambiguous counts. The header of a table and the label of a line must be the names of the asked fields,
letter by letter. A bare word or number counts where the reply is nothing else. "The answer is 12." is left to stage 2.
"""

import re
from collections.abc import Iterator, Sequence

from graphwalk.evaluation.values import parse_answer
from graphwalk.types.values import Row

Marked = tuple[list[Row], bool]
"""Rows, and whether the text holds more that could not be read."""

_NUMBER = r"-?\d+(?:\.\d+)?"
_VALUE = re.compile(rf"""[*`$\s]*+(?:(?P<number>{_NUMBER})|"(?P<text>[^"\n]+)"|(?P<word>[\w:.-]*\w))[*`$\s.,;]*+""")
_CODE = re.compile(r"`{1,2}([\w:.-]+)`{1,2}\.?|```\w*\n\s*+([\w:.-]+)\s*+```")
_RULE = re.compile(r"[\s|:-]+")
_BOXED = re.compile(r"\\boxed\{(?:\\(?:text|mathrm|mathbf)\w{0,4}\{)?([^{}\n]{0,200})\}")
_BULLET = re.compile(r"[ \t>]*(?:[-*•+–]|\(?\d{1,6}[.)])[ \t]+(?P<item>\S.*)")
_DECORATION = " \t*_`\"'"
_NOTHING = frozenset({"null", "none", "unknown", "nan", "undefined"})
_ELLIPSES = frozenset({"", "...", "…", "⋮"})


def table_rows(text: str, fields: Sequence[str]) -> Marked | None:
    """The rows of the last Markdown table whose header names all fields."""
    lines = text.splitlines()
    tables, read_until = list[Marked](), 0
    for number in range(1, len(lines)):
        if number > read_until and _is_rule(lines[number]) and "|" in lines[number - 1]:
            header = _cells(lines[number - 1])
            if set(fields) <= set(header):
                below, read_until = _below(header, lines, number + 1, fields)
                tables += [below] if below else []
    if not tables:
        return None
    rows, lossy = tables[-1]
    last = {repr(row) for row in rows}
    return rows, lossy or any(repr(row) not in last for earlier, _ in tables for row in earlier)


def _is_rule(line: str) -> bool:
    """True for what stands below the header of a table."""
    return "|" in line and "-" in line and _RULE.fullmatch(line) is not None


def _below(header: list[str], lines: list[str], number: int, fields: Sequence[str]) -> tuple[Marked | None, int]:
    """The rows of a table from a line on, and the line after the last."""
    rows, lossy = list[Row](), False
    while number < len(lines) and "|" in lines[number]:
        line = lines[number].strip()
        row = dict(zip(header, _cells(line), strict=False))
        whole = all(row.get(field, "") not in _ELLIPSES for field in fields)
        rows += [row] if whole else []
        lossy |= not whole or (line.startswith("|") and not line.endswith("|"))
        number += 1
    return ((rows, lossy) if rows else None), number


def _cells(line: str) -> list[str]:
    return [cell.strip(_DECORATION) for cell in line.strip().strip("|").split("|")]


def labelled_rows(text: str, fields: Sequence[str]) -> Marked | None:
    """Lines `field: value`; in the last block of such lines a field that comes again begins a new row."""
    blocks = list(_blocks(text, fields))
    if not blocks:
        return None
    last = {repr(row) for row in blocks[-1]}
    others = any(repr(row) not in last for block in blocks for row in block)
    return blocks[-1], others or any(set(row) != set(fields) for row in blocks[-1])


def _blocks(text: str, fields: Sequence[str]) -> Iterator[list[Row]]:
    """The rows of each run of lines that are all labelled."""
    names = "|".join(re.escape(field) for field in fields)
    label = re.compile(rf"[\s>*`\"•+–-]*+(?:\d{{1,6}}[.)][\s*`\"]++)?({names})[*`\"]*\s*[:=](.*)")
    block: list[Row] = []
    for line in filter(str.strip, text.splitlines()):
        match = label.fullmatch(line)
        value = _value(match[2]) if match else None
        if match is not None and value is not None:
            if not block or match[1] in block[-1]:
                block.append({})
            block[-1][match[1]] = value
        elif block:
            yield block
            block = []
    if block:
        yield block


def boxed_row(text: str, fields: Sequence[str]) -> Marked | None:
    r"""The value of the last `\boxed{…}`, for a single field."""
    values = [value for match in _BOXED.finditer(text) if (value := _value(match[1])) is not None]
    if len(fields) != 1 or not values:
        return None
    return [{fields[0]: values[-1]}], any(value != values[-1] for value in values)


def whole_value(text: str, fields: Sequence[str]) -> Marked | None:
    """A number, or a word or text marked as code or quoted, that is the whole reply; or nothing but bullets of them."""
    if len(fields) != 1:
        return None
    value = _alone(text)
    values = list(_bullets(text)) if value is None else [value]
    return ([{fields[0]: value} for value in values], False) if values and None not in values else None


def _alone(text: str) -> str | float | None:
    code = _CODE.fullmatch(text)
    match = _VALUE.fullmatch(code[1] or code[2] if code else text)
    return _matched(match) if match and (code or not match["word"]) else None


def _bullets(text: str) -> Iterator[str | float | None]:
    for line in text.splitlines():
        if line.strip():
            bullet = _BULLET.fullmatch(line)
            yield _value(bullet["item"]) if bullet else None


def _value(text: str) -> str | float | None:
    """The one number, word or quoted text of a text; None where it holds more, or nothing."""
    match = _VALUE.fullmatch(text)
    return None if match is None or (match["word"] or "").lower() in _NOTHING else _matched(match)


def _matched(match: re.Match[str]) -> str | float | None:
    if match["number"]:
        number: str | float | None = parse_answer(match["number"])
        return match["number"] if number is None else number
    return match["text"] or match["word"]
