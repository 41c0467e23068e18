"""What an episode has seen: the values in the results of its tool calls.

Whole values are found, in every encoding of results: `abc` is not in `abcd`, and 3 is in `[3.0]`.
"""

import json
import re
from collections.abc import Collection, Hashable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from graphwalk.evaluation.values import normalise, readings
from graphwalk.types.episode import ToolResult, Trajectory

_TOKEN = re.compile(r"""[^\s,;:|"'`\[\]{}()<>=]+""")
_NOTE = "Note: "
"""What such lines begin with, in every encoding of results."""


class Evidence:
    """A text, or several, in which values are looked up."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts)

    @cached_property
    def words(self) -> frozenset[str]:
        """Everything between delimiters; a value without delimiters in it is one word."""
        found = set(_TOKEN.findall(self._text))
        return frozenset(found | {token.rstrip(".-!?*_").lstrip("*_") for token in found})  # `**f7**.` names f7

    @cached_property
    def tokens(self) -> frozenset[Hashable]:
        """The words, with numbers and booleans as values: 3 and 3.0 are one."""
        return frozenset(map(_token, self.words))

    def holds(self, value: Any) -> bool:
        """True if the value stands in the text as a whole."""
        if not isinstance(value, str):
            return normalise(value) in self.tokens
        forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]} if value else {value}
        return not self.words.isdisjoint(forms) or any(map(self._holds_phrase, filter(None, forms)))

    def _holds_phrase(self, phrase: str) -> bool:
        """For values with delimiters in them: found where no word goes on at either end."""
        words = _TOKEN.findall(phrase)
        if words == [phrase] or not self.words.issuperset(words):
            return False
        start = self._text.find(phrase)
        while start >= 0:
            if not self._word_goes_on(start, start + len(phrase)):
                return True
            start = self._text.find(phrase, start + 1)
        return False

    def _word_goes_on(self, start: int, end: int) -> bool:
        before, first = self._text[start - 1 : start], self._text[start]
        last, after = self._text[end - 1], self._text[end : end + 1]
        return (before.isalnum() and first.isalnum()) or (last.isalnum() and after.isalnum())


@lru_cache(maxsize=1 << 16)
def _token(word: str) -> Hashable:
    """Remembered: episodes about one graph share most of their words, and a schema is read with every prompt."""
    *_, value = readings(word)
    return normalise(value)


def tool_evidence(trajectory: Trajectory) -> Evidence:
    """What the tools have shown."""
    return Evidence(data_of(result) for result in trajectory.results if shows_data(result))


def data_of(result: ToolResult) -> str:
    """The content without the notes above its rows: they repeat arguments, and count rows and pages."""
    text = result.content
    while text.startswith(_NOTE):
        text = text.partition("\n")[2]
    return text


def shows_data(result: ToolResult) -> bool:
    """False for mistakes, empty results and notes: their texts repeat the words of the model."""
    return result.error is None and bool(result.rows)


def holds_row(row: Mapping[str, Any], fields: Collection[str], evidence: Evidence) -> bool:
    """True if the row has a value in one of the fields, and all of its values there stand in the text."""
    values = [row[field] for field in fields if row.get(field) is not None]
    return bool(values) and all(map(evidence.holds, values))
