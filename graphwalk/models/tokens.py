"""Estimate tokens by a rule that is the same for all models, and needs no tokenizer.

The rule counts pieces that tokenizers keep together. Its weights are a least-squares fit to OpenAI's `o200k_base` over
the texts of this project.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from graphwalk.models.chat import Message, ToolSpec

RULE_ERROR = 0.2
"""Largest relative error of the rule on any kind of text that was measured."""
MESSAGE_TOKENS = 4
"""Tokens of the chat format per message: role, begin and end."""
CALL_TOKENS = 6
"""Tokens of the chat format per tool call."""

_WORD = re.compile(r"[A-Z]{2,}|[A-Z]?[a-z]+|[A-Z]")
_DIGITS = re.compile(r"\d{1,3}")
_SIGN = re.compile(r"[^\w\s\x00-\x7f]")
_SPACE_BEFORE_NUMBER = re.compile(r" (?=\d)")
_ONLY_LETTERS = re.sub(rb"[^A-Za-z]", b" ", bytes(range(256)))
_ONLY_DIGITS = re.sub(rb"[^0-9]", b" ", bytes(range(256)))
_ASCII_SIGNS = re.sub(rb"[A-Za-z0-9\s\x1c-\x1f]", b"", bytes(range(128)))
"""Tables of `bytes.translate`, which is far faster than a pattern."""
_KEYWORDS = frozenset((
    "AND", "AS", "ASC", "BY", "CALL", "CREATE", "DESC", "DISTINCT", "EXISTS", "IN", "IS", "LIMIT", "MATCH", "MERGE",
    "NOT", "NULL", "OPTIONAL", "OR", "ORDER", "RETURN", "SET", "SKIP", "UNION", "UNWIND", "WHERE", "WITH",
))  # fmt: skip
"""Capitals that are one token: Cypher's keywords. Other names in capitals are random here."""
_SYLLABLE = 4
"""Words of this length are mostly one token."""


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text; off by at most `RULE_ERROR` on texts like ours."""
    if not text:
        return 0
    ascii_text = text.encode("ascii", "replace")  # a question mark for each other character
    words = Counter(ascii_text.translate(_ONLY_LETTERS).split())
    hundredths = sum(count * _hundredths_of(letters) for letters, count in words.items())
    hundredths += 41 * (len(ascii_text) - len(ascii_text.translate(None, _ASCII_SIGNS)))
    hundredths += 125 * (text.count("\n") + len(_SPACE_BEFORE_NUMBER.findall(text)))
    if text.isascii():
        lengths = Counter(map(len, ascii_text.translate(_ONLY_DIGITS).split()))
        hundredths += 190 * sum(count * ((length + 2) // 3) for length, count in lengths.items())
    else:
        others = sum(character > "\x7f" for character in text)
        hundredths += 190 * len(_DIGITS.findall(text)) + 41 * len(_SIGN.findall(text)) + (100 - 41) * others
    return max(1, round(hundredths / 100))


@lru_cache(1 << 16)
def _hundredths_of(letters: bytes) -> int:
    """Return the hundredths of a token of a run of letters, which may be several words in camel case."""
    total = 0
    for word in _WORD.findall(letters.decode()):
        if word in _KEYWORDS:
            total += 100
        elif word[0] >= "a":
            total += 73 + 34 * max(0, len(word) - _SYLLABLE)
        elif len(word) > 1 and word.isupper():
            total += 105 * len(word)
        else:
            total += 180
    return total


def count_messages(messages: Iterable[Message]) -> int:
    """Count the tokens of messages, with those of the chat format."""
    total = 0
    for message in messages:
        text = message.content or ""
        for call in message.tool_calls:
            text += call.name + call.arguments
        total += count_tokens(text) + MESSAGE_TOKENS + CALL_TOKENS * len(message.tool_calls)
    return total


def tools_text(tools: Sequence[ToolSpec]) -> str:
    """Return tool specifications as they are sent, "" without tools."""
    if not tools:
        return ""
    return json.dumps([tool.as_openai() for tool in tools], separators=(",", ":"))
