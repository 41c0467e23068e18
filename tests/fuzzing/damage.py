"""Damaging files and JSON values in ways that readers have to expect."""

import random
from typing import Any

PIECES = [b"", b"\x00", b"\xff", b'"', b"'", b"`", b"{", b"[", b"<", b"&a;", b"\\", b"\n", b",", b":", b"- ", b"? "]
PIECES += [b"1e999", b"9" * 5000, b"null", b"$date", b"gw_", b"[" * 2000, b"\xe2\x80\xae", b"\x1b[2J"]
PIECES += [b"!!python/object:os.system ", b"*a"]
VALUES: list[Any] = [None, True, -1, 10**30, 1.5, float("nan"), "", "x" * 5000, "\x1b[2J", "gw_0", "\ud800"]
VALUES += [[], [[]], {}, {"a": 1}]


def damaged(text: bytes, draw: random.Random) -> bytes:
    """The file with up to three cuts, doublings or insertions."""
    for _ in range(draw.randint(1, 3)):
        start = draw.randrange(len(text) + 1)
        end = min(len(text), start + draw.choice([0, 1, 5, 200]))
        piece = draw.choice([*PIECES, text[start:end] * 2, text[:20]])
        text = text[:start] + piece + (b"" if draw.random() < 0.1 else text[end:])
    return text


def altered(value: Any, draw: random.Random) -> Any:
    """The JSON value with one part of it, at whatever depth, gone or replaced."""
    if not isinstance(value, dict | list) or not value or draw.random() < 0.1:
        return draw.choice(VALUES)
    key = draw.choice(list(value) if isinstance(value, dict) else range(len(value)))
    copy = value.copy()
    if draw.random() < 0.2:
        del copy[key]
    else:
        copy[key] = altered(value[key], draw)
    return copy
