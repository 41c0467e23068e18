"""Values in the text of tool results, and calls that added nothing.

Values match as a whole, in every result encoding: `abc` is not in `abcd`, and 3 is in `[3.0]`.
"""

import json
import re
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property, lru_cache
from typing import Any

from graphwalk.graphs.answers import normalise, parse_answer_json, value_forms
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import INTERNAL, ToolResult, Trajectory
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
        # `**f7**.` names f7.
        bare_words = {word.rstrip(".-!?*_").lstrip("*_") for word in words}
        return frozenset(words | bare_words)

    @cached_property
    def tokens(self) -> frozenset[Hashable]:
        """The words, with numbers and booleans as values: 3 and 3.0 are one."""
        return frozenset(_token(word) for word in self.words)

    def holds(self, value: Any) -> bool:
        """Return True if the text contains the value as a whole."""
        if not isinstance(value, str):
            return normalise(value) in self.tokens

        # A line break is \n in JSON, and é may be \u00e9.
        spellings = {value}
        if value:
            spellings.add(json.dumps(value)[1:-1])
            spellings.add(json.dumps(value, ensure_ascii=False)[1:-1])
        if not self.words.isdisjoint(spellings):
            return True
        return any(self._holds_phrase(spelling) for spelling in spellings if spelling)

    def _holds_phrase(self, phrase: str) -> bool:
        """Find a value with delimiters in it, not adjacent to word characters: "Red Dust" is not in "Red Dusty"."""
        words = _TOKEN.findall(phrase)
        has_delimiters = words != [phrase]
        if not has_delimiters:
            return False  # it is one word, which `words` would have
        if not self.words.issuperset(words):
            return False  # a quick test: most values are not in most texts

        start = self._text.find(phrase)
        while start >= 0:
            end = start + len(phrase)
            before = self._text[start - 1 : start]
            after = self._text[end : end + 1]
            begins_within_a_word = before.isalnum() and phrase[0].isalnum()
            ends_within_a_word = phrase[-1].isalnum() and after.isalnum()
            if not begins_within_a_word and not ends_within_a_word:
                return True
            start = self._text.find(phrase, start + 1)
        return False


@lru_cache(maxsize=1 << 16)
def _token(word: str) -> Hashable:
    """Return the value of a word. Cached, since episodes on a graph share most results."""
    *_, value = value_forms(word)  # of "3", the forms "3" and 3; of "f7", "f7" alone
    return normalise(value)


def tool_evidence(trajectory: Trajectory) -> Evidence:
    """Return the data in the results that the model had read, without notes, which repeat arguments and count rows."""
    return Evidence(_data_of(result) for result in trajectory.results_read if shows_data(result))


def _data_of(result: ToolResult) -> str:
    _, data = split_notes(result.content)
    return data


def found_values(results: Iterable[ToolResult]) -> Callable[..., bool]:
    """Return a function of the spellings of a value: True if a result shows one of them, and its call has none.

    A model that guesses the title Red Dust and looks it up gets a result with this title, but has found nothing.
    """
    calls = []
    for result in results:
        if shows_data(result):
            asked = Evidence([result.call.arguments])
            answered = Evidence([_data_of(result)])
            calls.append((asked, answered))

    def is_found(*spellings: Any) -> bool:
        for asked, answered in calls:
            is_shown = any(answered.holds(spelling) for spelling in spellings)
            if is_shown and not any(asked.holds(spelling) for spelling in spellings):
                return True
        return False

    return is_found


def shows_data(result: ToolResult) -> bool:
    """Return False for errors, empty results and notes, which repeat words of the model."""
    return result.error is None and bool(result.rows)


def wasted_calls(trajectory: Trajectory) -> tuple[int, int]:
    """Return how many calls were identical to an earlier one, and how many were refused as a mistake."""
    results = trajectory.results
    different = {call_signature(result.call) for result in results}
    repeated = len(results) - len(different)
    refused = sum(result.error not in (None, INTERNAL) for result in results)
    return repeated, refused


def call_signature(call: ToolCall) -> tuple[str, str]:
    """Return name and arguments; whitespace and the order of arguments are ignored."""
    arguments = parse_answer_json(call.arguments)
    if arguments is None:
        return call.name, call.arguments
    return call.name, json.dumps(arguments, sort_keys=True)
