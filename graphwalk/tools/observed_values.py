"""Values observed in tool results, and wasted calls (docs/method.md, Scores).

Values match as a whole, in every result encoding: `abc` is not in `abcd`, and 3 is in `[3.0]`.
"""

import json
import re
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property, lru_cache
from typing import Any

from graphwalk.graphs.answers import normalise, parse_json, value_forms
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult, Trajectory
from graphwalk.tools.encodings import split_notes

_TOKEN = re.compile(r"""[^\s,;:|"'`\[\]{}()<>=]+""")


class Evidence:
    """A text, or several, in which values are looked up."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts)

    @cached_property
    def words(self) -> frozenset[str]:
        """Everything between delimiters; a value without delimiters in it is one word."""
        words = set(_TOKEN.findall(self._text))
        return frozenset(words | {token.rstrip(".-!?*_").lstrip("*_") for token in words})  # `**f7**.` names f7

    @cached_property
    def tokens(self) -> frozenset[Hashable]:
        """The words, with numbers and booleans as values: 3 and 3.0 are one."""
        return frozenset(map(_token, self.words))

    def holds(self, value: Any) -> bool:
        """Return True if the text contains the value as a whole."""
        if not isinstance(value, str):
            return normalise(value) in self.tokens
        forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]} if value else {value}
        return not self.words.isdisjoint(forms) or any(map(self._holds_phrase, filter(None, forms)))

    def _holds_phrase(self, phrase: str) -> bool:
        """Find a value with delimiters in it, not adjacent to word characters."""
        words = _TOKEN.findall(phrase)
        if words == [phrase] or not self.words.issuperset(words):
            return False
        start = self._text.find(phrase)
        while start >= 0:
            before, after = self._text[start - 1 : start], self._text[start + len(phrase) : start + len(phrase) + 1]
            joined = (before.isalnum() and phrase[0].isalnum()) or (phrase[-1].isalnum() and after.isalnum())
            if not joined:
                return True
            start = self._text.find(phrase, start + 1)
        return False


@lru_cache(maxsize=1 << 16)
def _token(word: str) -> Hashable:
    """Return the value of a word. Cached, since episodes on a graph share most results."""
    *_, value = value_forms(word)
    return normalise(value)


def tool_evidence(trajectory: Trajectory) -> Evidence:
    """Return the data in all tool results, without their notes, which repeat arguments and count rows and pages."""
    return Evidence(split_notes(result.content)[1] for result in trajectory.results if shows_data(result))


def found_values(results: Iterable[ToolResult]) -> Callable[..., bool]:
    """Return a function that is True if a result shows a value, in one of several spellings, that its call lacks.

    A call about a guess shows the guess again, which finds nothing.
    """
    shown = filter(shows_data, results)
    pairs = [(Evidence([result.call.arguments]), Evidence([split_notes(result.content)[1]])) for result in shown]
    return lambda *forms: any(
        any(map(content.holds, forms)) and not any(map(arguments.holds, forms)) for arguments, content in pairs
    )


def shows_data(result: ToolResult) -> bool:
    """Return False for errors, empty results and notes, which repeat words of the model."""
    return result.error is None and bool(result.rows)


def wasted_calls(trajectory: Trajectory) -> tuple[int, int]:
    """Return how many calls were identical to an earlier one, and how many were refused."""
    results = trajectory.results
    repeated = len(results) - len({call_signature(result.call) for result in results})
    return repeated, sum(result.error is not None for result in results)


def call_signature(call: ToolCall) -> tuple[str, str]:
    """Return name and arguments; whitespace and the order of arguments are ignored."""
    arguments = parse_json(call.arguments)
    return call.name, call.arguments if arguments is None else json.dumps(arguments, sort_keys=True)
